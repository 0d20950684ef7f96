#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the functions of another MPI's binary interface, which call those of libweftmpi.

usage: generate_abi.py ABI LIST INCLUDE_DIR HEADER OUTPUT_DIR

ABI is mpich or openmpi, LIST functions.txt, INCLUDE_DIR the folder of weft's mpi.h, HEADER the
other MPI's mpi.h after the preprocessor (-E -dD). Writes to OUTPUT_DIR

  abi_values.h   constants, and conversions between weft's and those of the other MPI
  abi_weft.h     the functions of libweftmpi
  abi_calls.c    weft_ABI_MPI_x() for every function that both have
  abi_fortran.c  weft_ABI_mpi_x_(), likewise, as Fortran calls it
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bindings"))
import generate  # noqa: E402

HANDLES = {"MPI_Comm": "comm", "MPI_Datatype": "type", "MPI_Op": "op", "MPI_Request": "request",
           "MPI_Group": "group", "MPI_Info": "info", "MPI_Errhandler": "errhandler",
           "MPI_Win": "win", "MPI_Message": "message", "MPI_File": "file",
           "MPI_Session": "session"}
# The upper byte of weft's handles.
KINDS = {"comm": 0x41, "type": 0x42, "op": 0x43, "request": 0x44, "group": 0x45, "info": 0x46,
         "errhandler": 0x47, "win": 0x48, "message": 0x49, "file": 0x4a, "session": 0x4c}
# Predefined datatypes that weft does not have, and what they are there.
OTHER_TYPES = {"MPI_LOGICAL1": "MPI_INTEGER1", "MPI_LOGICAL2": "MPI_INTEGER2",
               "MPI_LOGICAL4": "MPI_LOGICAL", "MPI_LOGICAL8": "MPI_INTEGER8",
               "MPI_CXX_COMPLEX": "MPI_CXX_FLOAT_COMPLEX", "MPI_2COMPLEX": "MPI_DATATYPE_NULL",
               "MPI_2DOUBLE_COMPLEX": "MPI_DATATYPE_NULL"}

# Groups of constants: which of them begin how.
CONSTANTS = {
    "code": r"MPI_ERR_\w+",
    "rank": r"MPI_(PROC_NULL|ANY_SOURCE|ROOT)",
    "keyval": r"MPI_(KEYVAL_INVALID|TAG_UB|HOST|IO|WTIME_IS_GLOBAL|UNIVERSE_SIZE|LASTUSEDCODE"
              r"|APPNUM|WIN_BASE|WIN_SIZE|WIN_DISP_UNIT|WIN_CREATE_FLAVOR|WIN_MODEL)",
    "flavor": r"MPI_WIN_FLAVOR_\w+",
    "model": r"MPI_WIN_(SEPARATE|UNIFIED)",
    "split": r"MPI_COMM_TYPE_\w+",
    "topology": r"MPI_(CART|GRAPH|DIST_GRAPH)",
    "order": r"MPI_ORDER_\w+",
    "distribution": r"MPI_DISTRIBUTE_(BLOCK|CYCLIC|NONE)",
    "darg": r"MPI_DISTRIBUTE_DFLT_DARG",
    "combiner": r"MPI_COMBINER_\w+(?<!VECTOR_INTEGER)(?<!INDEXED_INTEGER)(?<!STRUCT_INTEGER)",
    "typeclass": r"MPI_TYPECLASS_\w+",
    "lock": r"MPI_LOCK_\w+",
    "whence": r"MPI_SEEK_\w+",
    "compare": r"MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)",
}
BITS = {"assert": r"MPI_MODE_NO\w+",
        "amode": r"MPI_MODE_(CREATE|RDONLY|WRONLY|RDWR|DELETE_ON_CLOSE|UNIQUE_OPEN|EXCL|APPEND"
                 r"|SEQUENTIAL)"}

