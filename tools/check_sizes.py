#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a C file or function is longer than the limits below.

usage: check_sizes.py [ROOT]

tools/size_exceptions.txt grants exceptions, one a line:
    PATH LIMIT REASON            for a file
    PATH:FUNCTION LIMIT REASON   for a function
An exception nothing needs any more is a failure too.
"""
import pathlib
import re
import sys

import tree

FILE_LINES = {".c": 600, ".h": 150}
FUNCTION_LINES = 60
TEST_FUNCTION_LINES = 100  # tables of cases
EXCEPTIONS = "tools/size_exceptions.txt"
NAME = re.compile(r"(\w+)\s*\(")


def functions(lines):
    """(name, number of its first line, lines from brace to brace). clang-format puts the
    braces of a function, and of no other block of statements, in column 0."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield name_above(lines, start), start, number - start + 1
            start = None


def name_above(lines, brace):
    """The name of the function whose body opens at this line."""
    at = brace - 2
    while at > 0 and lines[at].startswith((" ", "\t")):
        at -= 1
    match = NAME.search(lines[at])
    return match[1] if match else "?"


def read_exceptions(root):
    path = root / EXCEPTIONS
    table = {}
    if path.exists():
        for line in path.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                subject, limit, reason = line.split(None, 2)
                assert reason, line
                table[subject] = int(limit)
    return table


def sizes(root):
    """(subject, where, size, limit) of everything that has a limit."""
    for path in tree.files(root, ".c", ".h"):
        lines = (root / path).read_text().splitlines()
        yield str(path), str(path), len(lines), FILE_LINES[path.suffix]
        limit = TEST_FUNCTION_LINES if path.parts[0] == "tests" else FUNCTION_LINES
        for name, number, length in functions(lines):
            yield f"{path}:{name}", f"{path}:{number}: {name}", length, limit


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    exceptions = read_exceptions(root)
    needed, failed = set(), 0
    for subject, where, size, limit in sizes(root):
        if size <= limit:
            continue
        needed.add(subject)
        granted = exceptions.get(subject, limit)
        if size > granted:
            print(f"{where} is {size} lines long, the limit is {granted}")
            failed += 1
    for subject in exceptions.keys() - needed:
        print(f"{EXCEPTIONS}: '{subject}' needs no exception")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
