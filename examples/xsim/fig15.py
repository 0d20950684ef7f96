#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 15: the time of the simulator for NPB's EP."""
import argparse
import pathlib

import xsim  # first: it finds papers.py
import papers
from plot import Figure, Log

RANKS, MESSAGES, SWITCHES_EACH = 65536, 720885, 7  # the paper's; 458,751 switches are 7 a process
EXPERIMENT = papers.Experiment(
    "xsim", "fig15", "simulator time of EP", place="Fig. 15",
    setup="""NPB EP up to 65,536 virtual processes on 128 cores, without a network model and with the dual-core twisted
    torus of Table I (Sect. V.B). Stated: the simulator is faster with the twisted torus than without; 720,885
    messages for 65,536 processes with both, 458,751 and 458,906 context switches.""",
    ours="""Messages: ep.weft has the calls of NPB's EP, with reductions and broadcasts along trees, n - 1 messages each.
    Times: examples/mpi/ep.c as virtual ranks, or NPB's own with --npb; one thread.""")
TREES = {"mpi.allreduce": "reduce_bcast", "mpi.bcast": "binomial", "mpi.reduce": "binomial"}
HEADER = ["ranks", "network", "messages", "events", "cpu_seconds", "context_switches"]


def networks(ranks):
    return {"none": None, "twisted torus": xsim.dual_core("ttorus", ranks)}


def run_program(program, ranks, network):
    words, params = xsim.on_network(network)
    return EXPERIMENT.weft("run", "-n", ranks, *words, "--compute", "none", "--", *program, params=params)


def count(ranks, network):
    words, params = xsim.on_network(network)
    return EXPERIMENT.weft("replay", "gen:text", "-n", ranks, *words,
                           params={**params, **TREES, "gen.file": xsim.HERE / "ep.weft"})["result"]["messages"]


def compare(rows, counted, ranks):
    largest = max(r[0] for r in rows)
    expected = 11 * (ranks - 1)
    theirs = f"{MESSAGES:,} with 65,536 processes, which is 11 * (n - 1)"
    EXPERIMENT.row("messages, no network", theirs, f"{counted['none']:,} with {ranks:,}", counted["none"] == expected,
                   "" if counted["none"] == expected else f"{expected:,} expected")
    EXPERIMENT.row("messages, twisted torus", "the same", f"{counted['twisted torus']:,}",
                   counted["none"] == counted["twisted torus"],
                   "" if counted["none"] == counted["twisted torus"] else "the network must not change the program")
    time = {r[1]: r[4] for r in rows if r[0] == largest}
    faster = time["twisted torus"] < time["none"]
    EXPERIMENT.row("simulator with the twisted torus against none", "faster: another order in its queue of messages",
                   f"{time['twisted torus'] / time['none']:.2f} times the CPU time with {largest:,} ranks", faster,
                   "" if faster else "weft's queue does not depend on the order of insertion; the model costs an event with the "
                   "distance of two nodes for each message")
    compare_switches({r[1]: r[5] for r in rows if r[0] == largest}, largest)


def compare_switches(switches, ranks):
    none, twisted = switches["none"], switches["twisted torus"]
    alike = abs(twisted / none - 1) < 0.01
    EXPERIMENT.row("context switches with the twisted torus against none", "roughly the same: 458,906 and 458,751",
                   f"{twisted:,} and {none:,} with {ranks:,}", alike,
                   "" if alike else "a rank is continued when what it waits for has come, which the network changes")
    each = none / ranks
    near = abs(each / SWITCHES_EACH - 1) < 0.1
    EXPERIMENT.row("context switches a process", f"{SWITCHES_EACH}", f"{each:.2f}", near,
                   "" if near else "a rank of weft runs on through calls that need no answer, such as sends, up to 256 of them, and a "
                   "collective is one call; xSim's collectives are sends and receives of the process")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    xsim.add_npb(parser)
    given = EXPERIMENT.options(parser)
    xsim.say_programs(EXPERIMENT)
    sizes = EXPERIMENT.pick([256], [1024, 4096, 16384, RANKS], short=[256, 1024, 4096])
    rows = []
    with papers.interruption.directory() as where:
        program = ([pathlib.Path(given.npb) / "bin/ep.A.x"] if given.npb
                   else [EXPERIMENT.build("ep", where), EXPERIMENT.pick("10", "16", short="12")])
        for n in sizes:
            for name, network in networks(n).items():
                document = run_program(program, n, network)
                rows.append([n, name, document["result"]["messages"], document["run"]["events_committed"],
                             document["run"]["cpu_seconds"], document["run"]["context_switches"]])
    EXPERIMENT.csv(HEADER, rows)
    largest = EXPERIMENT.pick(256, RANKS)
    counted = {name: count(largest, network) for name, network in networks(largest).items()}
    compare(rows, counted, largest)
    figure = Figure("Simulator time of EP", "virtual processes", "CPU seconds", x=Log(2, text="{:.0f}".format), y=Log(),
                    subtitle="programs as virtual ranks, one thread")
    for name in ("none", "twisted torus"):
        figure.add(name, [(r[0], r[4]) for r in rows if r[1] == name])
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