# Which constants a parameter has: by its name, or by function and name.
MEANING = {
    "dest": "rank", "source": "rank", "root": "rank", "rank": "rank", "target_rank": "rank",
    "local_leader": "rank", "remote_leader": "rank", "ranks1": "rank", "ranks2": "rank",
    "keyval": "keyval", "split_type": "split", "order": "order", "distribs": "distribution",
    "dargs": "darg", "combiner": "combiner", "typeclass": "typeclass", "lock_type": "lock",
    "whence": "whence", "result": "compare", "assertion": "assert", "amode": "amode",
    "errorcode": "code", "errorclass": "code",
    "Topo_test.status": "topology", "Abort.errorcode": None, "Comm_rank.rank": None,
    "Group_rank.rank": None, "Type_create_darray.rank": None,
}
# Lists, and the number of their entries.
LENGTHS = {"requests": "count", "statuses": "count", "types": "count", "infos": "count",
           "datatypes": "max_datatypes", "ranks1": "n", "ranks2": "n", "distribs": "ndims",
           "dargs": "ndims", "Waitsome.requests": "incount", "Testsome.requests": "incount",
           "Waitsome.statuses": "incount", "Testsome.statuses": "incount"}
# Handles that these functions read and write.
IN_OUT = {"Wait", "Waitany", "Waitall", "Waitsome", "Test", "Testany", "Testall", "Testsome", "Start",
          "Startall", "Cancel", "Request_free", "Comm_free", "Comm_disconnect", "Type_commit",
          "Type_free", "Op_free", "Group_free", "Info_free", "Errhandler_free", "Win_free",
          "File_close", "Session_finalize", "Comm_free_keyval", "Type_free_keyval",
          "Win_free_keyval", "Keyval_free", "Status_set_cancelled", "Status_set_elements",
          "Status_set_elements_c", "Status_set_elements_x"}
IN_OUT_PARAMETERS = {"Mrecv.message", "Imrecv.message"}
PLACES = generate.PLACES
WEIGHTS = generate.WEIGHTS
# In by_hand.c: they have functions of the program as arguments, or differ in other ways.
BY_HAND = {"Op_create", "Comm_create_keyval", "Type_create_keyval", "Win_create_keyval",
           "Keyval_create", "Comm_create_errhandler", "Win_create_errhandler",
           "File_create_errhandler", "Errhandler_create", "Grequest_start", "Comm_get_attr",
           "Type_get_attr", "Win_get_attr", "Attr_get", "Status_f2c", "Status_c2f", "Pcontrol",
           "Get_library_version", "Comm_idup", "Comm_idup_with_info"}
# Not there: functions with large counts and the program's functions, the tool interface,
# statuses of mpi_f08.
LEFT_OUT = re.compile(r"T_|Register_datarep|Op_create_c|Session_create_errhandler|Status_.*f08")


class Abi:
    def __init__(self, name, include, header):
        self.name = name
        self.header = header
        self.values = dict(generate.fortran_constants(include))
        self.words = set(re.findall(r"\bMPI_\w+\b", header))

    def has(self, name):
        return name in self.words

    def constants(self, pattern):
        for name in self.values:
            if re.fullmatch(pattern, name) and self.has(name):
                yield name

    def objects(self, kind):
        """Names of predefined objects of this kind and weft's handles."""
        for name, value in self.values.items():
            if int(value) >> 24 == KINDS[kind] and re.match(r"MPI_[A-Z0-9]", name):
                yield name, int(value)

    def fortran_handles(self):
        """Open MPI's handles in Fortran are small numbers, which a header beside mpi.h lists."""
        beside = re.search(r'^# 1 "(.*/)mpi\.h"', self.header, re.M)[1]
        text = pathlib.Path(beside + "mpif-handles.h").read_text()
        return dict(re.findall(r"parameter \((MPI_\w+)=(\d+)\)", text))

    def symbols(self):
        """Open MPI's objects are variables: their names."""
        return dict(re.findall(r"#define (MPI_\w+)\s+OMPI_PREDEFINED_GLOBAL\( ?MPI_\w+, (\w+)\)",
                               self.header))


def conversion(name, pairs):
    """int to int, both ways: pairs of the other MPI's name and weft's value."""
    for way in ("in", "out"):
        yield f"static inline int wa_{name}_{way}(int value)\n{{"
        for theirs, ours in pairs:
            a, b = (theirs, ours) if way == "in" else (ours, theirs)
            yield f"    if (value == {a}) {{\n        return {b};\n    }}"
        yield "    return value;\n}"


