# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: run it, and complain with its output at hand."""
import json
import os
import pathlib
import re
import subprocess
import sys

WEFT = os.environ["WEFT"]
SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "")

_failures = []


def run(*args, processes=0, timeout=50, **options):
    """The finished process of `weft args...`, with its output as text."""
    launcher = [MPIEXEC, "-n", str(processes)] if processes else []
    return subprocess.run([*launcher, WEFT, *args], capture_output=True, text=True,
                          timeout=timeout, check=False, stdin=subprocess.DEVNULL, **options)


def check(condition, what, done=None):
    """Notes a failure, and what the program said, and goes on."""
    if condition:
        return True
    _failures.append(what)
    print(f"not ok - {what}")
    if done is not None:
        print(f"  command: {' '.join(done.args)}\n  exit code: {done.returncode}")
        print(f"  stdout: {done.stdout[:600]!r}\n  stderr: {done.stderr[:600]!r}")
    return False


def check_run(args, code, stderr="", stdout=None, **options):
    """Runs, and compares the exit code and, by regular expression, what was said."""
    done = run(*args, **options)
    what = f"weft {' '.join(args)}"
    check(done.returncode == code, f"{what}: exit code {done.returncode}, expected {code}", done)
    if stderr == "":
        check(done.stderr == "", f"{what}: stderr is not empty", done)
    else:
        check(re.search(stderr, done.stderr), f"{what}: stderr lacks /{stderr}/", done)
    if stdout is not None:
        check(re.search(stdout, done.stdout), f"{what}: stdout lacks /{stdout}/", done)
    return done


def parse(done):
    """The one JSON document on stdout."""
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        check(False, f"stdout is not one JSON document: {error}", done)
        return {}


def finish():
    if _failures:
        print(f"{len(_failures)} failed")
    sys.exit(1 if _failures else 0)
