# SPDX-License-Identifier: Apache-2.0
"""What is written of a program that runs is what it did: replayed on a network, the trace takes
the time that the program takes there, to the picosecond and the digest."""
import json
import pathlib
import subprocess

import vrank

NETWORK = ("--net", "latency", "--topo", "torus:4x4")
# Programs whose ops do not depend on time: whatever network they were recorded on.
FIXED = ("ring.c", "random.c", "stencil.c", "cg.c", "fft.c", "sort.c", "globals.c")


def weft(*words, fails=False):
    done = subprocess.run([vrank.WEFT, *words], text=True, capture_output=True, check=False,
                          timeout=120, stdin=subprocess.DEVNULL)
    if (done.returncode != 0) != fails:
        vrank.complain(" ".join(map(str, words)), done.stdout, done.stderr)
    return done


def result_of(*words):
    """Time and digest."""
    done = weft(words[0], "-f", "-o", "result.json", *words[1:])
    if done.returncode != 0:
        return None
    result = json.loads(pathlib.Path("result.json").read_text())["result"]
    return result["predicted_time_ps"], result["digest"]


def check_same(what, one, other):
    if one != other:
        vrank.complain(f"{what} took {one}, its trace {other}")


def check_fixed(program, ranks, compute="none"):
    ran = result_of("run", "-n", ranks, "--compute", compute, *NETWORK, "--", program)
    weft("emulate", "-n", ranks, "--compute", compute, "-f", "-o", "trace.weft", "--", program)
    check_same(program, ran, result_of("replay", "trace.weft", *NETWORK))


def check_tee(program, ranks, compute, *options):
    """Recorded on the network on which it is replayed, it may depend on time."""
    ran = result_of("run", "-n", ranks, "--compute", compute, *NETWORK, *options, "--trace",
                    "tee.weft", "--", program)
    replayed = result_of("replay", "tee.weft", *NETWORK)
    if ran is None or replayed is None or ran[0] != replayed[0]:
        vrank.complain(f"{program} took {ran}, its trace {replayed}")


def check_sizes(program):
    """Collectives that ranks call with different sizes, an error that the program handles."""
    check_fixed(program, "4")
    check_tee(program, "4", "none")
    before = result_of("replay", "trace.weft", *NETWORK)
    weft("convert", "-f", "trace.weft", "copy.weft")
    check_same("the trace of lengths", before, result_of("replay", "copy.weft", *NETWORK))
    weft("emulate", "-n", "4", "--compute", "none", "-f", "-o", "lengths.ti", "--", program)
    done = weft("replay", "lengths.ti", fails=True)
    if "with other sizes" not in done.stderr:
        vrank.complain("weft replay lengths.ti says", done.stderr)


def check_marks(program):
    check_tee(program, "8", "model")
    check_tee(program, "8", "model", "--sched", "conservative", "--threads", "2")
    weft("emulate", "-n", "8", "--compute", "model", "-f", "-o", "all_marks", "--",
         program)
    said = weft("info", "all_marks").stdout + weft("replay", "all_marks", "--json").stdout
    for words in ("Communicators     5", "iteration_begin                    80", '"solve"'):
        if words not in said:
            vrank.complain(f"weft info of marks does not say '{words}'", said)
    weft("emulate", "-n", "8", "-p", "cpu.scale=3", "--compute", "model", "-f", "-o",
         "marks.csv", "--", program)
    computed = [line.split(",")[6] for line in pathlib.Path("marks.csv").read_text().splitlines()
                if line.startswith("0,compute")]
    if computed != ["3000000"] * 10:
        vrank.complain("rank 0 computes 10 times 1 us, three times as long", computed)
    for ending in ("ti", "goal"):
        weft("emulate", "-n", "8", "--compute", "model", "-f", "-o", f"marks.{ending}", "--",
             program)
        weft("replay", f"marks.{ending}")


def check_efficiency(program):
    """On the ideal network it runs once more, silently; the trace knows the same."""
    found = []
    weft("emulate", "-n", "16", "--compute", "model", "-f", "-o", "trace.weft", "--", program)
    for words in (("run", "-n", "16", "--compute", "model", "--", program),
                  ("replay", "trace.weft")):
        weft(words[0], "--efficiency", "-f", "-o", "result.json", *NETWORK, *words[1:])
        found.append(json.loads(pathlib.Path("result.json").read_text())["result"]["efficiency"])
    if found[0] != found[1]:
        vrank.complain("the efficiency of marks and that of its trace", *found)


def check_mistakes(program):
    for words, expected in (
            (("-n", "4", "--", program), "emulate: no output; -o names it"),
            (("-n", "4", "-o", "x.weft"), "emulate: a program is missing"),
            (("-n", "4", "-o", "x.foo", "--", program), "must end in .weft or .csv"),
            (("-n", "4", "-o", "nowhere/x.weft", "--", program), "nowhere/x.weft"),
            (("-n", "4", "-o", "trace.weft", "--", program), "trace.weft"),
            (("-n", "4", "-f", "-o", "marks", "--", program), "'marks' is the program itself")):
        done = weft("emulate", *words, fails=True)
        if expected not in done.stderr:
            vrank.complain(f"weft emulate {' '.join(words)} says", done.stderr)


def main():
    examples = vrank.SOURCE / "examples/mpi"
    for name in FIXED:
        program = vrank.build(examples / name)
        if program is not None:
            check_fixed(program, "16")
    program = vrank.build(vrank.SOURCE / "tests/vrank/mpi4_calls.c")
    if program is not None:
        check_tee(program, "6", "none")
        check_fixed(program, "6")
    master = vrank.build(examples / "master.c")
    marks = vrank.build(vrank.SOURCE / "tests/vrank/marks.c")
    if master is None or marks is None:
        vrank.finish()
    clock = vrank.build(vrank.SOURCE / "tests/vrank/clock_reader.c")
    if clock is not None:
        check_fixed(clock, "4")
    lengths = vrank.build(vrank.SOURCE / "tests/vrank/lengths.c")
    if lengths is not None:
        check_sizes(lengths)
    check_tee(master, "16", "none")
    check_marks(marks)
    check_efficiency(marks)
    check_mistakes(marks)
    vrank.finish()


main()
