# SPDX-License-Identifier: Apache-2.0
"""What the scripts for INSEE's experiments share: replay on an 8x8 torus, and averages over seeds
with their confidence."""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for papers.py and plot.py
import papers  # noqa: E402
from papers import interruption  # noqa: E402

RANKS, TOPOLOGY = 64, "torus:8x8"
DESIGNS = ["oblivious-1vc", "oblivious-3vc", "adaptive-3vc"]
PS_PER_CYCLE = 1000  # the router's default
# Sect. 6.1: packets of 64 bytes, queues of 4 packets, links of 32 bits a cycle; what the model has
# anyway, spelled out.
ROUTER = {"net.packet": "64B", "net.queue": 4, "net.phit": "4B"}

# The NAS Parallel Benchmarks' class W, with fewer iterations: all are alike.
CLASS_W = {
    "BT-like": ("gen:bt", {"gen.n": 24, "gen.iterations": 10}),
    "CG-like": ("gen:cg", {"gen.n": 7000, "gen.iterations": 1}),
    "IS-like": ("gen:is", {"gen.keys": 2 ** 20, "gen.buckets": 2 ** 10, "gen.iterations": 2}),
}
SMALL = {
    "BT-like": ("gen:bt", {"gen.n": 12, "gen.iterations": 1}),
    "CG-like": ("gen:cg", {"gen.n": 875, "gen.iterations": 1}),
    "IS-like": ("gen:is", {"gen.keys": 2 ** 17, "gen.buckets": 2 ** 6, "gen.iterations": 1}),
}

# Student's t: 99 % of a mean of n values is within t[n - 2] standard errors.
T_99 = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055,
        3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797,
        2.787, 2.779, 2.771, 2.763, 2.756]


def parser(description):
    """The options that these scripts have besides those of all."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--seeds", type=int, help="runs of each (default: 10)")
    made.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                      help="runs side by side (default: cores)")
    return made


def settle(given, full=10):
    """Completes options that papers.py has read; `full` seeds are the full form."""
    given.seeds = given.seeds or {"quick": 2, "short": 3, "full": full}[given.form]
    if not 2 <= given.seeds <= len(T_99) + 1 or given.jobs < 1:
        sys.exit(f"--seeds is from 2 to {len(T_99) + 1}, --jobs at least 1")
    given.programs = SMALL if given.form == "quick" else CLASS_W
    return given


def programs_of(given):
    """The generators' programs, and the traces that were given as NAME=FILE."""
    made = dict(given.programs)
    for word in given.traces:
        name, _, path = word.rpartition("=")
        made[name or pathlib.Path(path).stem] = (path, {})
    return made


def replay(weft, program, design, policy, seed, *more):
    """The result of one run; `program` is a source and its parameters. A generator has 64 ranks, a
    trace its own."""
    source, params = program
    command = [weft, "replay", str(source), "--net", "router", "--topo", TOPOLOGY, "--seed",
               str(seed), "-p", f"net.routing={design}", "-p", f"replay.policy={policy}", "--json", "-q"]
    if str(source).startswith("gen:"):
        command += ["-n", str(RANKS)]
    for name, value in {**ROUTER, **params}.items():
        command += ["-p", f"{name}={value}"]
    done = interruption.run([*command, *more], stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}")
    return json.loads(done.stdout)["result"]


def replay_all(given, runs):
    """Results of {key: arguments of `replay` without the program and the seed}, one for each
    seed."""
    with interruption.threads(given.jobs) as pool:
        futures = {key: [pool.submit(replay, given.weft, *run[:3], seed, *run[3:])
                         for seed in range(1, given.seeds + 1)] for key, run in runs.items()}
        try:
            return {key: [f.result() for f in many] for key, many in futures.items()}
        except RuntimeError as error:
            sys.exit(str(error))


def cycles(results):
    return [r["predicted_time_ps"] / PS_PER_CYCLE for r in results]


def confidence(values):
    """Half of the interval in which the mean is with a confidence of 99 %."""
    return T_99[len(values) - 2] * statistics.stdev(values) / math.sqrt(len(values))
