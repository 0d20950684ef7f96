#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the code that is the same for every MPI function.

usage: generate.py LIST INCLUDE_DIR OUTPUT_DIR

LIST is functions.txt, INCLUDE_DIR the folder with mpi.h and the headers of its constants. Writes

  mpi_functions.h             prototypes of MPI_x and PMPI_x, for mpi.h
  functions.list              the names of all functions, those that are missing with a minus
  mpif.h                      the constants for Fortran
  generated/implementation.h  prototypes of the functions that implement them
  generated/functions.c       MPI_x and PMPI_x: enter the library, call the implementation, leave
  generated/fortran.c         the functions as Fortran calls them
"""
import pathlib
import re
import sys

import argument_checks

# Types of parameters that are wider in the functions with large counts, MPI_x_c (MPI-4.0, 19.2):
# in MPI_x, and in MPI_x_c. The implementation has the wide type.
WIDE = {"Count": ("int", "MPI_Count"), "Displ": ("int", "MPI_Aint"),
        "Addr": ("MPI_Aint", "MPI_Count")}
WIDENED = re.compile(r"\b(Count|Displ|Addr)\b(?! *\()")
FUNCTION = re.compile(r"^(- )?(?:(double|MPI_Aint) )?(\w+)\(([^()]*)\)(?: = (.+))?$")
PARAMETER = re.compile(r"^(.*?)(\w+)((?:\[\w*\])*)$")

# Written by hand in fortran_calls.c and fortran_keyvals.c: their parameters differ from C's.
BY_HAND = {
    "Init", "Init_thread", "Pcontrol", "Wtime", "Wtick", "Aint_add", "Aint_diff", "Address",
    "Type_extent", "Type_lb", "Type_ub", "Type_hvector", "Type_hindexed", "Type_struct",
    "Comm_create_keyval", "Type_create_keyval", "Win_create_keyval", "Keyval_create",
    "Comm_set_attr", "Comm_get_attr", "Type_set_attr", "Type_get_attr", "Win_set_attr",
    "Win_get_attr", "Attr_put", "Attr_get", "Info_get", "Info_get_string", "Info_create_env",
    "Buffer_detach",
}
# Not part of the Fortran interface, or with parameters that mean nothing there.
C_ONLY = {"Status_f2c", "Status_c2f", "Status_f082c", "Status_c2f08", "Status_f082f",
          "Status_f2f08", "Comm_spawn", "Comm_spawn_multiple", "Register_datarep",
          "Grequest_start"}
# Buffers that may be MPI_BOTTOM or MPI_IN_PLACE.
PLACES = {"buf", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf", "origin_addr",
          "result_addr", "compare_addr", "base"}
WEIGHTS = {"weights", "sourceweights", "destweights"}
BY_VALUE = {"int", "const int", "MPI_Aint", "MPI_Offset", "MPI_Count"}


class Parameter:
    def __init__(self, text, wide):
        """`wide`: which of the types in WIDE it has."""
        generic = PARAMETER.match(text.strip()).group(1).strip()
        found = WIDENED.search(generic)
        self.widens = found and WIDE[found[1]][0] == "int"
        self.text = WIDENED.sub(lambda m: WIDE[m[1]][wide], text.strip())
        head, self.name, self.array = PARAMETER.match(self.text).groups()
        self.type = head.strip()
        # In the narrow function: an array that the implementation gets as a wide copy, or a
        # result that it returns in a wide variable.
        self.copied = bool(self.widens and not wide and "const" in generic and "*" in generic)
        self.returned = bool(self.widens and not wide and "*" in generic and not self.copied)


class Function:
    def __init__(self, line, wide=False):
        missing, returns, self.name, parameters, self.implementation = FUNCTION.match(line).groups()
        # Statements in braces are the implementation itself.
        self.statements = None
        if (self.implementation or "").startswith("{"):
            self.statements, self.implementation = self.implementation[1:-1].strip(), None
        self.base = self.name
        self.wide = wide
        self.is_missing = missing is not None
        self.returns = returns or "int"
        self.can_widen = WIDENED.search(parameters) is not None
        self.name += "_c" if wide else ""
        self.varies = parameters.endswith("...")
        # Written by hand under its own name: it does not return an error code.
        self.is_plain = returns is not None or self.varies
        self.parameters = [] if parameters == "void" else [
            Parameter(p, wide) for p in parameters.split(",") if p.strip() != "..."]
        self.prototype = self.declare(wide, parameters)
        # wl_MPI_x() is its own implementation.
        self.is_implemented = not (self.is_plain or missing or self.implementation or wide)
        self.inner = "" if self.prototype == "void" else f", {self.declare(True, parameters)}"

    @staticmethod
    def declare(wide, parameters):
        return WIDENED.sub(lambda m: WIDE[m[1]][wide], parameters)

    def arguments(self):
        return ", ".join(p.name for p in self.parameters)

    def has(self, name):
        return any(p.name == name for p in self.parameters)


def derive(line):
    """A collective has a nonblocking and a persistent form."""
    yield line
    if line.endswith("= collective"):
        name, rest = line.split("(", 1)
        parameters, end = rest.rsplit(")", 1)
        yield f"I{name[0].lower()}{name[1:]}({parameters}, MPI_Request *request){end}"
        yield f"{name}_init({parameters}, MPI_Info info, MPI_Request *request){end}"


def read(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    every = [line for given in lines for line in derive(given)]
    narrow = [Function(line) for line in every]
    wide = [Function(line, True) for line, f in zip(every, narrow) if f.can_widen]
    return narrow + wide


NOTICE = "/* Generated from src/mpi/lib/bindings/functions.txt. */"


def header(functions):
    yield NOTICE
    for f in functions:
        for prefix in ("MPI_", "PMPI_"):
            name = prefix + f.name
            yield f"{f.returns} {name}({f.prototype}) WEFT_MPI({name});"


def implementation(functions):
    yield NOTICE
    for f in functions:
        if f.is_implemented and f.statements is None:
            yield f"int wl_MPI_{f.name}(struct wl_rank *{f.inner});"


# Members of struct wl_collective that a parameter of this name sets. {0} is its name.
COLLECTIVE = {
    "sendbuf": [".send.buffer = (void *)(uintptr_t){0}"],
    "sendcount": [".send.count = (size_t){0}"],
    "sendtype": [".send.handle = {0}"],
    "sendtypes": [".send.types = {0}"],
    "recvbuf": [".recv.buffer = {0}"],
    "recvcount": [".recv.count = (size_t){0}"],
    "recvtype": [".recv.handle = {0}"],
    "recvtypes": [".recv.types = {0}"],
    # Of a broadcast.
    "buf": [".send.buffer = {0}"],
    # Of a broadcast or a reduction, which has the same elements on both sides.
    "count": [".send.count = (size_t){0}", ".recv.count = (size_t){0}"],
    "datatype": [".send.handle = {0}", ".recv.handle = {0}"],
    "op": [".reduce_op = {0}"],
    "root": [".root = (uint32_t){0}"],
    "comm": [".comm = {0}"],
    "info": [],
    "request": [],
}
# Likewise of struct wl_access.
ONE_SIDED = {
    "origin_addr": [".from = {0}"],
    "origin_count": [".count = {0}"],
    "origin_datatype": [".type = {0}"],
    "result_addr": [".to = {0}"],
    "result_count": [".to_count = {0}"],
    "result_datatype": [".to_type = {0}"],
    "compare_addr": [".compare = {0}"],
    "target_rank": [".target = {0}"],
    "target_disp": [".displacement = {0}"],
    "target_count": [".target_count = {0}"],
    "target_datatype": [".target_type = {0}"],
    # Of Fetch_and_op and Compare_and_swap, which have one element.
    "datatype": [".type = {0}", ".to_type = {0}", ".target_type = {0}", ".count = 1",
                 ".to_count = 1", ".target_count = 1"],
    "op": [".op = {0}"],
    "win": [".win = {0}"],
    "request": [],
}
# A get brings the target's data to where others have their own.
GET = {"origin_addr": [".to = {0}"], "origin_count": [".to_count = {0}"],
       "origin_datatype": [".to_type = {0}"]}


def fill(struct, fixed, table, f):
    members = fixed + [text.format(p.name) for p in f.parameters for text in table[p.name]]
    return f"&(struct {struct}){{{', '.join(members)}}}"


def collective(f):
    persistent = f.has("info")
    op = re.sub("_INIT$", "", f.base.upper())
    if f.has("request") and not persistent:
        op = op[1:]
    kind = re.sub("(V|W|_BLOCK)$", "", op)
    table = dict(COLLECTIVE)
    for side, what in (("send", "counts"), ("recv", "counts"), ("send", "displs"),
                       ("recv", "displs")):
        name = side + what if what == "counts" else side[0] + what
        wide = any(p.name == name and "MPI_" in p.type for p in f.parameters)
        table[name] = [f".{side}.{'wide_' if wide else ''}{what} = {{0}}"]
    return (f"wl_collective{'_init' if persistent else ''}(call.rank, "
            f"{fill('wl_collective', [f'.kind = WL_{kind}', f'.op = WF_OP_{op}'], table, f)}, "
            f"{'request' if f.has('request') else 'NULL'})")


def one_sided(f, kind):
    table = ONE_SIDED | GET if kind == "GET" else ONE_SIDED
    return (f"wl_one_sided(call.rank, {fill('wl_access', [f'.kind = WL_{kind}'], table, f)}, "
            f"{'request' if f.has('request') else 'NULL'})")


def expression(f):
    """The call that implements a function."""
    if f.is_missing:
        return "wl_missing(call.rank)"
    name, _, kind = (f.implementation or f.base).partition(" ")
    if name == "collective":
        return collective(f)
    if name == "one_sided":
        return one_sided(f, kind)
    if name.startswith("MPI_"):
        return f"{name}({f.arguments()})"
    name, _, given = (f.implementation or f.base).partition("(")
    arguments = given[:-1] if given else ", ".join(
        f"wide_{p.name}" if p.copied else f"&wide_{p.name}" if p.returned else p.name
        for p in f.parameters)
    return f"wl_MPI_{name}(call.rank{', ' if arguments else ''}{arguments})"


# Results that are arguments, too.
IN_OUT = {"position"}
# The lengths of arrays that are copied.
LENGTHS = {"sizes": "ndims", "subsizes": "ndims", "starts": "ndims", "gsizes": "ndims"}


def check(f):
    """Returns an error for wrong arguments if the program handles errors, as it does with files, or is checked."""
    rows = argument_checks.rows(f)
    always = any(p.type == "MPI_File" or p.type == "MPI_File *" for p in f.parameters)
    if not rows:
        return []
    return [f"    if ({'true' if always else 'call.rank->checks_arguments'}) {{",
            "        const struct wl_arg args[] = {" + ", ".join(rows) + "};",
            "        int wrong = wl_arguments_check(call.rank, args, sizeof(args) / sizeof(args[0]));",
            "        if (wrong != MPI_SUCCESS) {",
            "            return wl_call_end(call, wrong);",
            "        }",
            "    }"]


def body(f):
    """Enters the library, calls the implementation, leaves."""
    before, after = check(f), []
    for p in f.parameters if f.implementation is None and not f.is_missing else ():
        if p.copied:
            before.append(f"    MPI_Count *wide_{p.name} = "
                          f"wl_widen({LENGTHS.get(p.name, 'count')}, {p.name});")
            after.append(f"    free(wide_{p.name});")
        elif p.returned:
            before.append(f"    MPI_Count wide_{p.name} = {f'*{p.name}' if p.name in IN_OUT else 0};")
            after.append(f"    *{p.name} = wl_narrow(wide_{p.name});")
    begin = f"    struct wl_call call = wl_call_begin(\"MPI_{f.name}\");"
    if f.name.startswith("T_") and f.name != "T_init_thread":
        before[:0] = ["    if (!wl_tool_is_initialized(call.rank)) {",
                      "        return wl_call_end(call, MPI_T_ERR_NOT_INITIALIZED);",
                      "    }"]
    if not after:
        return [begin, *before, f"    return wl_call_end(call, {expression(f)});"]
    return [begin, *before, f"    int code = {expression(f)};", *after,
            "    return wl_call_end(call, code);"]


# What the statements of functions.txt use.
HEADERS = ("arguments.h", "coll/collective.h", "coll/reduction.h", "comm/group.h", "comm/properties.h",
           "comm/topology.h", "io/file.h", "memory.h", "p2p/point_to_point.h", "rma/one_sided.h",
           "rma/window.h", "threads/openmp.h")


def definitions(functions):
    """The other names of a function lead to weft_MPI_x, which the program may replace."""
    yield NOTICE
    yield from (f'#include "mpi/lib/{header}"' for header in HEADERS)
    yield from (f"#include <{header}>" for header in ("stdio.h", "stdlib.h", "string.h"))
    for f in functions:
        if f.is_implemented and f.statements is not None:
            end = "" if f.statements.startswith("return") else "    return MPI_SUCCESS;\n"
            yield (f"static int wl_MPI_{f.name}(struct wl_rank *rank{f.inner})\n{{\n"
                   f"    {f.statements}\n{end}}}")
    for f in functions:
        own = f"MPI_{f.name}"
        if not f.is_plain:
            yield "\n".join([f"int {own}({f.prototype})", "{", *body(f), "}"])
        if f.varies:
            continue
        for symbol, name in ((f"weft_P{own}", f"P{own}"), (own, f"plain_{own}"),
                             (f"P{own}", f"plain_P{own}")):
            if name.startswith("plain"):
                yield f"{f.returns} {name}({f.prototype}) __asm__(\"{symbol}\");"
            yield (f"{f.returns} {name}({f.prototype})\n{{\n"
                   f"    return {own}({f.arguments()});\n}}")


def fortran_parameter(p):
    """The declaration in Fortran's calling convention, the argument for C, a statement before
    the call, one after it, and whether Fortran passes a hidden length."""
    by_value = p.type in BY_VALUE or (p.type.startswith("MPI_") and "*" not in p.type)
    if p.type == "const char *":
        return (f"const char *{p.name}", f"{p.name}_c",
                f"    char *{p.name}_c = wl_f_text({p.name}, {p.name}_length);",
                f"    free({p.name}_c);", True)
    if p.type == "char *":
        return (f"char *{p.name}", f"{p.name}_c",
                f"    char {p.name}_c[WL_F_TEXT_MAX] = \"\";",
                f"    wl_f_fill({p.name}, {p.name}_length, {p.name}_c);", True)
    if by_value and not p.array:
        plain = p.type.replace("const ", "")
        return f"const {plain} *{p.name}", f"*{p.name}", "", "", False
    argument = p.name
    if "void *" in p.type and p.name in PLACES:
        argument = f"wl_f_place({p.name})"
    elif p.type in ("MPI_Status *", "const MPI_Status *"):
        argument = f"wl_f_status({p.name})"
    elif p.name in WEIGHTS:
        argument = f"wl_f_weights({p.name})"
    declared = f"{p.type} {p.name}{p.array}"
    if p.type == "const void *":
        declared = f"void *{p.name}"
    elif p.name in WEIGHTS or p.type == "const MPI_Status *":
        declared = f"{p.type.replace('const ', '')}{p.name}"
    return declared, argument, "", "", False


# Fortran counts places in arrays from 1.
COUNTED = {"Waitany": "wl_f_count_one(index);", "Testany": "wl_f_count_one(index);",
           "Waitsome": "wl_f_count_all(*outcount, indices);",
           "Testsome": "wl_f_count_all(*outcount, indices);"}


def fortran(functions):
    yield NOTICE
    yield '#include "mpi/lib/bindings/fortran.h"'
    for f in functions:
        if f.name in BY_HAND | C_ONLY or f.name.startswith("T_") or f.name.endswith("_c"):
            continue
        parts = [fortran_parameter(p) for p in f.parameters]
        declared = [part[0] for part in parts] + ["int *ierror"]
        declared += [f"size_t {p.name}_length" for p, part in zip(f.parameters, parts)
                     if part[4]]
        name = f"mpi_{f.name.lower()}_"
        # A program may have a function of its own of that name, which calls PMPI_x.
        yield f'void p{name}({", ".join(declared)}) __attribute__((alias("{name}")));'
        lines = [f"__attribute__((weak)) void {name}({', '.join(declared)})", "{"]
        lines += [part[2] for part in parts if part[2]]
        lines.append("    weft_mpi_called_from(__builtin_return_address(0));")
        lines.append(f"    *ierror = MPI_{f.name}({', '.join(part[1] for part in parts)});")
        if f.name in COUNTED:
            lines.append(f"    {COUNTED[f.name]}")
        lines += [part[3] for part in parts if part[3]]
        lines.append("}")
        yield "\n".join(lines)


NUMBER = re.compile(r"^    (MPI_\w+) = (-?\d+),")
OBJECT = re.compile(r"^#define (MPI_\w+)\s+\(\(MPI_\w+\)0x(\w+)\)")
ALIAS = re.compile(r"^#define (MPI_\w+)\s+(MPI_\w+)$")


def fortran_constants(include):
    values = {}
    for name in ("mpi_constants.h", "mpi_errors.h", "mpi_objects.h"):
        for line in (include / name).read_text().splitlines():
            number, handle, alias = NUMBER.match(line), OBJECT.match(line), ALIAS.match(line)
            if number:
                values[number[1]] = number[2]
            elif handle:
                values[handle[1]] = str(int(handle[2], 16))
            elif alias and alias[2] in values:
                values[alias[1]] = values[alias[2]]
    yield from values.items()


TEXT_LENGTHS = {"MPI_MAX_PROCESSOR_NAME", "MPI_MAX_ERROR_STRING", "MPI_MAX_OBJECT_NAME",
                "MPI_MAX_LIBRARY_VERSION_STRING", "MPI_MAX_INFO_KEY", "MPI_MAX_INFO_VAL",
                "MPI_MAX_PORT_NAME", "MPI_MAX_DATAREP_STRING"}
FORTRAN_TAIL = """\
      integer MPI_VERSION, MPI_SUBVERSION, MPI_STATUS_SIZE
      parameter (MPI_VERSION=4, MPI_SUBVERSION=0, MPI_STATUS_SIZE=6)
      integer MPI_SOURCE, MPI_TAG, MPI_ERROR
      parameter (MPI_SOURCE=1, MPI_TAG=2, MPI_ERROR=3)
      integer MPI_ADDRESS_KIND, MPI_OFFSET_KIND, MPI_COUNT_KIND
      parameter (MPI_ADDRESS_KIND=8, MPI_OFFSET_KIND=8)
      parameter (MPI_COUNT_KIND=8)
      integer MPI_INTEGER_KIND
      parameter (MPI_INTEGER_KIND=4)
      logical MPI_SUBARRAYS_SUPPORTED, MPI_ASYNC_PROTECTS_NONBLOCKING
      parameter (MPI_SUBARRAYS_SUPPORTED=.false.)
      parameter (MPI_ASYNC_PROTECTS_NONBLOCKING=.false.)
      integer MPI_BOTTOM, MPI_IN_PLACE, MPI_UNWEIGHTED(1)
      integer MPI_WEIGHTS_EMPTY(1), MPI_ERRCODES_IGNORE(1)
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      integer MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      character*1 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
      common /weft_mpi_bottom/ MPI_BOTTOM
      common /weft_mpi_in_place/ MPI_IN_PLACE
      common /weft_mpi_unweighted/ MPI_UNWEIGHTED
      common /weft_mpi_weights_empty/ MPI_WEIGHTS_EMPTY
      common /weft_mpi_status_ignore/ MPI_STATUS_IGNORE
      common /weft_mpi_statuses_ignore/ MPI_STATUSES_IGNORE
      common /weft_mpi_errcodes_ignore/ MPI_ERRCODES_IGNORE
      common /weft_mpi_argv_null/ MPI_ARGV_NULL
      common /weft_mpi_argvs_null/ MPI_ARGVS_NULL
      external MPI_DUP_FN, MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN
      external MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN
      external MPI_COMM_NULL_DELETE_FN
      external MPI_TYPE_DUP_FN, MPI_TYPE_NULL_COPY_FN
      external MPI_TYPE_NULL_DELETE_FN
      external MPI_WIN_DUP_FN, MPI_WIN_NULL_COPY_FN
      external MPI_WIN_NULL_DELETE_FN
      double precision PMPI_WTIME, PMPI_WTICK
      external PMPI_WTIME, PMPI_WTICK
      double precision MPI_WTIME, MPI_WTICK
      external MPI_WTIME, MPI_WTICK"""


def mpif(include):
    """Uses only columns that both source forms of Fortran allow."""
    yield "! SPDX-License-Identifier: Apache-2.0"
    for name, value in fortran_constants(include):
        if name in TEXT_LENGTHS:
            value = str(int(value) - 1)  # without the byte that ends a string in C
        kind = "(kind=8)" if name == "MPI_DISPLACEMENT_CURRENT" else ""
        yield f"      integer{kind} {name}"
        yield f"      parameter ({name}={value})"
    yield FORTRAN_TAIL


def write(path, lines):
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    functions = read(pathlib.Path(sys.argv[1]))
    include, out = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    (out / "generated").mkdir(parents=True, exist_ok=True)
    write(out / "mpi_functions.h", header(functions))
    write(out / "functions.list",
          [("- " if f.is_missing else "") + "MPI_" + f.name for f in functions])
    write(out / "generated" / "implementation.h", implementation(functions))
    write(out / "generated" / "functions.c", definitions(functions))
    write(out / "generated" / "fortran.c", fortran(functions))
    write(out / "mpif.h", mpif(include))


if __name__ == "__main__":
    main()
