# SPDX-License-Identifier: Apache-2.0
"""Message-driven programs (weft/task.h): they say the same on any number of processors, with and
without load balancing, and under MPICH; one digest under every scheduler and number of processes.
leanmd.c takes as long as gen:leanmd, and less with load balancing."""
import json
import pathlib
import shutil
import subprocess

import vrank

EXPECTED = ["sum 820, least 1, most 40", "walked 000006c281d3ca74", "20000 bytes with sum 2493160"]
SCHEDULES = (("--sched", "conservative", "--threads", "2"),
             ("--sched", "optimistic", "--threads", "2"), ("--sched", "check-undo"))
TORUS = ("--net", "packet", "--topo", "torus:2x2x2")
SLOW = ("--net", "loggp", "-p", "net.L=1ms")  # few windows: processes exchange data in each
# News of an object's move from 1 to 2 reach 0, where it began, long after it was there again.
DETOUR = "digraph { edge [latency=\"1us\"]; 0 -> 1; 1 -> 2; 2 -> 1; 2 -> 0; 0 -> 2; 1 -> 0 [latency=\"1ms\"] }\n"
SMALL = ("3", "4", "60", "imbalance=90", "period=2")  # arguments of leanmd


def run(program, ranks, *options, args=(), before=()):
    """What the program says, and the document."""
    done = subprocess.run([*before, vrank.WEFT, "run", "-f", "-n", str(ranks), "--compute", "model",
                           "-o", "tasks.json", *options, "--", program, *args], text=True,
                          capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        vrank.complain(f"{program} {args} on {ranks} {options}", done.stdout, done.stderr)
        return "", {}
    return done.stdout, json.loads(pathlib.Path("tasks.json").read_text())


def check_results(program, other):
    for ranks, strategy in ((1, "1"), (3, "0"), (3, "1"), (7, "2"), (50, "1")):
        said, _ = run(program, ranks, "--check", args=(strategy,))
        lines = said.splitlines()
        if lines[:3] != EXPECTED or lines[3:] != ["balanced 4 times"] * (strategy != "0"):
            vrank.complain(f"{ranks} processors, strategy {strategy}", said)
    theirs = vrank.under_other(other, 3, "2")
    if theirs is not None and theirs.splitlines()[:3] != EXPECTED:
        vrank.complain("under MPICH", theirs)


def check_schedules(program, args):
    launcher = shutil.which("mpiexec.mpich")
    has_processes = launcher and (vrank.BUILD / "libweft-comm-mpich.so").exists()
    for network, ways in ((TORUS, [((), options) for options in SCHEDULES]),
                          (SLOW, [((launcher, "-n", n), ()) for n in ("2", "3") if has_processes])):
        said, document = run(program, 8, *network, args=args)
        digest = document.get("result", {}).get("digest")
        for before, options in ways:
            again, document = run(program, 8, *network, *options, args=args, before=before)
            if again != said or document.get("result", {}).get("digest") != digest:
                vrank.complain(f"{program} {args} {before} {options}", said, again)


def check_late_news(program):
    pathlib.Path("detour.dot").write_text(DETOUR)
    for strategy in ("0", "1", "2"):
        said, _ = run(program, 3, "--net", "latency", "--topo", "graph:detour.dot", args=(strategy,))
        if said.splitlines()[:3] != EXPECTED:
            vrank.complain(f"late news of moves, strategy {strategy}", said)


def end_of(said):
    """When leanmd says that its last step ended, in picoseconds."""
    words = said.partition("ended at ")[2].split()
    return round(float(words[0]) * 1e12) if words else 0


def check_leanmd(program):
    """The generator and the program are one. What comes at the same picosecond may be handled in
    another order."""
    for ranks, side, most, periodic in ((64, 6, 0, 1), (64, 4, 0.01, 1), (5, 4, 0.01, 1), (32, 4, 0.01, 0)):
        said, _ = run(program, ranks, "--net", "loggp",
                      args=(str(side), "2", "100", "time=1", f"periodic={periodic}"))
        done = subprocess.run([vrank.WEFT, "replay", "gen:leanmd", "-n", str(ranks), "--net", "loggp",
                               "-p", f"gen.cells={side}x{side}x{side}", "-p", "gen.steps=2",
                               "-p", f"gen.periodic={'yes' if periodic else 'no'}",
                               "--json"], text=True, capture_output=True, check=False)
        time = json.loads(done.stdout)["result"]["predicted_time_ps"]
        if abs(end_of(said) - time) > most * time:
            vrank.complain(f"gen:leanmd takes {time} ps on {ranks} processors, {side} cells wide", said)


def check_balance(program):
    ends = {how: end_of(run(program, 8, *TORUS,
                            args=(*SMALL, "time=1", f"balance={how}"))[0])
            for how in ("none", "greedy", "refine")}
    if not 0 < ends["greedy"] < ends["none"] or not 0 < ends["refine"] < ends["none"]:
        vrank.complain("load balancing does not help", ends)


def main():
    source = vrank.SOURCE / "tests/vrank/tasks.c"
    program, other = vrank.build(source), vrank.build(source, other=True)
    leanmd = vrank.build(vrank.SOURCE / "examples/mpi/leanmd.c")
    if program is not None and leanmd is not None:
        check_results(program, other)
        check_late_news(program)
        check_schedules(program, ("1",))
        check_schedules(leanmd, (*SMALL, "balance=refine"))
        check_leanmd(leanmd)
        check_balance(leanmd)
    vrank.finish()


main()
