# SPDX-License-Identifier: Apache-2.0
"""Which arguments of an MPI function are checked where the program handles errors: rows of struct
wl_arg (mpi/lib/arguments.h), by the types and names of its parameters."""
import re

HANDLES = {"MPI_Comm": "COMM", "MPI_Win": "WIN", "MPI_File": "FILE", "MPI_Session": "SESSION",
           "MPI_Group": "GROUP", "MPI_Errhandler": "ERRHANDLER", "MPI_Datatype": "TYPE",
           "MPI_Request": "REQUEST", "MPI_Op": "OP", "MPI_Message": "MESSAGE", "MPI_Info": "INFO"}
# Functions that read a handle through a pointer: the type of the handle, and a member of struct wl_arg.
READS = {"Comm_free": ("MPI_Comm", "own"), "Comm_disconnect": ("MPI_Comm", "own"),
         "Type_free": ("MPI_Datatype", "own"), "Type_commit": ("MPI_Datatype", ""),
         "Group_free": ("MPI_Group", ""), "Win_free": ("MPI_Win", "own"),
         "File_close": ("MPI_File", "own"), "Op_free": ("MPI_Op", "own"), "Info_free": ("MPI_Info", ""),
         "Session_finalize": ("MPI_Session", "own"), "Request_free": ("MPI_Request", "own"),
         "Cancel": ("MPI_Request", "own"), "Start": ("MPI_Request", "own"),
         "Wait": ("MPI_Request", "or_null"), "Test": ("MPI_Request", "or_null"),
         "Mrecv": ("MPI_Message", ""), "Imrecv": ("MPI_Message", "")}
OR_NULL = {"Request_get_status", "File_set_errhandler", "File_get_errhandler", "File_call_errhandler"}
# A buffer, the number of its elements, their datatype.
BUFFERS = (("buf", "count", "datatype"), ("sendbuf", "sendcount", "sendtype"),
           ("recvbuf", "recvcount", "recvtype"), ("sendbuf", "count", "datatype"),
           ("recvbuf", "count", "datatype"), ("inbuf", "incount", "datatype"),
           ("outbuf", "outcount", "datatype"), ("origin_addr", "origin_count", "origin_datatype"),
           ("result_addr", "result_count", "result_datatype"),
           ("target_rank", "target_count", "target_datatype"))
# Sides of collectives that mean something at the root only.
AT_ROOT = {("Gather", "recvbuf"), ("Gatherv", "recvbuf"), ("Scatter", "sendbuf"),
           ("Scatterv", "sendbuf"), ("Reduce", "recvbuf")}
# Buffers that may be MPI_IN_PLACE: at the root of these, and anywhere in those.
IN_PLACE = {"AT_ROOT": (("sendbuf", ("Gather", "Gatherv", "Reduce")), ("recvbuf", ("Scatter", "Scatterv"))),
            "ANYWHERE": (("sendbuf", ("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Allreduce",
                                      "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan")),)}
NUMBERS = {"count": "COUNT", "incount": "COUNT", "outcount": "COUNT", "blocklength": "COUNT",
           "n": "NUMBER", "ndims": "NUMBER"}
RANKS = {"root": "ROOT", "target_rank": "TARGET"}
TEXTS = {"key": "KEY", "value": "VALUE", "filename": "RESULT"}
LISTS = {"ranks", "ranks1", "ranks2"}
RESULTS = {"flag", "newcomm", "newtype", "newgroup", "newinfo", "request", "rank", "size", "result",
           "extent", "lb", "displacement", "group", "win", "file", "info", "index", "length", "keyval",
           "op", "errhandler", "count", "outcount", "address", "commute", "combiner", "nkeys", "message"}


def plain_name(f):
    """Of a collective: that of its blocking form."""
    name = re.sub("_init$", "", f.base)
    return name[1].upper() + name[2:] if f.has("request") and name == f.base else name


def at_root(f, buffer):
    return ", .at_root = true" if (plain_name(f), buffer) in AT_ROOT else ""


def in_place(f, buffer):
    return "".join(f", .in_place = WL_IN_PLACE_{where}" for where, sides in IN_PLACE.items()
                   for side, names in sides if side == buffer and plain_name(f) in names)


def own_part(f, types):
    """A rank's own part of the side that has a part for each rank is not its other buffer."""
    sides = {"Gather": ("send", "recv"), "Allgather": ("send", "recv"), "Scatter": ("recv", "send")}
    name = plain_name(f)
    if name.rstrip("v") in sides and f.implementation == "collective":
        one, all_ranks = sides[name.rstrip("v")]
        displs = all_ranks[0] + "displs"
        part = (f".each = {all_ranks}count" if displs not in types else
                f".{'wide_displs' if 'MPI_Aint' in types[displs] else 'displs'} = {displs}")
        root = ", .at_root = true" if f.has("root") else ""
        yield (f"{{WL_ARG_OWN_PART, .place = {one}buf, .other = {all_ranks}buf, .count = {one}count, "
               f".handle = {all_ranks}type, {part}{root}}}")