def bits(name, pairs):
    for way in ("in", "out"):
        yield f"static inline int wa_{name}_{way}(int value)\n{{\n    int converted = 0;"
        for theirs, ours in pairs:
            a, b = (theirs, ours) if way == "in" else (ours, theirs)
            yield f"    converted |= value & {a} ? {b} : 0;"
        yield "    return converted;\n}"


def handles_mpich(abi):
    for kind in KINDS:
        given = [(name, value) for name, value in abi.objects(kind) if abi.has(name)]
        theirs = next(t for t, k in HANDLES.items() if k == kind)
        if not abi.has(theirs):
            continue
        cast = "(uintptr_t)" if kind == "file" else ""
        yield f"static inline int wa_{kind}_in({theirs} value)\n{{"
        for name, value in given:
            yield f"    if (value == {name}) {{\n        return {value};\n    }}"
        yield f"    return (int){cast}value;\n}}"
        yield f"static inline {theirs} wa_{kind}_out(int value)\n{{"
        for name, value in given:
            yield f"    if (value == {value}) {{\n        return {name};\n    }}"
        yield f"    return ({theirs}){cast}value;\n}}"


def handles_openmpi(abi):
    """A predefined object is a variable that contains weft's handle. Other handles are weft's."""
    yield "static inline int wa_handle_in(const void *handle)\n{"
    yield "    return (uintptr_t)handle >> 32 != 0 ? *(const int *)handle : (int)(uintptr_t)handle;\n}"
    symbols = abi.symbols()
    tables = {kind: {} for kind in KINDS}
    seen = {}
    for kind in KINDS:
        for name, value in abi.objects(kind):
            if name in symbols:
                tables[kind].setdefault(value & 255, symbols[name])
                seen.setdefault(symbols[name], value)
    for name, ours in OTHER_TYPES.items():
        if name in symbols:
            seen.setdefault(symbols[name], int(abi.values[ours]))
    yield "#ifdef WA_DEFINE_OBJECTS"
    for symbol, value in seen.items():
        yield f"struct wa_object weft_openmpi_{symbol} = {{.handle = {value}}};"
    yield "#else"
    for symbol in seen:
        yield f"extern struct wa_object weft_openmpi_{symbol};"
    yield "#endif"
    for kind in KINDS:
        theirs = next(t for t, k in HANDLES.items() if k == kind)
        if not abi.has(theirs):
            continue
        yield f"static inline int wa_{kind}_in({theirs} value)\n{{\n    return wa_handle_in(value);\n}}"
        yield f"static inline {theirs} wa_{kind}_out(int value)\n{{"
        yield "    static struct wa_object *const predefined[] = {"
        for place, symbol in sorted(tables[kind].items()):
            yield f"        [{place}] = &weft_openmpi_{symbol},"
        yield "    };"
        yield "    unsigned place = (unsigned)value & 0xffffff;"
        yield ("    return place < sizeof(predefined) / sizeof(predefined[0]) && "
               "predefined[place] != NULL\n"
               f"               ? ({theirs})predefined[place] : ({theirs})(uintptr_t)(unsigned)value;\n}}")


def fortran_openmpi(abi):
    numbers = abi.fortran_handles()
    for kind in KINDS:
        given = [(numbers[name], value) for name, value in abi.objects(kind) if name in numbers]
        if kind == "type":
            given += [(numbers[name], abi.values[ours]) for name, ours in OTHER_TYPES.items()
                      if name in numbers]
        for way, a, b in (("from", 0, 1), ("to", 1, 0)):
            yield f"static inline int wa_{kind}_{way}_fortran(int value)\n{{"
            for pair in given:
                yield f"    if (value == {pair[a]}) {{\n        return {pair[b]};\n    }}"
            yield "    return value;\n}"


def fortran_mpich(abi):
    for theirs, kind in HANDLES.items():
        if abi.has(theirs):
            cast = "(uintptr_t)(unsigned)" if kind == "file" else ""
            back = "(uintptr_t)" if kind == "file" else ""
            yield (f"static inline int wa_{kind}_from_fortran(int value)\n{{\n"
                   f"    return wa_{kind}_in(({theirs}){cast}value);\n}}")
            yield (f"static inline int wa_{kind}_to_fortran(int value)\n{{\n"
                   f"    return (int){back}wa_{kind}_out(value);\n}}")


