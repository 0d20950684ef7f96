# SPDX-License-Identifier: Apache-2.0
"""Small files that once crashed weft, hung it, or made it take gigabytes: each command in the CMD of
their folders gives a result or an error with words, in little time and memory."""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile

from weft_cli import WEFT, check, finish

FOLDERS = pathlib.Path(os.environ["WEFT_SOURCE_DIR"]) / "tests/data/hostile"
SECONDS, MEMORY = 20, 1 << 20  # of processor time, in a build with sanitizers; KiB


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def try_command(folder, words):
    with tempfile.TemporaryDirectory() as path:
        copy = pathlib.Path(path) / "case"
        shutil.copytree(folder, copy)
        before = {p.name for p in copy.iterdir()}
        done = subprocess.run([WEFT, *words], cwd=copy, preexec_fn=limit, capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL)
        new = {p.name for p in copy.iterdir()} - before
    what = f"{folder.name}: {' '.join(words)}: exit code {done.returncode}, {done.stderr[-400:]}"
    check(done.returncode in (0, 1, 3, 5), what)
    check("runtime error" not in done.stderr, what)
    check(done.returncode == 0 or done.stderr.startswith("weft: "), what)
    check(done.returncode == 0 or not new, f"{what}: left {new}")


for one in sorted(FOLDERS.iterdir()):
    for line in (one / "CMD").read_text().splitlines():
        try_command(one, line.split())
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
check(used < MEMORY, f"a command took {used} KiB")
finish()
