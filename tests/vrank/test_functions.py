# SPDX-License-Identifier: Apache-2.0
"""Every function of MPI-4.0 is declared and can be linked with, as MPI_ and as PMPI_. The reference
lists those that are not implemented; calling one ends the run with its name."""
import fnmatch
import re
import subprocess

import vrank

LIST = vrank.BUILD / "include/weft/functions.list"
REFERENCE = vrank.SOURCE / "docs/reference/mpi.md"
# Conversions of handles, which may be macros.
CONVERTED = ("Comm", "Type", "Op", "Request", "Group", "Info", "Errhandler", "Win", "Message",
             "File", "Session")
N_FUNCTIONS = 600


def listed():
    """The names of all functions, and of those that are marked as not implemented."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return ([line.removeprefix("- ") for line in lines],
            [line.removeprefix("- ") for line in lines if line.startswith("- ")])


def program(names):
    """It says how many functions there are, or calls one without arguments."""
    rows = "".join(f"    (function *){prefix}{name},\n" for name in names for prefix in ("", "P"))
    handles = "".join(f"    n += {prefix}{kind}_f2c({prefix}{kind}_c2f(0)) == 0;\n"
                      for kind in ("MPI_" + one for one in CONVERTED) for prefix in ("", "P"))
    return ("#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
            "typedef void function(void);\n"
            "static function *const all[] = {\n" + rows + "};\n"
            "int main(int argc, char **argv)\n{\n    int n = 0;\n"
            "    MPI_Init(&argc, &argv);\n"
            "    if (argc > 1) {\n        all[atoi(argv[1])]();\n    }\n" + handles +
            "    printf(\"%d functions, %d conversions\\n\", "
            "(int)(sizeof(all) / sizeof(all[0])), n);\n"
            "    return MPI_Finalize();\n}\n")


def run(*args):
    return subprocess.run([vrank.WEFT, "run", "-q", "-f", "-o", "result.json", "-n", "1", "--",
                           "./all", *args], text=True, capture_output=True, check=False,
                          timeout=60, stdin=subprocess.DEVNULL)


def build_all(names):
    with open("all.c", "w", encoding="utf-8") as out:
        out.write(program(names))
    done = subprocess.run([vrank.BUILD / "weftcc", "-w", "all.c", "-o", "all"], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        vrank.complain("not every function can be linked with", done.stderr)
        return False
    done = run()
    expected = f"{2 * len(names)} functions, {2 * len(CONVERTED)} conversions"
    if expected not in done.stdout:
        vrank.complain("all functions", done.stdout, done.stderr)
    return True


def named():
    """The names and patterns of the reference."""
    text = REFERENCE.read_text(encoding="utf-8")
    section = text.split("## Missing functions")[1].split("\n## ")[0]
    return re.findall(r"`(MPI_[\w*]+)`", section)


def check_missing(names, missing):
    for name in missing:
        done = run(str(2 * names.index(name)))
        words = f"{name}: weft does not have this function yet"
        if done.returncode != 4 or words not in done.stderr:
            vrank.complain(f"{name}: exit code {done.returncode}", done.stdout, done.stderr)


def check_reference(missing):
    patterns = named()
    for name in missing:
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            vrank.complain(f"{REFERENCE.name} does not say that {name} is not there")
    for pattern in patterns:
        if not fnmatch.filter(missing, pattern):
            vrank.complain(f"{REFERENCE.name} says that {pattern} is not there, but it is")


def main():
    names, missing = listed()
    if len(names) != N_FUNCTIONS or len(set(names)) != len(names):
        vrank.complain(f"{len(names)} functions are listed, and not {N_FUNCTIONS}")
    if build_all(names):
        print(f"{len(names)} functions, {len(missing)} are not there")
        check_reference(missing)
        check_missing(names, missing)
    vrank.finish()


main()