def values(abi):
    yield "/* Generated by src/mpi/lib/abi/generate_abi.py. */"
    yield "#pragma once\n/* NOLINTBEGIN */"
    for name, value in abi.values.items():
        yield f"#define WEFT_{name} ({value})"
    for name, pattern in CONSTANTS.items():
        yield from conversion(name, [(n, f"WEFT_{n}") for n in abi.constants(pattern)])
    for name, pattern in BITS.items():
        yield from bits(name, [(n, f"WEFT_{n}") for n in abi.constants(pattern)])
    yield from (handles_openmpi if abi.name == "openmpi" else handles_mpich)(abi)
    yield from (fortran_openmpi if abi.name == "openmpi" else fortran_mpich)(abi)
    yield "/* NOLINTEND */"


class Call:
    """The translation of one function."""
    # In the translation of C: a communicator, whether a buffer is in place, the conversion of types, a
    # result, an element of an array of handles or integers, the address of statuses.
    COMM, IN_PLACE, TYPE_IN = "wa_comm_in(comm)", "wa_place_in(sendbuf) == WEFT_IN_PLACE", "wa_type_in"
    RESULT, ITEM, STATUS = "*{}", "{}[i]", "{}"

    def __init__(self, f):
        self.f = f
        self.before, self.after, self.arguments = [], [], []
        for p in f.parameters:
            self.arguments.append(self.argument(p))

    def key(self, table, name, default=None):
        return table.get(f"{self.f.base}.{name}", table.get(name, default))

    def length(self, name):
        return self.key(LENGTHS, name)

    def is_in_out(self, name):
        return self.f.base in IN_OUT or f"{self.f.base}.{name}" in IN_OUT_PARAMETERS

    def argument(self, p):
        plain = p.type.replace("const ", "").replace("*", "").strip()
        pointer = "*" in p.type
        if plain in HANDLES:
            kind = HANDLES[plain]
            if not pointer:
                return f"wa_{kind}_in({p.name})"
            if p.name in ("sendtypes", "recvtypes"):
                return self.peers(p)
            if self.length(p.name):
                return self.list(p, "int", f"wa_{kind}_in", f"wa_{kind}_out")
            return self.single(p, f"wa_{kind}_in", f"wa_{kind}_out", f"{KINDS[kind] << 24}")
        if plain == "MPI_Status":
            return self.status(p)
        meaning = self.key(MEANING, p.name)
        if meaning and plain == "int":
            if not pointer:
                return f"wa_{meaning}_in({p.name})"
            if self.length(p.name):
                return self.list(p, "int", f"wa_{meaning}_in", f"wa_{meaning}_out")
            return self.single(p, f"wa_{meaning}_in", f"wa_{meaning}_out", "0")
        if plain == "void" and p.name in PLACES:
            return f"wa_place_in({p.name})"
        if p.name in WEIGHTS:
            return f"wa_weights_in({p.name})"
        return f"(void *){p.name}" if pointer and "const" in p.type else p.name

    def single(self, p, read, write, null):
        first = f"{read}(*{p.name})" if self.is_in_out(p.name) else null
        self.before.append(f"int w_{p.name} = {first};")
        self.after.append(f"*{p.name} = {write}(w_{p.name});")
        return f"&w_{p.name}"

    def list(self, p, kind, read, write):
        n, item = self.length(p.name), self.ITEM.format(p.name)
        writes = "const" not in p.type
        self.before.append(f"WA_LIST({kind}, w_{p.name}, {n});")
        if not writes or self.is_in_out(p.name):
            self.before.append(f"WA_EACH({n}) {{ w_{p.name}[i] = {read}({item}); }}")
        if writes:
            self.after.append(f"WA_EACH({n}) {{ {item} = {write}(w_{p.name}[i]); }}")
        self.after.append(f"WA_FREE(w_{p.name});")
        return f"w_{p.name}"

    def peers(self, p):
        n, item = f"n_{p.name}", self.ITEM.format(p.name)
        self.before.append(f"int {n} = wa_peers({self.COMM}, {int('eighbor' in self.f.base)}, "
                           f"{int(p.name.startswith('send'))});")
        if p.name == "sendtypes":  # unused, and of any value, in place
            self.before.append(f"{n} = {self.IN_PLACE} ? 0 : {n};")
        self.before.append(f"WA_LIST(int, w_{p.name}, {n});")
        self.before.append(f"WA_EACH({n}) {{ w_{p.name}[i] = {self.TYPE_IN}({item}); }}")
        self.after.append(f"WA_FREE(w_{p.name});")
        return f"w_{p.name}"

    def status(self, p):
        n, at = self.length(p.name), self.STATUS.format(p.name)
        if n:
            done = self.RESULT.format("outcount") if self.f.base.endswith("some") else n
            self.before.append(f"WA_LIST(struct wa_status, w_{p.name}, wa_status_n({at}, {n}));")
            self.before.append(f"WA_EACH(wa_status_n({at}, {n})) "
                               f"{{ (void)wa_status_in(&{at}[i], &w_{p.name}[i]); }}")
            self.after.append(f"WA_EACH(wa_status_n({at}, {done})) "
                              f"{{ wa_status_out(&w_{p.name}[i], &{at}[i]); }}")
            self.after.append(f"WA_FREE(w_{p.name});")
            return self.given_statuses(p, n)
        self.before.append(f"struct wa_status w_{p.name};")
        self.before.append(f"void *at_{p.name} = wa_status_in({at}, &w_{p.name});")
        if "const" not in p.type:
            self.after.append(f"wa_status_out(at_{p.name}, {at});")
        return self.given_status(p)

    def given_statuses(self, p, n):
        return f"wa_status_n({p.name}, {n}) > 0 ? w_{p.name} : NULL"

    def given_status(self, p):
        return f"at_{p.name}"


