# SPDX-License-Identifier: Apache-2.0
"""Small files that once crashed weft, hung it, or made it take gigabytes: each command in the CMD of
their folders gives a result or an error with words, in little time and memory."""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile

from weft_cli import WEFT, check, check_run, finish

FOLDERS = pathlib.Path(os.environ["WEFT_SOURCE_DIR"]) / "tests/data/hostile"
TRACES = FOLDERS.parent / "traces"
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


def check_pipe():
    """A pipe, or a device without an end, in the place of a file that belongs to a trace."""
    with tempfile.TemporaryDirectory() as path:
        trace = pathlib.Path(path) / "t.prv"
        shutil.copy(next(TRACES.rglob("*.prv")), trace)
        os.mkfifo(trace.with_suffix(".pcf"))
        check_run(["info", str(trace)], 3, "t.pcf")
        trace.with_suffix(".pcf").unlink()
        trace.with_suffix(".pcf").symlink_to("/dev/zero")
        check_run(["info", str(trace)], 3, "t.pcf")


def check_force():
    """-f replaces a trace, and nothing that was put beside its files."""
    with tempfile.TemporaryDirectory() as path:
        trace = f"{path}/t.weft"
        words = ["gen", "ring", "-n", "4", "--parts", "2", "-o", trace]
        check_run(words, 0, stdout="4 ranks")
        check_run([*words, "-f"], 0, stdout="4 ranks")
        pathlib.Path(trace, "thesis.tex").write_text("years of work", encoding="utf-8")
        check_run([*words, "-f"], 3, "t.weft/thesis.tex' is not a part of a trace")
        check(pathlib.Path(trace, "thesis.tex").exists(), "the file is lost")
        pathlib.Path(trace, "thesis.tex").unlink()
        pathlib.Path(trace, "figures").mkdir()
        check_run([*words, "-f"], 3, "t.weft/figures' is not a part of a trace")


check_pipe()
check_force()
for one in sorted(FOLDERS.iterdir()):
    for line in (one / "CMD").read_text().splitlines():
        try_command(one, line.split())
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
check(used < MEMORY, f"a command took {used} KiB")
finish()
