#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists C files and functions that are longer than is easy to read, and fails on those that are
far too long.

usage: check_sizes.py [--record] [ROOT]

The list is advice: a table is allowed to be long, and cutting a file in two for its length makes
it harder to read. The last line compares the numbers with tools/size_trend.txt, which keeps them
for each version; --record writes those of now for the version in VERSION.

The lines of src/ have a budget, tools/size_budget.txt. A change that goes beyond it raises it, and
says in its commit what the lines replace or why they are worth it.
"""
import pathlib
import re
import sys

import tree

FILE_ADVICE, FILE_LIMIT = 600, 1000
FUNCTION_ADVICE, FUNCTION_LIMIT = 60, 100
TREND = "tools/size_trend.txt"
BUDGET = "tools/size_budget.txt"
TREND_HEAD = "# version, files over 600 lines, functions over 60 lines, lines of src/\n"
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


def read_trend(path):
    """The rows of the file, as lists of words."""
    text = path.read_text() if path.exists() else ""
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def words_of_budget(path, lines):
    """What is left of the budget of lines, or what is missing."""
    if not path.exists():
        return ""
    budget = int(path.read_text())
    left = budget - lines
    return f", budget {budget}: {left} left" if left >= 0 else f", budget {budget}: {-left} too many"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--record"]
    root = pathlib.Path(arguments[0] if arguments else ".")
    long_files, long_functions, too_long, src_lines = [], [], 0, 0
    for path in tree.files(root, ".c", ".h"):
        lines = (root / path).read_text().splitlines()
        src_lines += len(lines) if path.parts[0] == "src" else 0
        if len(lines) > FILE_ADVICE:
            long_files.append(f"{path} has {len(lines)} lines")
            too_long += len(lines) > FILE_LIMIT
        for name, number, length in functions(lines):
            if length > FUNCTION_ADVICE:
                long_functions.append(f"{path}:{number}: {name} has {length} lines")
                too_long += length > FUNCTION_LIMIT
    print("\n".join(long_files + long_functions))
    now = [(root / "VERSION").read_text().strip(), str(len(long_files)),
           str(len(long_functions)), str(src_lines)]
    rows = read_trend(root / TREND)
    before = f" ({rows[-1][0]}: {', '.join(rows[-1][1:])})" if rows else ""
    print(f"{now[1]} long files, {now[2]} long functions, {now[3]} lines of src/"
          f"{words_of_budget(root / BUDGET, src_lines)}{before}")
    if "--record" in sys.argv:
        rows = [row for row in rows if row[0] != now[0]] + [now]
        (root / TREND).write_text(TREND_HEAD + "".join(" ".join(row) + "\n" for row in rows))
    if too_long:
        print(f"{too_long} of these are over the limit: {FILE_LIMIT} lines for a file, "
              f"{FUNCTION_LIMIT} for a function")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