class FortranCall(Call):
    """Likewise for Fortran: all arguments are addresses, and so are those of weft's function."""
    COMM = "wa_comm_from_fortran(*(int *)comm)"
    IN_PLACE, TYPE_IN = "wa_f_place(sendbuf) == &weft_mpi_in_place_", "wa_type_from_fortran"
    RESULT, ITEM, STATUS = "*(int *){}", "((int *){})[i]", "c_{}"

    def argument(self, p):
        plain = p.type.replace("const ", "").replace("*", "").strip()
        pointer = "*" in p.type
        if plain in HANDLES:
            kind = HANDLES[plain]
            return self.value(p, pointer, f"wa_{kind}_from_fortran", f"wa_{kind}_to_fortran",
                              f"{KINDS[kind] << 24}")
        if plain == "MPI_Status":
            return self.status(p)
        meaning = self.key(MEANING, p.name)
        if meaning and plain == "int":
            return self.value(p, pointer, f"wa_{meaning}_in", f"wa_{meaning}_out", "0")
        if plain == "void" and p.name in PLACES:
            return f"wa_f_place({p.name})"
        if p.name in WEIGHTS:
            return f"wa_f_weights({p.name})"
        return p.name

    def value(self, p, pointer, read, write, null):
        if p.name in ("sendtypes", "recvtypes"):
            return self.peers(p)
        if pointer and self.length(p.name):
            return self.list(p, "int", read, write)
        given = f"{read}(*(int *){p.name})"
        if pointer and not self.is_in_out(p.name):
            given = null
        self.before.append(f"int w_{p.name} = {given};")
        if pointer:
            self.after.append(f"*(int *){p.name} = {write}(w_{p.name});")
        return f"&w_{p.name}"

    def length(self, name):
        found = super().length(name)
        return self.RESULT.format(found) if found else None

    def status(self, p):
        self.before.append(f"MPI_Status *c_{p.name} = wa_f_status({p.name});")
        return super().status(p)

    def given_statuses(self, p, n):
        return (f"c_{p.name} != MPI_STATUS_IGNORE ? (void *)w_{p.name} "
                f": (void *)weft_mpi_statuses_ignore_")

    def given_status(self, p):
        return f"at_{p.name} != NULL ? at_{p.name} : (void *)weft_mpi_status_ignore_"


