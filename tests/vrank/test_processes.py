# SPDX-License-Identifier: Apache-2.0
"""Virtual ranks that are spread over several processes say what they say in one, in whatever
order, and the run has the same result; and however the program ends, all processes end."""
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys

import vrank

sys.path.insert(0, str(vrank.SOURCE / "tests/harness"))
import launches  # noqa: E402

HERE = pathlib.Path(__file__).parent
EXAMPLES = vrank.SOURCE / "examples/mpi"
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "")
AREAS = ("point_to_point", "long_messages", "requests", "datatypes", "collectives", "communicators", "intercommunicators", "attributes", "topologies", "one_sided", "partitioned",
         "sessions")
NAMES = ("hello", "random", "stencil", "cg", "fft", "sort", "master", "globals")
# Scheduler, threads, processes, and where ranks sit.
SCHEDULES = [
    ("conservative", 1, 2, ()),
    ("optimistic", 1, 2, ()),
    ("conservative", 2, 3, ("-p", "engine.partition=cyclic")),
    ("optimistic", 2, 2, ()),
    ("perturb", 1, 2, ("-p", "engine.partition=cyclic")),
    ("sequential", 1, 2, ()),
]
# Three processes of Time Warp on two cores wait for each other long: one program has them.
THREE = ("optimistic", 1, 3, ())
NETWORKS = [(), ("--net", "latency", "--topo", "torus:4x4"), ("--ranks-per-node", "2"),
            ("-p", "mpi.eager_max=64"),
            ("-p", "mpi.eager_max=64", "-p", "mpi.rendezvous=read", "--ranks-per-node", "2",
             "-p", "node.o_send=300ns", "-p", "node.copy_recv=9GB/s", "-p", "node.gap=5ns",
             "-p", "node.copy_unexpected=8GB/s", "-p", "node.ejection_delay=170ns",
             "-p", "node.registration=300ns")]
# Nothing is known ahead then: slow, and only for little programs.
NO_LOOKAHEAD = ("-p", "net.L=0")


def outcome(program, ranks, network, schedule=None):
    """The lines that the program says, sorted, the sections of the result that must not depend
    on the schedule, and how often ranks were continued."""
    command = []
    options = list(network)
    if schedule is not None:
        scheduler, threads, processes, more = schedule
        command = [MPIEXEC, "-n", str(processes)]
        options += ["--sched", scheduler, "--threads", str(threads), *more]
    command += [vrank.WEFT, "run", "-n", str(ranks), "--compute", "none", "-q", "-f", "-o",
                "result.json", *options, "--", program]
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=240,
                          stdin=subprocess.DEVNULL, env=launches.environment() if schedule else None)
    if done.returncode != 0:
        vrank.complain(" ".join(command), done.stdout, done.stderr)
        return None
    document = json.loads(pathlib.Path("result.json").read_text(encoding="utf-8"))
    return ("\n".join(sorted(done.stdout.splitlines())), document["scenario"], document["result"],
            document["run"]["context_switches"])


def check(program, ranks, network, schedules):
    """Returns the outcome in one process, and how often ranks were continued in the others."""
    expected, switches = outcome(program, ranks, network), []
    for schedule in schedules if expected is not None else ():
        found = outcome(program, ranks, network, schedule)
        where = f"{program} with {ranks} ranks, {' '.join(network)} {schedule}"
        if found is not None and found[0] != expected[0]:
            vrank.complain(where, vrank.differs(expected[0], found[0]))
        elif found is not None and found[1:3] != expected[1:3]:
            vrank.complain(f"{where}: another result", found[1:3], expected[1:3])
        switches.append(found[3] if found is not None else None)
    return expected, switches


def check_switches(program, ranks):
    """All processes count how often they continue ranks. Messages are short: long ones are copied by one of two ranks
    that are in the same process."""
    expected, counted = check(program, ranks, NETWORKS[0], SCHEDULES)
    if expected is not None and (set(counted) != {expected[3]} or expected[3] < 2 * ranks):
        vrank.complain(f"{program}: context switches", expected[3], counted)


def check_programs():
    networks = itertools.cycle(NETWORKS)
    little = itertools.cycle([NO_LOOKAHEAD, *NETWORKS])
    schedules = itertools.cycle(SCHEDULES)
    spread = vrank.build(HERE / "several_processes.c")
    said = vrank.under_other(vrank.build(HERE / "several_processes.c", other=True), 3)
    if said is not None and not said.startswith("0 wrong"):
        vrank.complain("several_processes.c is not right about MPI", said)
    said, _ = check(spread, 12, NETWORKS[0], [*SCHEDULES, THREE])
    check(spread, 12, NETWORKS[1], SCHEDULES[:2])
    if said is not None and not said[0].startswith("0 wrong"):
        vrank.complain("several_processes.c finds something wrong", said[0])
    check_switches(vrank.build(EXAMPLES / "ring.c"), 16)
    for source in [*(HERE / f"{name}.c" for name in (*AREAS, "regions")),
                   *(EXAMPLES / f"{name}.c" for name in NAMES)]:
        program = vrank.build(source)
        if source.parent == HERE:
            check(program, 6, next(little), [next(schedules), next(schedules)])
        else:
            check(program, 16, next(networks), [next(schedules), next(schedules)])


def run_early_end(program, how, scheduler):
    command = [MPIEXEC, "-n", "2", vrank.WEFT, "run", "-n", "4", "--compute", "none", "--sched",
               scheduler, "--", program, how]
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    return " ".join(command), done


# What is said, of a run that ends with code 4.
ENDINGS = {
    "abort": "rank 3 ended the program with code 7",
    "abort others": "rank 3 ended the program with code 7",
    "exit": "rank 3 ended the program with code 3",
    "return": "rank 3 ended with code 9 after MPI_Finalize",
    "crash": "rank 3 crashed at simulated time",
    "deadlock": "rank 0 waits for a message from rank 1 with tag 5",
    "shared memory": "MPI_Comm_split_type(MPI_COMM_TYPE_SHARED), whose members are on one node",
}


def check_early_end(program):
    for scheduler, how in [*itertools.product(("conservative",), ENDINGS),
                           ("optimistic", "abort others"), ("optimistic", "crash")]:
        where, done = run_early_end(program, how, scheduler)
        # After a crash the launcher may be quicker to end the other process, with its own code.
        code_is_right = done.returncode == 4 or (how == "crash" and done.returncode != 0)
        if not code_is_right or ENDINGS[how] not in done.stdout + done.stderr:
            vrank.complain(f"{where}: exit code {done.returncode}", done.stdout, done.stderr)
        here = [f"rank {rank} is here" in done.stdout for rank in range(4)]
        if not all(here) and how != "crash":  # what others have not written yet is lost then
            vrank.complain(f"{where}: some ranks have said nothing", done.stdout)


def check_interrupt(program, scheduler):
    """A program without an end, which somebody ends."""
    command = [MPIEXEC, "-n", "2", vrank.WEFT, "run", "-n", "4", "--compute", "none", "--sched",
               scheduler, "--", program, "forever"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL) as running:
        for _ in range(4):
            running.stdout.readline()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    if "interrupted at simulated time" not in err or "Predicted time" in out:
        vrank.complain(f"{' '.join(command)}, interrupted", out, err)


def main():
    if not MPIEXEC:
        sys.exit(vrank.SKIPPED)
    check_programs()
    program = vrank.build(HERE / "early_end.c")
    check_early_end(program)
    for scheduler in ("conservative", "optimistic"):
        check_interrupt(program, scheduler)
    vrank.finish()


main()
