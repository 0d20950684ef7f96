#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if src/ has a function that nobody calls, or that could be static.

usage: check_unused.py [ROOT]

A function that only tests call counts as unused: it is there for nothing that a user sees. The
few that tests need to look inside are listed in tools/unused_allowed.txt, one a line:
    NAME REASON
An entry that nothing needs any more is a failure too.
"""
import pathlib
import re
import sys

import tree

ALLOWED = "tools/unused_allowed.txt"
# Called by programs, by the linker, and by generated code.
FOREIGN = re.compile(r"P?MPI_\w+|wl_MPI_\w+|wl_libc_\w+|wl_collective_init|p?mpi_\w+|__wrap_\w+|__tsan_\w+|main")
# Folders with functions of others: of the C library, or of modules that a page cannot have.
FOREIGN_FOLDERS = {"libc_replacements", "replacements"}
# Names that a generator puts together from this beginning and a word of its input.
GENERATED = "wf_cap_on_"
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
# clang-format puts the brace of a function, and of nothing else, in column 0 after its head.
FUNCTION = re.compile(r"^(?![\s#}])((?:[^;{}#\n]+\n)+)\{\n(.*?)^\}", re.M | re.S)
HEAD_NAME = re.compile(r"(\w+)\s*\((?!\()")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|WF_PRINTF\([^)]*\)")


def functions(text):
    """(name, is static, body) of every function that a text defines."""
    for match in FUNCTION.finditer(text):
        head = ATTRIBUTE.sub(" ", match[1])
        name = HEAD_NAME.search(head)
        if name:
            yield name[1], bool(re.search(r"\bstatic\b", head)), match[2]


def words(text):
    return set(WORD.findall(text))


def uses_in_header(text):
    """The words of a header that are no declarations: bodies of functions, and macros."""
    bodies = "".join(body for _, _, body in functions(text))
    macros = "".join(re.findall(r"^#\s*define\b(?:.*\\\n)*.*\n", text, re.M))
    return words(bodies + macros)


def read_allowed(root):
    path = root / ALLOWED
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


class Tree:
    """Who defines and who mentions which words."""

    def __init__(self, root):
        self.defined = {}  # name: (path, is static, uses in its own file)
        self.uses = {}  # path: words
        self.public = set()
        self.tests = set()
        for path in tree.files(root):
            parts = path.parts
            if parts[0] == "src" and path.suffix in (".c", ".h"):
                self.read_source(path, COMMENT.sub(" ", (root / path).read_text()))
            elif parts[0] == "src" and path.suffix in (".py", ".txt", ".def", ".in", ".S"):
                found = words((root / path).read_text())
                self.uses[path] = found | {GENERATED + word for word in found}
            elif parts[0] == "include":
                self.public |= words((root / path).read_text())
            elif parts[0] == "tests" and path.suffix in (".c", ".h"):
                self.tests |= words(COMMENT.sub(" ", (root / path).read_text()))

    def read_source(self, path, text):
        self.uses[path] = words(text) if path.suffix == ".c" else uses_in_header(text)
        for name, is_static, _ in functions(text):
            if path.suffix == ".c" and is_static:
                continue
            own = len(re.findall(rf"\b{name}\b", text)) > 1
            self.defined.setdefault(name, (path, own))

    def faults(self):
        mentioned = {}
        for path, found in self.uses.items():
            for word in found & self.defined.keys():
                mentioned.setdefault(word, set()).add(path)
        for name, (path, own) in sorted(self.defined.items(), key=lambda item: str(item[1][0])):
            if (name in self.public or FOREIGN.fullmatch(name)
                    or FOREIGN_FOLDERS & set(path.parts)):
                continue
            if mentioned.get(name, set()) - {path}:
                continue
            if path.suffix == ".h" and own:
                continue
            if own and name in self.tests:
                continue
            if own:
                yield name, f"{path}: only this file uses {name}: make it static"
            elif name in self.tests:
                yield name, f"{path}: only tests call {name}"
            else:
                yield name, f"{path}: nobody calls {name}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    allowed = read_allowed(root)
    found = dict(Tree(root).faults())
    failed = 0
    for name, fault in found.items():
        if name not in allowed:
            print(fault)
            failed += 1
    for name in sorted(allowed - found.keys()):
        print(f"{ALLOWED}: {name} needs no entry")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
