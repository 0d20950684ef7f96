# SPDX-License-Identifier: Apache-2.0
"""Every function of MPI-4.0 is declared and can be linked with, as MPI_ and as PMPI_, and none is
missing."""
import subprocess

import vrank

LIST = vrank.BUILD / "include/weft/functions.list"
# Conversions of handles, which may be macros.
CONVERTED = ("Comm", "Type", "Op", "Request", "Group", "Info", "Errhandler", "Win", "Message",
             "File", "Session")
N_FUNCTIONS = 622


def listed():
    """The names of all functions, and of those that are marked as not implemented."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return ([line.removeprefix("- ") for line in lines],
            [line.removeprefix("- ") for line in lines if line.startswith("- ")])


def program(names):
    """It says how many functions there are."""
    rows = "".join(f"    (function *){prefix}{name},\n" for name in names for prefix in ("", "P"))
    handles = "".join(f"    n += {prefix}{kind}_f2c({prefix}{kind}_c2f(0)) == 0;\n"
                      for kind in ("MPI_" + one for one in CONVERTED) for prefix in ("", "P"))
    return ("#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
            "typedef void function(void);\n"
            "static function *const all[] = {\n" + rows + "};\n"
            "int main(int argc, char **argv)\n{\n    int n = 0;\n"
            "    MPI_Init(&argc, &argv);\n"
            + handles +
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


def main():
    names, missing = listed()
    if len(names) != N_FUNCTIONS or len(set(names)) != len(names):
        vrank.complain(f"{len(names)} functions are listed, and not {N_FUNCTIONS}")
    if build_all(names):
        print(f"{len(names)} functions")
    if missing:
        vrank.complain("functions are missing", *missing)
    vrank.finish()


main()
