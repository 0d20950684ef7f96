#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if clang-format would change a C file; with --fix, changes them.

usage: check_format.py [--fix] [ROOT]
Exit code 77 (skipped) without clang-format.
"""
import shutil
import subprocess
import sys

import tree


def main():
    arguments = sys.argv[1:]
    fix = "--fix" in arguments
    arguments = [a for a in arguments if a != "--fix"]
    root = arguments[0] if arguments else "."
    if not shutil.which("clang-format"):
        print("clang-format is not installed")
        return 77
    names = [str(path) for path in tree.files(root, ".c", ".h")]
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    return subprocess.run(["clang-format", *mode, *names], cwd=root, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
