#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wrappers of all MPI calls, as calls.txt says, for the MPI of a compiler.

usage: generate.py calls.txt PREPROCESSED_MPI_H mpich|openmpi OUTPUT_C WEAK_H

WEAK_H makes everything of the MPI library a weak symbol: the library is also loaded into the
launcher and other programs that have none.

Fortran entries are wrapped too where they do not pass through the C ones: with Open MPI all of
them, mpi_send_ and its spellings and mpi_send_f08_; with MPICH those of mpi_f08 that take no
buffer. Their arguments are addresses; what a hook needs of them becomes C first.
"""
import pathlib
import re
import sys

PROTOTYPE = re.compile(r"\bint\s+PMPI_(\w+)\s*\(([^;{}]*?)\)\s*(?:__attribute__[^;]*)?;")
# Handles of other languages, tools' own interface, functions that are arguments.
NEVER = re.compile(r"MPI_T_|MPI_\w+_(c2f|f2c|c2f08|f082c)$|MPI_\w*(_FN|FN_NULL|_FN_NULL)$|"
                   r"MPI_\w+_FN_\w+$|MPI_Session_|MPIX_")
HANDLES = {"MPI_Comm": "Comm", "MPI_Datatype": "Type", "MPI_Request": "Request",
           "MPI_Win": "Win", "MPI_Message": "Message", "MPI_Op": "Op", "MPI_Info": "Info",
           "MPI_Group": "Group"}
# By library: the Fortran entries that are wrapped, and how the real ones are called.
STYLES = {"openmpi": [("plain", "p"), ("f08", "p")], "mpich": [("f08", "pmpir")]}
# Calls of mpi_f08 that take an address, and are no different for it.
TAKES_ADDRESS = {"MPI_Win_allocate", "MPI_Win_allocate_shared"}
HEAD = """/* Made by src/mpi/capture/generate.py; do not edit. */
#include "mpi/capture/fortran.h"
#include "mpi/capture/hooks.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
"""


class Call:
    """One MPI function: its name and the types of its arguments."""

    def __init__(self, name, arguments):
        self.name = "MPI_" + name
        self.types = [] if arguments.strip() in ("", "void") else [
            self.type_of(a) for a in split(arguments)]

    @staticmethod
    def type_of(argument):
        """'const int counts[]' without its name; arrays become pointers."""
        argument = " ".join(argument.split())
        if "(*" in argument or argument == "...":
            raise ValueError(argument)
        rows = argument.endswith("[][3]")
        argument = re.sub(r"\[\](\[3\])?$", "", argument)
        array = re.search(r"\[\]", argument) is not None
        match = re.match(r"^(.*?[\s*])(\w+)$", argument.replace("[]", ""))
        base = (match[1] if match else argument).strip()
        return base, rows, array

    def declared(self, brackets):
        """The parameters, a1 to an; `brackets` says which are arrays."""
        parts = []
        for i, (base, rows, _) in enumerate(self.types, 1):
            if rows:
                parts.append(f"{base} a{i}[][3]")
            elif i - 1 in brackets:
                parts.append(f"{base} a{i}[]")
            else:
                parts.append(f"{base} a{i}")
        return ", ".join(parts) or "void"

    def passed(self):
        return ", ".join(f"a{i}" for i in range(1, len(self.types) + 1))


def split(arguments):
    parts, depth, part = [], 0, ""
    for c in arguments:
        depth += c in "(["
        depth -= c in ")]"
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part]


def read_prototypes(path):
    calls = {}
    for name, arguments in PROTOTYPE.findall(path.read_text(errors="replace")):
        full = "MPI_" + name
        if NEVER.search(full) or full in calls:
            continue
        try:
            call = Call(name, arguments)
        except ValueError:
            continue
        call.brackets = {i for i, a in enumerate(split(arguments))
                         if a.rstrip().endswith("[]")}
        calls[full] = call
    return calls


def nonblocking(name):
    return "MPI_I" + name[4].lower() + name[5:]


def read_table(path):
    """{name: (before, after)}, names that are left alone, names that others wrap."""
    hooks, untouched, by_hand = {}, set(), set()
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        names, rule = (part.strip() for part in line.split(" : " if " : " in line else ":", 1))
        if names in ("untouched", "by hand"):
            (untouched if names == "untouched" else by_hand).update(rule.split())
            continue
        before, _, after = rule.rpartition("|")
        for name in names.split():
            hooks[name.rstrip("+")] = (before.strip(), after.strip())
            if name.endswith("+"):
                hooks[nonblocking(name.rstrip("+"))] = (before.strip(), after.strip())
    return hooks, untouched, by_hand


def hook_code(text, call, number):
    """The statements of a rule of the table."""
    base = re.sub(r"_c$", "", call.name)
    request = f"a{len(call.types)}" if call.types and is_request(call.types[-1][0]) else "NULL"
    out = []
    for statement in filter(None, (s.strip() for s in re.split(r";", text))):
        target, equals, hook = statement.partition(" = ")
        if not equals:
            target, hook = "", statement
        function, rest = hook.split("(", 1)
        rest = "" if rest == ")" else ", " + rest[:-1]
        code = f"{target + ' = ' if target else ''}wf_cap_on_{function}(&call{rest});"
        code = code.replace("$K", "WF_OP_" + base[4:].upper()).replace("$N", str(number))
        code = code.replace("$R", request)
        out.append(re.sub(r"\$(\d+)", r"a\1", code))
    return out


def weak_symbols(header):
    text = header.read_text(errors="replace")
    names = set(re.findall(r"\bP?MPI_[A-Z][a-z]\w*(?=\s*\()", text))
    names |= set(re.findall(r"\bextern\b[^;]*?\b(ompi_\w+|MPI_\w+)\s*\)?;", text))
    return ["/* Made by src/mpi/capture/generate.py; do not edit. */", "#include <mpi.h>"] + [
        f"#pragma weak {name}" for name in sorted(names) if not name.startswith("MPI_")
        or name.startswith("MPI_F_")] + [""]


def is_request(base):
    return base.replace(" ", "") == "MPI_Request*"


def wrapper(call, rule, number, name=None):
    """The C function."""
    before, after = rule if rule else ("", f"named({number})")
    lines = [f"WF_EXPORT int {name or call.name}({call.declared(call.brackets)})", "{",
             "    struct wf_cap_call call;", "",
             "    if (!wf_cap_enter(&call)) {",
             f"        return P{call.name}({call.passed()});", "    }"]
    lines += ["    " + s for s in hook_code(before, call, number)]
    lines += [f"    int rc = P{call.name}({call.passed()});",
              "    if (wf_cap_returned(&call, rc)) {"]
    lines += ["        " + s for s in hook_code(after, call, number)]
    return lines + ["    }", "    wf_cap_leave(&call);", "    return rc;", "}", ""]


# ---- Fortran ----

def has_fortran(call, mpi):
    """Lists of texts are passed in ways of their own, and such calls are rare."""
    if mpi == "mpich" and call.name not in TAKES_ADDRESS and any(
            "void *" in t[0] for t in call.types):
        return False
    return not call.name.endswith("_c") and not any("char **" in t[0] or "char *" in t[0] and
                                                    t[2] for t in call.types)


def fortran_names(name, style):
    lower = name.lower()
    return [f"{lower}_f08_"] if style == "f08" else [
        f"{lower}_", lower, f"{lower}__", name.upper()]


def convert(i, base, used, counted):
    """(statements that make C's a<i> of Fortran's f<i>, what is passed on for it)."""
    plain = base.replace("const ", "").strip()
    if not used:
        return [], f"f{i}"
    if plain == "void *":
        return [f"void *a{i} = wf_cap_from_fortran_buffer(f{i});"], f"f{i}"
    if plain in HANDLES:
        return [f"{plain} a{i} = PMPI_{HANDLES[plain]}_f2c(*(MPI_Fint *)f{i});"], f"f{i}"
    pointed = plain.rstrip("* ")
    if plain.endswith("*") and pointed == "MPI_Status":
        return [f"MPI_Status *a{i} = wf_cap_from_fortran_status(f{i});"], f"wf_cap_to_fortran_status(a{i}, f{i})"
    if plain.endswith("*") and pointed in HANDLES:
        if counted:
            return [f"MPI_Request *a{i} = wf_cap_from_fortran_requests(&call, a1, f{i});"], f"f{i}"
        if pointed == "MPI_Datatype":
            return [f"MPI_Datatype *a{i} = NULL; /* below */"], f"f{i}"
        kind = HANDLES[pointed]
        return [f"{pointed} h{i} = PMPI_{kind}_f2c(*(MPI_Fint *)f{i});",
                f"{pointed} *a{i} = &h{i};"], f"f{i}"
    if plain.endswith("*"):
        return [f"{base} a{i} = f{i};" if base.endswith("*") else f"{base} *a{i} = f{i};"], f"f{i}"
    return [f"{plain} a{i} = *({plain} *)f{i};"], f"f{i}"


def fortran(call, rule, number, style, prefix):
    """The Fortran entries of one call."""
    before, after = rule if rule else ("", f"named({number})")
    request = len(call.types) if call.types and is_request(call.types[-1][0]) else 0
    used = {int(n) for n in re.findall(r"\$(\d+)", before + after)}
    if "$R" in after and request:
        used.add(request)
    names = fortran_names(call.name, style)
    real = "p" + names[0] if prefix == "p" else prefix + names[0][3:]
    n = len(call.types)
    texts = sum(t[0].replace("const ", "").strip() == "char *" for t in call.types)
    params = [f"void *f{i}" for i in range(1, n + 1)] + ["void *ierr"]
    params += [f"size_t l{i}" for i in range(1, texts + 1)]
    arrays = call.brackets if before.startswith("keep(a") or "keep($1" in before else set()
    prologue, passed, outputs = [], [], []
    for i, (base, _, is_array) in enumerate(call.types, 1):
        base = base + (" *" if i - 1 in call.brackets and not base.endswith("*") else "")
        if i - 1 in call.brackets and base.endswith("*"):
            base = call.types[i - 1][0] + " *"
        pointed = base.replace("const ", "").rstrip("* ").strip()
        counted = pointed == "MPI_Request" and i - 1 in call.brackets
        statements, argument = convert(i, base, i in used or (counted and arrays), counted)
        prologue += statements
        passed.append(argument)
        if i in used and base.endswith("*") and pointed in HANDLES and not counted \
                and pointed != "MPI_Datatype":
            outputs.append(f"h{i} = PMPI_{HANDLES[pointed]}_f2c(*(MPI_Fint *)f{i});")
        if i in used and pointed == "MPI_Datatype" and base.endswith("*"):
            outputs.append(f"a{i} = wf_cap_from_fortran_types(&call, a9, f{i});")
    rest = [f"l{i}" for i in range(1, texts + 1)]
    forward = ", ".join([f"f{i}" for i in range(1, n + 1)] + ["&rc"] + rest)
    changed = ", ".join(passed + ["&rc"] + rest)
    lines = [f"void {real}({', '.join(params)});", f"#pragma weak {real}",
             f"WF_EXPORT void {names[0]}({', '.join(params)})", "{",
             "    struct wf_cap_call call;", "    MPI_Fint rc = MPI_SUCCESS;", "",
             "    if (!wf_cap_enter(&call)) {", f"        {real}({forward});",
             "        wf_cap_fortran_error(ierr, rc);", "        return;", "    }",
             "    call.first_index = 1;"]
    lines += ["    " + s for s in prologue]
    lines += ["    " + s for s in hook_code(before, call, number)]
    lines += [f"    {real}({changed});", "    if (wf_cap_returned(&call, rc)) {"]
    lines += ["        " + s for s in outputs]
    lines += ["        " + s for s in hook_code(after, call, number)]
    lines += ["    }", "    wf_cap_leave(&call);", "    wf_cap_fortran_error(ierr, rc);", "}"]
    for other in names[1:]:
        lines.append(f"WF_EXPORT void {other}({', '.join(params)}) "
                     f"__attribute__((alias(\"{names[0]}\")));")
    return lines + [""]


def main():
    mpi = sys.argv.pop(3)
    table, header, output, weak = (pathlib.Path(a) for a in sys.argv[1:])
    calls = read_prototypes(header)
    hooks, untouched, by_hand = read_table(table)
    names = sorted(calls)
    lines = [HEAD]
    for number, name in enumerate(names):
        if name in untouched or name in by_hand:
            continue
        rule = hooks.get(name) or hooks.get(re.sub(r"_c$", "", name))
        lines += wrapper(calls[name], rule, number)
        if has_fortran(calls[name], mpi):
            for style, prefix in STYLES[mpi]:
                lines += fortran(calls[name], rule, number, style, prefix)
    lines.append("const char *const wf_cap_call_names[] = {")
    lines += [f'    "{name}",' for name in names]
    lines += ["};", f"const unsigned wf_cap_n_call_names = {len(names)};", ""]
    output.write_text("\n".join(lines))
    weak.write_text("\n".join(weak_symbols(header)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
