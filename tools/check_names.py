#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a name in src/ could mean two things.

usage: check_names.py [--show] [ROOT]

- No struct, union, enum or typedef whose name begins with wf_ or wl_ is defined twice. Names
  without that beginning are local to a .c file.
- A function or object that other files can see begins with a prefix of its module, so that
  its name tells where it is. tools/name_prefixes.txt has a line for each module:
      MODULE PREFIX...
  No prefix belongs to two modules. The functions of include/weft are exempt.

--show prints the prefixes that are in use, in the form of the file.
"""
import collections
import pathlib
import re
import sys

import check_unused
import tree

PREFIXES = "tools/name_prefixes.txt"
TAG = re.compile(r"^(?:typedef )?(?:struct|enum|union) (?:__attribute__\S* )?(w[fl]_\w+) \{", re.M)
TYPEDEF = re.compile(r"^typedef [^;{]*?\b(w[fl]_\w+)\)?(?:\([^;]*\))?;", re.M)
# const tables that the .def lists declare, and other objects defined at the start of a line.
OBJECT = re.compile(r"^(?!static|extern|typedef|return|struct \w+ \{)"
                    r"(?:const |_Thread_local |volatile )*(?:struct |enum )?\w+ \**(?:const )?"
                    r"(\w+)(?:\[[^\]]*\])* = ", re.M)


def read_prefixes(path):
    """{module: [prefix]} of the file."""
    table = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            module, *prefixes = line.split()
            table[module] = prefixes
    return table


def module_of(path, table):
    """The longest module of the table that holds a path of src/."""
    parts = list(path.parts[1:-1])
    while parts and "/".join(parts) not in table:
        parts.pop()
    return "/".join(parts) or path.parts[1]


def externals(text):
    """The names that a .c file shows to other files."""
    for name, is_static, _ in check_unused.functions(text):
        if not is_static:
            yield name
    yield from OBJECT.findall(text)


def public_names(root):
    """The words of the installed headers."""
    headers = (path for path in tree.files(root, ".h") if path.parts[0] == "include")
    return set().union(*(check_unused.words((root / path).read_text()) for path in headers))


def sources(root):
    for path in tree.files(root, ".c", ".h"):
        if path.parts[0] == "src" and not check_unused.FOREIGN_FOLDERS & set(path.parts):
            yield path, check_unused.COMMENT.sub(" ", (root / path).read_text())


def faults(root, table):
    defined = {}
    owners = collections.defaultdict(list)
    public = public_names(root)
    for module, prefixes in table.items():
        for prefix in prefixes:
            owners[prefix].append(module)
    for prefix, modules in owners.items():
        if len(modules) > 1:
            yield f"{PREFIXES}: {prefix} belongs to {' and '.join(modules)}"
    for path, text in sources(root):
        for name in TAG.findall(text) + TYPEDEF.findall(text):
            if defined.setdefault(name, path) != path:
                yield f"{path}: {name} is also defined in {defined[name]}"
        if path.suffix != ".c":
            continue
        prefixes = table.get(module_of(path, table), [])
        for name in externals(text):
            if not (name.startswith(tuple(prefixes)) or name in public
                    or check_unused.FOREIGN.fullmatch(name)):
                yield f"{path}: {name} does not begin with a prefix of its module"


def show(root, table):
    found = collections.defaultdict(collections.Counter)
    for path, text in sources(root):
        for name in externals(text) if path.suffix == ".c" else []:
            if not check_unused.FOREIGN.fullmatch(name):
                words = name.split("_")
                found[module_of(path, table)]["_".join(words[:2]) + "_" * (len(words) > 2)] += 1
    for module in sorted(found):
        print(module, *(prefix for prefix, _ in found[module].most_common()))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--show"]
    root = pathlib.Path(arguments[0] if arguments else ".")
    table = read_prefixes(root / PREFIXES)
    if "--show" in sys.argv:
        show(root, table)
        return 0
    found = list(faults(root, table))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