# Not generated for Fortran: by_hand_fortran.c has those that libraries use.
FORTRAN_BY_HAND = {"Op_create"} | generate.C_ONLY | (generate.BY_HAND - {
    "Address", "Type_extent", "Type_lb", "Type_ub", "Type_hvector", "Type_hindexed",
    "Type_struct", "Info_get", "Buffer_detach"})
FORTRAN_LEFT_OUT = re.compile(r"\w+_create_errhandler|Errhandler_create|Comm_idup|\w+_c$")


def fortran_calls(abi, functions):
    yield "/* Generated by src/mpi/lib/abi/generate_abi.py. */"
    yield '#include "mpi/lib/abi/abi_fortran.h"'
    for f in functions:
        if f.base in FORTRAN_BY_HAND or f.varies or FORTRAN_LEFT_OUT.match(f.name):
            continue
        translated = FortranCall(f)
        texts = [p.name for p in f.parameters if p.type in ("const char *", "char *")]
        parameters = [f"void *{p.name}" for p in f.parameters] + ["int *ierror"]
        parameters += [f"size_t {name}_length" for name in texts]
        types = ["void *"] * (len(f.parameters) + 1) + ["size_t"] * len(texts)
        arguments = translated.arguments + ["ierror"] + [f"{name}_length" for name in texts]
        name = f"mpi_{f.name.lower()}_"
        lines = [f"void {name}({', '.join(types)});",
                 f"void weft_{abi.name}_{name}({', '.join(parameters)})", "{"]
        lines += [f"    {line}" for line in translated.before]
        lines.append("    weft_mpi_called_from(__builtin_return_address(0));")
        lines.append(f"    {name}({', '.join(arguments)});")
        lines += [f"    {line}" for line in translated.after]
        lines.append("    *ierror = wa_code_out(*ierror);")
        lines.append("}")
        yield "\n".join(lines)


def weft_prototype(f):
    """Pointers to anything: the types of the other MPI have the same names."""
    types = []
    for p in f.parameters:
        plain = p.type.replace("const ", "")
        if "*" in plain or p.array:
            types.append("void *")
        else:
            types.append("int" if plain in HANDLES else plain)
    return f"{f.returns} weft_MPI_{f.name}({', '.join(types) or 'void'});"


def calls(abi, functions):
    yield "/* Generated by src/mpi/lib/abi/generate_abi.py. */"
    yield '#define WA_DEFINE_OBJECTS\n#include "mpi/lib/abi/abi.h"'
    for f in functions:
        if f.base in BY_HAND or f.varies:
            continue
        translated = Call(f)
        own = f"weft_{abi.name}_MPI_{f.name}"
        lines = [f"{f.returns} {own}({f.prototype});", f"{f.returns} {own}({f.prototype})", "{"]
        call = f"weft_MPI_{f.name}({', '.join(translated.arguments)})"
        lines += [f"    {line}" for line in translated.before]
        lines.append("    weft_mpi_called_from(__builtin_return_address(0));")
        if f.returns != "int":
            lines.append(f"    return {call};")
        else:
            lines.append(f"    int code = {call};")
            lines += [f"    {line}" for line in translated.after]
            lines.append("    return code == 0 ? 0 : wa_code_out(code);")
        lines.append("}")
        yield "\n".join(lines)


def main():
    name = sys.argv[1]
    functions = generate.read(pathlib.Path(sys.argv[2]))
    abi = Abi(name, pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4]).read_text())
    out = pathlib.Path(sys.argv[5])
    shared = [f for f in functions if not f.is_missing and not LEFT_OUT.match(f.name)
              and abi.has("MPI_" + f.name)]
    generate.write(out / "abi_values.h", values(abi))
    generate.write(out / "abi_weft.h",
                   ["/* Generated: the functions of libweftmpi. */", "#pragma once",
                    *(weft_prototype(f) for f in functions
                      if not f.varies and not LEFT_OUT.match(f.name))])
    generate.write(out / "abi_calls.c", calls(abi, shared))
    generate.write(out / "abi_fortran.c", fortran_calls(abi, shared))


if __name__ == "__main__":
    main()
