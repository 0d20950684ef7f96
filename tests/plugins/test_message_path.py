# SPDX-License-Identifier: Apache-2.0
"""docs/dev/architecture.md follows one message through the files: each of them takes part in that run.

usage: test_message_path.py PROGRAM

The command of the section runs under callgrind, which tells the functions of each file that were executed. PROGRAM
is a weft without optimisation and with line numbers: the one that the test of plug-ins has built. Every file that
the section names must have executed something, and every file of the rooms below that has a large share of the
functions must be named. Without valgrind the test is skipped.
"""
import collections
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
PAGE, TITLE = SOURCE / "docs/dev/architecture.md", "## The path of one message"
# Where a message is made, travels and is counted; below src/.
ROOMS = ("engine/", "run/", "model/net/", "model/ranks/")
SHARE = 0.012  # of the functions that were executed
SKIPPED = 77


def section():
    _, found, text = PAGE.read_text(encoding="utf-8").partition(f"\n{TITLE}\n")
    assert found, f"{PAGE.name} has no section '{TITLE}'"
    return text.partition("\n## ")[0]


def named_files(text):
    """The .c files that the section names, as patterns below src/. Names without a folder are alternatives."""
    return [word for word in re.findall(r"`([\w/*.-]+)`", text) if "/" in word and word.endswith(".c")]


def executed(path):
    """The functions that ran, by file, from a file of callgrind. Names are given once, then by number."""
    names = {"fl": {}, "fn": {}}
    functions, file = collections.defaultdict(set), None
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        match = re.match(r"(c?)(fl|fi|fe|fn)=\((\d+)\)(?: (.*))?$", line)
        if not match:
            continue
        called, what, number, name = match.groups()
        table = names["fn" if what == "fn" else "fl"]
        if name is not None:
            table[number] = name
        if what == "fl" and not called:
            file = table[number]
        elif what == "fn" and not called:
            functions[file].add(table[number])
    return functions


def functions_of_files(program, command):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind.out", program, *command],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {name.rpartition("/src/")[2]: len(functions)
             for name, functions in executed("callgrind.out").items() if "/src/" in name and name.endswith(".c")}
    assert len(found) > 50, f"only {len(found)} files: was {program} built with line numbers?"
    return found


def main():
    if shutil.which("valgrind") is None:
        print("valgrind is not installed")
        return SKIPPED
    text = section()
    words = shlex.split(re.search(r"`weft ([^`]+)`", text)[1])
    ran, patterns = functions_of_files(sys.argv[1], words), named_files(text)
    faults = [f"src/{pattern} is named, but nothing of it ran" for pattern in patterns
              if not any(pathlib.PurePath(name).match(pattern) for name in ran)]
    most = SHARE * sum(ran.values())
    faults += [f"{count} functions of src/{name} ran, but the section does not name it"
               for name, count in sorted(ran.items()) if count > most and name.startswith(ROOMS)
               and not any(pathlib.PurePath(name).match(pattern) for pattern in patterns)]
    print("\n".join(faults) or f"{len(patterns)} files took part, of {len(ran)} that ran")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
