#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a header under src/ or include/ does not compile alone.

usage: check_headers.py ROOT CC [FLAG...]
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wpedantic", "-Werror",
         "-Wno-unused-function", "-fsyntax-only", "-x", "c"]


def check(root, compiler, flags, path):
    """The compiler's words if the header fails, else nothing. A second inclusion must add
    nothing: this is what the guard is for."""
    source = f'#include "{path}"\n#include "{path}"\nextern int unit_is_not_empty;\n'
    command = [compiler, *FLAGS, *flags, f"-I{root}/src", f"-I{root}/include", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    compiler, flags = sys.argv[2], sys.argv[3:]
    headers = sorted([*root.glob("src/**/*.h"), *root.glob("include/**/*.h")])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        words = list(pool.map(lambda path: check(root, compiler, flags, path), headers))
    print("".join(words), end="")
    failed = sum(1 for text in words if text)
    print(f"{len(headers)} headers, {failed} do not compile alone")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
