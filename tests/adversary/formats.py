# SPDX-License-Identifier: Apache-2.0
"""Mutations of every format by what its readers say about it (tests/fuzz/described.h): names of their tables, types
and limits of values, references, parts of binary files. The fuzz targets run them, in build/asan if that was built."""
import os
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
SECONDS = 240
AT_ONCE = 20


def targets():
    """The programs and their corpora."""
    for corpus in sorted((SOURCE / "tests/fuzz/corpus").iterdir()):
        for build in (BUILD.parent / "asan", BUILD):
            program = build / "tests" / f"fuzz_{corpus.name}"
            if program.exists():
                yield program, corpus
                break


def run(kind, cases, log):
    known = list(targets())
    if not known:
        return "no fuzz targets in this build"
    for number, rng in cases:
        program, corpus = rng.choice(known)
        words = [program, "--mutate", str(rng.getrandbits(40)), str(AT_ONCE), corpus]
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = subprocess.run(words, capture_output=True, check=False, cwd=folder, timeout=SECONDS)
                wrong = f"exit code {done.returncode}: {done.stderr[-2000:]!r}" if done.returncode else None
            except subprocess.TimeoutExpired:
                wrong = "does not end"
            if wrong:
                at = pathlib.Path(folder, "mutation").read_text().strip()
                wrong += f"\n  command: {program} --mutate {at} 1 {corpus}"
        log.count(kind, "failed" if wrong else corpus.name)
        if wrong:
            log.failed(kind, number, wrong)
    return None
