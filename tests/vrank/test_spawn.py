# SPDX-License-Identifier: Apache-2.0
"""weft run --spare: a program starts ranks that were held back. What they say and the result are the
same under every scheduler and number of processes; spare ranks that nobody starts do not matter, and too
few of them are an error that names the option."""
import json
import pathlib
import shutil
import subprocess

import vrank

SOURCE = vrank.SOURCE / "tests/vrank/spawn.c"
SPARE = ("--spare", "8")
SCHEDULES = [SPARE, (*SPARE, "--sched", "conservative", "--threads", "2"),
             (*SPARE, "--sched", "optimistic", "--threads", "2"), (*SPARE, "--sched", "check-undo"),
             (*SPARE, "--check")]


def group(name, size, first, all_size):
    total = all_size * (all_size - 1) // 2
    return [(name, rank, size, first + rank, all_size, total) for rank in range(size)]


def expected(universe):
    """What two masters with 3, 2 and 3 workers say."""
    said, rounds = [f"universe {universe}"] * 2, [0, 0]
    for count, values in ((3, 0), (2, 1), (3, 9)):
        for row in group("master", 2, 0, 2 + count) + group("worker", count, 2, 2 + count):
            if row[0] == "master":
                rounds[row[1]] += 1
            said.append("{} {} of {}, {} of {}, sum {}, started {}".format(
                *row, rounds[row[1]] if row[0] == "master" else 1))
        said += [f"round {values}: 3 arguments, program 0, value {values}"] * (count if values < 9 else 0)
    said += ["round 1: 3 arguments, program 0, value 9"]
    return said + ["none: 1 arguments, program 1, value 9"] * 2 + ["codes 0 0 0"] * 2


def complain_if(wrong, what, done):
    if wrong:
        vrank.complain(what, done.returncode, done.stdout, done.stderr)


def run(program, *options, before=(), arguments=("./other",)):
    return subprocess.run([*before, vrank.WEFT, "run", "-n", "2", "--compute", "none", "-f", "-o",
                           "result.json", *options, "--", program, *arguments], text=True,
                          capture_output=True, check=False, timeout=120, stdin=subprocess.DEVNULL)


def digest():
    return json.loads(pathlib.Path("result.json").read_text())["result"]["digest"]


def check_processes(program, alone):
    launcher = shutil.which("mpiexec.mpich")
    if launcher is None or not (vrank.BUILD / "libweft-comm-mpich.so").exists():
        return
    done = run(program, *SPARE, before=(launcher, "-n", "2"))
    complain_if(done.returncode != 0 or digest() != alone or
                sorted(done.stdout.splitlines()) != sorted(expected(10)), "in two processes", done)


def check_recording(program):
    """A trace has all ranks; those that nobody has started do nothing in it."""
    done = run(program, "--spare", "11", "--trace", "spawn.weft")
    complain_if(done.returncode != 0, "with a trace", done)
    own = json.loads(pathlib.Path("result.json").read_text())["result"]
    done = subprocess.run([vrank.WEFT, "replay", "spawn.weft", "-f", "-o", "result.json"], text=True,
                          capture_output=True, check=False, timeout=60)
    again = json.loads(pathlib.Path("result.json").read_text())["result"]
    complain_if(done.returncode != 0 or own["predicted_time_ps"] != again["predicted_time_ps"], "replay of the trace", done)


def main():
    program = vrank.build(SOURCE)
    if program is None or vrank.build(SOURCE, name="other") is None:
        vrank.finish()
    vrank.check_lines((program, "./other"), 2, SCHEDULES, expected(10))
    vrank.under_weft(program, 2, "./other", options=SPARE)
    check_processes(program, digest())
    check_recording(program)
    done = run(program, "--spare", "9", arguments=("./other", "too many"))
    complain_if(done.returncode != 0 or done.stdout.count("too many: 1 1") != 2, "an error that returns", done)
    for options, words in (((), "has no spare ranks; hold some back with --spare 3"),
                           (("--spare", "4"), "1 of 4 spare ranks are left; hold back more with --spare")):
        done = run(program, *options)
        complain_if(done.returncode != 4 or words not in done.stderr, f"{options}", done)
    done = run(program, *SPARE, arguments=("./not_there",))
    complain_if(done.returncode != 4 or "cannot run './not_there'" not in done.stderr, "no such program", done)
    vrank.finish()


main()
