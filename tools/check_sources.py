#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a test is in the tree but not in tests/CMakeLists.txt: it would never run. Fails also
if a file is opened for reading elsewhere than in the readers that have limits, or those of the
system's own files.

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


# What may be a device, a pipe or endless is opened by these; the other files that they list read
# files of the system or of weft itself, or what a child of weft says. Programs that run are trusted (SECURITY.md).
READERS = {"src/base/file.c", "src/program/trace/kit/infile.c", "src/program/trace/weft/file.c"}
OWN = {"src/base/clock.c", "src/base/os_watch.c", "src/base/temp.c", "src/ui/cli/calibrate_kernels.c",
       "src/ui/cli/progress_reading.c", "src/program/trace/otf2/anchor.c"}
TRUSTED = ("src/mpi/",)
OPENS = re.compile(r"\bopen(?:at)?\([^;]*O_RD|\bfopen\([^;]*\"r|\bget(?:line|delim)\(|\bfgets\(")


def opens(path, text):
    """Lines of a file of src/ that open a file for reading and must not."""
    name = path.as_posix()
    if not name.startswith("src/") or name in READERS | OWN or name.startswith(TRUSTED):
        return []
    return [text[:m.start()].count("\n") + 1 for m in OPENS.finditer(text)]


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
        for line in opens(path, (root / path).read_text(errors="replace")):
            print(f"{path}:{line}: opens a file; base/file.h and program/trace/kit/infile.h have "
                  "readers with limits")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
