# SPDX-License-Identifier: Apache-2.0
"""`python3 -m weft`, and the command `weft` of an installed wheel: the program itself."""
import os
import pathlib
import shutil
import sys


def main():
    here = pathlib.Path(__file__).resolve().parent
    inside = here / "_install/bin/weft"
    program = str(inside) if inside.exists() else shutil.which("weft")
    if program is None:
        sys.exit("weft: the program is not installed beside this package, nor in PATH")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
