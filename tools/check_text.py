#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on text that does not belong in the repository: paths and hosts of somebody's machine,
files without a licence line, stray white space.

usage: check_text.py [ROOT]
"""
import pathlib
import re
import sys

import tree

# Written so that this file passes its own check.
FORBIDDEN = [
    (re.compile(r"(?<![\w.})/-])/(?:wor[k]|roo[t]|hom[e]|User[s])/"),
     "a path of one machine"),
    (re.compile(r"\b(?:registr[y]|artifactor[y]|nexu[s]|mirro[r])s?\.[\w.-]+"
                r"\.(?:com|org|net|io|dev)\b"),
     "a package registry"),
    (re.compile(r"://[\w.-]+\.(?:interna[l]|corp|lan|local|cluste[r])\b"),
     "a host of a private network"),
]
LICENSE_LINE = "SPDX-License-Identifier: Apache-2.0"
LICENSED = {".c", ".def", ".h", ".py", ".sh", ".cmake", ".css", ".js"}
LICENSED_NAMES = {"CMakeLists.txt", "Makefile"}
# Bytes as they came: inputs of tests, expected outputs.
DATA = ("tests/data/", "tests/fuzz/corpus/", "tests/golden/")


def needs_license(path, text):
    return (path.suffix in LICENSED or path.name in LICENSED_NAMES
            or (not path.suffix and text.startswith("#!")))


def faults(path, text):
    data = str(path).startswith(DATA)
    if not data and needs_license(path, text):
        if LICENSE_LINE not in "\n".join(text.split("\n")[:3]):
            yield 1, f"no '{LICENSE_LINE}' in the first three lines"
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, what in FORBIDDEN:
            match = pattern.search(line)
            if match:
                yield number, f"'{match[0]}' is {what}"
        if data or path.suffix == ".md":
            continue
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if "\t" in line and path.suffix in LICENSED:
            yield number, "a tab"
    if text and not data and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end of the file"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    failed = 0
    for path in tree.files(root):
        raw = (root / path).read_bytes()
        if b"\0" in raw:
            continue
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            if not str(path).startswith(DATA):
                print(f"{path}: not UTF-8")
                failed += 1
            continue
        for number, what in faults(path, text):
            print(f"{path}:{number}: {what}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
