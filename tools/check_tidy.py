#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources under src/ and tests/ that a Clang build compiles.

usage: check_tidy.py ROOT BUILD_DIR [--analyze]
With --analyze the static analyser of Clang looks at each file too: seconds instead of a moment a
file, hence not in the test suite. A file that passed is not analysed again until its preprocessed
text, the configuration or clang-tidy changes. Exit code 77 (skipped) without clang-tidy.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

CHECKS = [] if "--analyze" in sys.argv else ["--checks=-clang-analyzer-*"]


def fingerprint(entry, salt):
    """A hash of all that the analysis of a file depends on, comments (NOLINT) included."""
    words = shlex.split(entry["command"])
    if "-o" in words:
        at = words.index("-o")
        del words[at:at + 2]
    words = [w for w in words if w != "-c"]
    text = subprocess.run([*words, "-E", "-CC"], cwd=entry["directory"],
                          capture_output=True, check=True).stdout
    return hashlib.sha256(salt + text).hexdigest()


def check(entry, build, cache, salt):
    """What clang-tidy has to say about one file: nothing if it is clean."""
    try:
        stamp = cache / fingerprint(entry, salt)
    except subprocess.CalledProcessError as error:
        return error.stderr.decode()
    if stamp.exists():
        return ""
    run = subprocess.run(["clang-tidy", "-p", str(build), "--quiet", *CHECKS, entry["file"]],
                         capture_output=True, text=True, check=False)
    if run.returncode == 0:
        stamp.touch()
        return ""
    return run.stdout or run.stderr


def tidy_files(root):
    """All configurations: a folder may have one of its own."""
    return sorted([root / ".clang-tidy", *root.glob("src/**/.clang-tidy"),
                   *root.glob("tests/**/.clang-tidy")])


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not shutil.which("clang-tidy"):
        print("clang-tidy is not installed")
        return 77
    ours = (str(root / "src") + os.sep, str(root / "tests") + os.sep)
    commands = json.loads((build / "compile_commands.json").read_text())
    entries = {e["file"]: e for e in commands if e["file"].startswith(ours)}
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    rules = b"".join(path.read_bytes() for path in tidy_files(root))
    salt = repr(CHECKS).encode() + version + rules
    cache = build / "tidy"
    cache.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        words = list(pool.map(lambda e: check(e, build, cache, salt), entries.values()))
    print("".join(words), end="")
    failed = sum(1 for text in words if text)
    print(f"{len(entries)} files, {failed} with findings")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