def buffers(f, done):
    """Adds to `done` the parameters that need no check of their own."""
    types = {p.name: p.type for p in f.parameters}
    for buffer, count, datatype in BUFFERS:
        if datatype in types and buffer in types and "*" not in types.get(count, "*"):
            done |= {count, datatype}
            place = "(const void *)1" if buffer == "target_rank" else f"(const void *){buffer}"
            yield (f"{{WL_ARG_DATA, .place = {place}, .count = {count}, .handle = {datatype}"
                   f"{at_root(f, buffer)}{in_place(f, buffer)}}}")
    counts = [name for name in ("count", "sendcount", "recvcount") if name in types]
    if f.implementation == "collective" and "sendbuf" in types and "eighbor" not in f.base:
        root = at_root(f, "recvbuf") or at_root(f, "sendbuf")
        yield f"{{WL_ARG_ALIAS, .place = sendbuf, .other = recvbuf, .count = {(counts + ['1'])[0]}{root}}}"
    yield from own_part(f, types)
    if f.base == "Reduce_local":
        yield "{WL_ARG_PLACE, .place = inbuf}"
        yield "{WL_ARG_PLACE, .place = inoutbuf}"
        yield "{WL_ARG_ALIAS, .place = inbuf, .other = inoutbuf, .count = count}"


def epoch(f):
    """Whether a call fits the epochs of its window."""
    if (f.implementation or "").startswith("one_sided"):
        yield "{WL_ARG_EPOCH, .count = win, .handle = target_rank}"
    elif f.base == "Win_free":
        yield "{WL_ARG_EPOCH, .count = win != NULL ? *win : MPI_WIN_NULL, .handle = -1}"
    elif re.match("Win_(fence|lock|unlock|flush|start|complete|post|wait|test)", f.base):
        yield f"{{WL_ARG_EPOCH, .count = win, .handle = {'rank' if f.has('rank') else '-1'}}}"


def handle(f, p):
    if f.base == "Compare_and_swap" and p.name == "datatype":
        return "{WL_ARG_SWAPPED, .handle = datatype}"
    if p.type in HANDLES and p.name != "peer_comm" and (p.type != "MPI_Info" or f.base.startswith("Info_")):
        null = ", .or_null = true" if f.base in OR_NULL else ""
        of = ", .count = datatype" if p.type == "MPI_Op" and f.has("datatype") else ""
        return f"{{WL_ARG_{HANDLES[p.type]}, .handle = {p.name}{of}{null}}}"
    kind, member = READS.get(f.base, ("", ""))
    if kind and p.type == kind + " *":
        flag = f", .{member} = true" if member else ""
        return f"{{WL_ARG_{HANDLES[kind]}, .place = {p.name}, .indirect = true{flag}}}"
    return ""


def value(f, p):
    if p.name in LISTS and f.has("n"):
        return f"{{WL_ARG_LIST, .place = {p.name}, .count = n}}"
    if p.name == "requests":
        return f"{{WL_ARG_REQUESTS, .place = requests, .count = {'count' if f.has('count') else 'incount'}}}"
    if p.type == "const char *" and p.name in TEXTS:
        return f"{{WL_ARG_{TEXTS[p.name]}, .place = {p.name}}}"
    if p.name == "keyval" and re.search("free", f.base):
        return "{WL_ARG_KEYVAL, .place = keyval, .indirect = true}"
    if "*" in p.type:
        found = p.name in RESULTS and "const" not in p.type and "void" not in p.type
        return f"{{WL_ARG_RESULT, .place = {p.name}}}" if found else ""
    if p.name == "keyval" and re.search("set_attr|put|delete", f.base):
        return "{WL_ARG_KEYVAL, .handle = keyval}"
    if p.name == "keyval" and re.search("get", f.base):
        return "{WL_ARG_KEYVAL, .handle = keyval, .or_null = true}"
    if p.name == "rank" and re.match("Win_(lock|unlock|flush|flush_local)$", f.base):
        return "{WL_ARG_TARGET, .handle = rank}"
    if p.name in RANKS:
        return f"{{WL_ARG_{RANKS[p.name]}, .handle = {p.name}}}"
    return f"{{WL_ARG_{NUMBERS[p.name]}, .count = {p.name}}}" if p.name in NUMBERS else ""


def rows(f):
    """Those of a function."""
    if f.is_missing or f.base.startswith(("T_", "Status_", "Init", "Register")):
        return []
    done = set()
    found = list(buffers(f, done))
    return [row for p in f.parameters if p.name not in done and not p.array
            for row in [handle(f, p) or value(f, p)] if row] + found + list(epoch(f))
