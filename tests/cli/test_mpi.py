# SPDX-License-Identifier: Apache-2.0
"""Under an MPI launcher: one voice, one exit code."""
import pathlib
import sys

from weft_cli import MPIEXEC, check, finish, parse, run

REPLAY = ["replay", "gen:stencil3d", "-n", "30"]


def check_failure(args, code, words):
    done = run(*args, processes=3)
    check(done.returncode == code, f"{args}: exit code {done.returncode}, expected {code}", done)
    check(done.stderr.count("weft: ") == 1, f"{args}: not said once", done)
    check(words in done.stderr, f"{args}: no '{words}'", done)
    return done


def main():
    if not MPIEXEC:
        sys.exit(77)
    done = run(*REPLAY, "--sched", "conservative", processes=3)
    check(done.stderr == "", "stderr is not empty", done)
    check(done.returncode == 0 and done.stdout.count("Predicted time") == 1, "not one result", done)
    check("3 processes" in done.stdout, "not three processes", done)

    done = run(*REPLAY, processes=3)
    check(done.stderr.count("weft: note: ") == 1, "no note that processes idle", done)

    check_failure([*REPLAY, "--net", "nonsense"], 2, "unknown network model")
    check_failure([*REPLAY, "-o", "nowhere/x.json"], 3, "cannot write")
    done = check_failure([*REPLAY, "--bogus", "--json"], 2, "unknown option")
    check(parse(done)["error"]["exit_code"] == 2, "no error document", done)

    done = run(*REPLAY, "-o", "a.json", processes=2)
    check(done.returncode == 0 and [p.name for p in pathlib.Path().iterdir()] == ["a.json"],
          "not one file", done)
    done = run("--version", processes=2)
    check(done.stdout.count("weft ") == 1, "the version is not said once", done)
    finish()


main()
