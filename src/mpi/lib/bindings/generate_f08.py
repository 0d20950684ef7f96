#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the module mpi_f08 and the functions that it calls.

usage: generate_f08.py LIST INCLUDE_DIR OUTPUT_DIR

LIST is functions.txt, INCLUDE_DIR the folder with mpi.h and the headers of its constants. Writes

  mpi_f08.f90               the module: types, constants, interfaces of all functions
  generated/fortran_f08.c   what the interfaces are bound to

Arguments have the layout of those of mpif.h: a handle is a derived type of one integer. So a
function without buffers calls the one of mpif.h, and adds that `ierror` is optional. Functions with
buffers get descriptors of the Fortran compiler, which know arrays that are not contiguous. The
functions with large counts are overloads of those without.
"""
import pathlib
import re
import sys

import generate

# Parameters that are arrays, and logical ones.
ARRAYS = {
    "requests", "statuses", "indices", "integers", "addresses", "datatypes", "ranks", "ranks1", "ranks2",
    "dims", "coords", "periods", "remain_dims", "neighbors", "sources", "destinations", "degrees",
    "weights", "sourceweights", "destweights", "edges", "sendcounts", "recvcounts", "sdispls", "rdispls",
    "sendtypes", "recvtypes", "blocklengths", "displacements", "types", "sizes", "subsizes", "starts",
    "gsizes", "distribs", "dargs", "psizes", "large_counts", "partitions", "maxprocs", "infos",
}
ARRAYS_IN = {"Graph_create": {"index"}, "Graph_get": {"index"}, "Graph_map": {"index"}}
SCALARS_IN = {"Psend_init": {"partitions"}, "Precv_init": {"partitions"}}
LOGICAL = {"flag", "commute", "reorder", "periods", "remain_dims", "weighted", "high"}
# Names in the standard, which programs may use as keywords.
NAMES = {"requests": "array_of_requests", "statuses": "array_of_statuses", "indices": "array_of_indices",
         "blocklengths": "array_of_blocklengths", "displacements": "array_of_displacements",
         "types": "array_of_types", "file": "fh", "displacement": "disp", "assertion": "assert"}
HANDLES = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request",
           "Session", "Win")
KINDS = {"int": "integer", "MPI_Aint": "integer(MPI_ADDRESS_KIND)",
         "MPI_Count": "integer(MPI_COUNT_KIND)", "MPI_Offset": "integer(MPI_OFFSET_KIND)",
         "MPI_Fint": "integer"}
# Addresses of memory that the library returns.
POINTERS = {"baseptr"}
# A buffer and the parameters that say how many elements of which type it has.
ELEMENTS = {"buf": ("count", "datatype"), "sendbuf": ("sendcount", "sendtype"),
            "recvbuf": ("recvcount", "recvtype"), "origin_addr": ("origin_count", "origin_datatype"),
            "result_addr": ("result_count", "result_datatype")}
# Removed functions, and those that have no place in Fortran.
NOT_HERE = {"Address", "Type_extent", "Type_lb", "Type_ub", "Type_hvector", "Type_hindexed", "Type_struct",
            "Keyval_create", "Keyval_free", "Attr_put", "Attr_get", "Attr_delete", "Errhandler_create",
            "Errhandler_set", "Errhandler_get"} | generate.C_ONLY
# Written by hand in mpi_f08.f90.in and fortran_f08.c.
BY_HAND = {"Wtime", "Wtick", "Aint_add", "Aint_diff", "Pcontrol", "Init", "Init_thread",
           "Comm_create_keyval", "Type_create_keyval", "Win_create_keyval", "Comm_set_attr",
           "Comm_get_attr", "Type_set_attr", "Type_get_attr", "Win_set_attr", "Win_get_attr", "Info_get",
           "Info_get_string", "Info_create_env", "Buffer_detach"}


def is_buffer(p):
    return "void *" in p.type and p.name not in POINTERS


def is_function(p):
    return re.fullmatch(r"MPI_\w+_function(_c)? \*", p.type) is not None


def is_array(f, p):
    return (p.name in ARRAYS or p.name in ARRAYS_IN.get(f.base, ())) and \
        p.name not in SCALARS_IN.get(f.base, ())


def fortran_type(p):
    plain = p.type.replace("const ", "").replace("*", "").strip()
    if p.name in LOGICAL and plain == "int":
        return "logical"
    if plain in KINDS:
        return KINDS[plain]
    if plain == "char":
        return "character(len=*)"
    return f"type({plain})"  # a handle or a status


def declare(f, p):
    """The declaration of a dummy argument."""
    name = NAMES.get(p.name, p.name)
    if is_function(p):
        return f"external :: {name}"
    if p.name in POINTERS:
        return f"type(c_ptr) :: {name}"
    if is_buffer(p):
        return f"type(*), dimension(..) :: {name}"
    intent = ", intent(in)" if "*" not in p.type or "const" in p.type else ""
    shape = "(3, *)" if p.array else "(*)" if is_array(f, p) else ""
    return f"{fortran_type(p)}{intent} :: {name}{shape}"


def has_buffer(f):
    return any(is_buffer(p) for p in f.parameters)


def has_text(f):
    return any("char *" in p.type for p in f.parameters)


def included(functions):
    for f in functions:
        if f.name in NOT_HERE or f.base in NOT_HERE or f.name in BY_HAND:
            continue
        if f.name.startswith("T_") or f.is_missing or (f.name.endswith("_c") and not f.wide):
            continue
        # Overloads that differ only in integers of the same kind cannot be told apart.
        if f.wide and not any(p.widens for p in f.parameters):
            continue
        if f.wide and f.base in BY_HAND:
            continue
        if has_buffer(f) and has_text(f) and f.wide:
            continue
        yield f


def symbol(f):
    return f"mpi_{f.name.lower()}_f08"


def interface(f):
    names = [NAMES.get(p.name, p.name) for p in f.parameters] + ["ierror"]
    bound = f' bind(C, name="{symbol(f)}_")' if has_buffer(f) and not has_text(f) else ""
    yield f"    subroutine {symbol(f)}({', '.join(names)}){bound}"
    yield "      import"
    for p in f.parameters:
        if is_buffer(p) and has_text(f):
            yield f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {p.name}"
            yield f"      type(*), dimension(*) :: {p.name}"
        else:
            yield f"      {declare(f, p)}"
    yield "      integer, optional :: ierror"
    yield "    end subroutine"


def interfaces(functions):
    generics = {}
    for f in included(functions):
        generics.setdefault(f.base, []).append(f)
    for name, specifics in generics.items():
        yield f"  interface MPI_{name}"
        for f in specifics:
            yield from interface(f)
        yield "  end interface"
    # The same with PMPI_.
    for name, specifics in generics.items():
        yield f"  interface PMPI_{name}"
        yield f"    procedure {', '.join(symbol(f) for f in specifics)}"
        yield "  end interface"


OBJECT = re.compile(r"^#define (MPI_\w+)\s+\(\((MPI_\w+)\)0x(\w+)\)")
ALIAS = re.compile(r"^#define (MPI_\w+)\s+(MPI_\w+)$")


def constants(include):
    for name in ("mpi_constants.h", "mpi_errors.h"):
        for line in (include / name).read_text().splitlines():
            number = generate.NUMBER.match(line)
            if number:
                value = int(number[2]) - (number[1] in generate.TEXT_LENGTHS)
                kind = "(MPI_OFFSET_KIND)" if number[1] == "MPI_DISPLACEMENT_CURRENT" else ""
                yield f"  integer{kind}, parameter :: {number[1]} = {value}"
    types = {}
    for line in (include / "mpi_objects.h").read_text().splitlines():
        handle, alias = OBJECT.match(line), ALIAS.match(line)
        if handle:
            types[handle[1]] = handle[2]
            yield (f"  type({handle[2]}), parameter :: {handle[1]} = "
                   f"{handle[2]}({int(handle[3], 16)})")
        elif alias and alias[2] in types:
            yield f"  type({types[alias[2]]}), parameter :: {alias[1]} = {alias[2]}"


def types():
    for name in HANDLES:
        yield f"  type, bind(C) :: MPI_{name}\n    integer(c_int) :: MPI_VAL\n  end type"


def comparisons():
    for symbol_of, word in (("==", "equal"), ("/=", "differs")):
        yield f"  interface operator({symbol_of})"
        yield f"    module procedure {', '.join(f'weft_{word}_{name.lower()}' for name in HANDLES)}"
        yield "  end interface"


def comparing():
    for symbol_of, word in (("==", "equal"), ("/=", "differs")):
        for name in HANDLES:
            yield (f"  elemental logical function weft_{word}_{name.lower()}(a, b)\n"
                   f"    type(MPI_{name}), intent(in) :: a, b\n"
                   f"    weft_{word}_{name.lower()} = a%MPI_VAL {symbol_of} b%MPI_VAL\n"
                   "  end function")


def module(functions, include, template):
    parts = {"TYPES": types(), "CONSTANTS": constants(include), "COMPARISONS": comparisons(),
             "INTERFACES": interfaces(functions), "COMPARING": comparing()}
    for line in template.read_text().splitlines():
        key = line.strip().strip("@")
        if line.strip().startswith("@"):
            yield from parts[key]
        else:
            yield line


# ---- the C side ----


def wrapper_without_buffer(f):
    """Calls the function of mpif.h with an `ierror` of its own."""
    parts = [generate.fortran_parameter(p) for p in f.parameters]
    lengths = [f"size_t {p.name}_length" for p, part in zip(f.parameters, parts) if part[4]]
    declared = [part[0] for part in parts] + ["int *ierror"] + lengths
    inner = f"mpi_{f.name.lower()}_"
    given = [p.name for p in f.parameters] + ["&code"] + [text.split()[-1] for text in lengths]
    if not f.wide:
        yield f"void {inner}({', '.join(declared)});"
        call = f"    {inner}({', '.join(given)});"
    else:
        call = "\n".join([part[2] for part in parts if part[2]] + [
            "    weft_mpi_called_from(__builtin_return_address(0));",
            f"    code = MPI_{f.name}({', '.join(part[1] for part in parts)});"] + [
            part[3] for part in parts if part[3]])
    yield "\n".join([f"void {symbol(f)}_({', '.join(declared)})", "{", "    int code;", call,
                     "    wl_f08_code(ierror, code);", "}"])


def wrapper_with_buffer(f):
    """Calls the C function. An array that is not contiguous gets a datatype of its own."""
    declared, before, arguments, after = [], [], {}, []
    names = {p.name for p in f.parameters}
    for p in f.parameters:
        if is_buffer(p):
            declared.append(f"const CFI_cdesc_t *{p.name}")
            count, datatype = ELEMENTS.get(p.name, ("", ""))
            if count in names and datatype in names:
                before.append(f"    struct wl_f08_elements {p.name}_e = "
                              f"wl_f08_elements({p.name}, *{count}, *{datatype});")
                after.append(f"    wl_f08_done(&{p.name}_e);")
                arguments |= {p.name: f"{p.name}_e.buffer", datatype: f"{p.name}_e.type",
                              count: f"(MPI_Count){p.name}_e.count" if f.wide
                              else f"(int){p.name}_e.count"}
            else:
                arguments[p.name] = f"wl_f08_buffer({p.name})"
            continue
        part = generate.fortran_parameter(p)
        declared.append(part[0])
        arguments.setdefault(p.name, part[1])
    if len({ELEMENTS[p.name] for p in f.parameters if p.name in ELEMENTS}) < \
            sum(p.name in ELEMENTS for p in f.parameters):
        raise SystemExit(f"two buffers of {f.name} share a count")
    values = ", ".join(arguments[p.name] for p in f.parameters)
    yield "\n".join([f"void {symbol(f)}_({', '.join(declared + ['int *ierror'])})", "{", *before,
                     "    weft_mpi_called_from(__builtin_return_address(0));",
                     f"    int code = MPI_{f.name}({values});", *after,
                     "    wl_f08_code(ierror, code);", "}"])


def wrappers(functions):
    yield generate.NOTICE
    yield '#include "mpi/lib/bindings/fortran_f08.h"'
    for f in included(functions):
        if has_buffer(f) and not has_text(f):
            yield from wrapper_with_buffer(f)
        else:
            yield from wrapper_without_buffer(f)


def main():
    functions = generate.read(pathlib.Path(sys.argv[1]))
    include, out = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    template = pathlib.Path(__file__).with_name("mpi_f08.f90.in")
    (out / "generated").mkdir(parents=True, exist_ok=True)
    generate.write(out / "mpi_f08.f90", module(functions, include, template))
    generate.write(out / "generated" / "fortran_f08.c", wrappers(functions))


main()
