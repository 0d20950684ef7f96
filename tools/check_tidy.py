#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources under src/ and tests/ that a Clang build compiles.

usage: check_tidy.py ROOT BUILD_DIR [--analyze]
With --analyze the static analyser of Clang looks at each file too: seconds instead of a moment a
file, hence not in the test suite. Exit code 77 (skipped) without clang-tidy.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

# Files for one process: it takes as long to start as to check a file.
BATCH = 16
CHECKS = [] if "--analyze" in sys.argv else ["--checks=-clang-analyzer-*"]


def check(files, build):
    """What clang-tidy has to say about some files: nothing if they are clean."""
    run = subprocess.run(["clang-tidy", "-p", str(build), "--quiet", *CHECKS, *files],
                         capture_output=True, text=True, check=False)
    return (run.stdout or run.stderr) if run.returncode != 0 else ""


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not shutil.which("clang-tidy"):
        print("clang-tidy is not installed")
        return 77
    ours = (str(root / "src") + os.sep, str(root / "tests") + os.sep)
    commands = json.loads((build / "compile_commands.json").read_text())
    files = sorted({e["file"] for e in commands if e["file"].startswith(ours)})
    batches = [files[i:i + BATCH] for i in range(0, len(files), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        words = list(pool.map(lambda batch: check(batch, build), batches))
    print("".join(words), end="")
    print(f"{len(files)} files, {'findings above' if any(words) else 'no findings'}")
    return 1 if any(words) or not files else 0


if __name__ == "__main__":
    sys.exit(main())
