#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a test is in the tree but not in tests/CMakeLists.txt: it would never run.

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
    """The pattern of the line in tests/CMakeLists.txt that the file needs, or None."""
    if path.parts[0] != "tests" or path.parts[1] not in TESTS or not PREFIX.match(path.stem):
        return None
    name = "/".join([*path.parts[2:-1], PREFIX.sub("", path.stem)])
    return TESTS[path.parts[1]].format(re.escape(name))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    listing = (root / "tests/CMakeLists.txt").read_text()
    failed = 0
    for path in tree.files(root, ".c"):
        pattern = expected(path)
        if pattern is not None and not re.search(pattern, listing):
            print(f"{path} is not in tests/CMakeLists.txt")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
