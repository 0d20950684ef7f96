#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a C file is in the tree but not in the build: lists are explicit, and a forgotten
line would be a test that never runs.

usage: check_sources.py [ROOT]
"""
import pathlib
import re
import sys

import tree

TESTS = {
    "unit": r"weft_unit_test\({}\b",
    "conformance": r"weft_conformance_test\({}\b",
    "equivalence": r"weft_equivalence_test\({}\b",
    "fuzz": r"weft_fuzz_target\({}\b",
    "bench": r"weft_benchmark\({}\b",
}
PREFIX = re.compile(r"^(test|fuzz|bench)_")


def expected(path):
    """(the CMakeLists.txt that should name the file, the pattern of the name there)."""
    if path.parts[0] == "src" and len(path.parts) > 2:
        name = "/".join(path.parts[2:])
        return pathlib.PurePosixPath(*path.parts[:2]), rf"(?<![\w/]){re.escape(name)}\b"
    if path.parts[0] == "tests" and path.parts[1] in TESTS and PREFIX.match(path.stem):
        name = PREFIX.sub("", path.stem)
        return pathlib.PurePosixPath("tests"), TESTS[path.parts[1]].format(re.escape(name))
    return None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    failed = 0
    for path in tree.files(root, ".c"):
        where = expected(path)
        if where is None:
            continue
        listing = root / where[0] / "CMakeLists.txt"
        if not listing.exists() or not re.search(where[1], listing.read_text()):
            print(f"{path} is not in {where[0]}/CMakeLists.txt")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
