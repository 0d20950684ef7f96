# SPDX-License-Identifier: Apache-2.0
"""What the scripts for INSEE's experiments share: replay on an 8x8 torus, averages over seeds with
their confidence, tables, and what comes out in words."""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for plot.py

RANKS, TOPOLOGY = 64, "torus:8x8"
DESIGNS = ["oblivious-1vc", "oblivious-3vc", "adaptive-3vc"]
PS_PER_CYCLE = 1000  # the router's default

# The NAS Parallel Benchmarks' class W, with fewer iterations: all are alike.
CLASS_W = {
    "BT-like": ("gen:bt", {"gen.n": 24, "gen.iterations": 10}),
    "CG-like": ("gen:cg", {"gen.n": 7000, "gen.iterations": 1}),
    "IS-like": ("gen:is", {"gen.keys": 2 ** 20, "gen.buckets": 2 ** 10, "gen.iterations": 2}),
}
SMALL = {
    "BT-like": ("gen:bt", {"gen.n": 16, "gen.iterations": 1}),
    "CG-like": ("gen:cg", {"gen.n": 1750, "gen.iterations": 1}),
    "IS-like": ("gen:is", {"gen.keys": 2 ** 19, "gen.buckets": 2 ** 8, "gen.iterations": 1}),
}

# Student's t: 99 % of a mean of n values is within t[n - 2] standard errors.
T_99 = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055,
        3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797,
        2.787, 2.779, 2.771, 2.763, 2.756]


def parser(description, seeds=10):
    """The options of all scripts."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--weft", help="the program; else build/release/weft or that in PATH")
    made.add_argument("--out", default=".", help="where the CSV and SVG files go")
    made.add_argument("--quick", action="store_true", help="small programs, 3 seeds")
    made.add_argument("--seeds", type=int, default=seeds, help=f"runs of each (default: {seeds})")
    made.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                      help="runs side by side (default: cores)")
    return made


def options(made):
    given = made.parse_args()
    built = HERE.parent.parent / "build/release/weft"
    given.weft = given.weft or os.environ.get("WEFT") or (
        str(built) if built.exists() else shutil.which("weft"))
    if not given.weft:
        made.error("there is no build/release/weft and no weft in PATH; see --weft")
    given.seeds = 3 if given.quick else given.seeds
    if not 2 <= given.seeds <= len(T_99) + 1 or given.jobs < 1:
        made.error(f"--seeds is from 2 to {len(T_99) + 1}, --jobs at least 1")
    given.out = pathlib.Path(given.out)
    given.out.mkdir(parents=True, exist_ok=True)
    given.programs = SMALL if given.quick else CLASS_W
    return given


def replay(weft, program, design, policy, seed, *more):
    """The result of one run; `program` is a source and its parameters. A generator has 64 ranks, a
    trace its own."""
    source, params = program
    command = [weft, "replay", source, "--net", "router", "--topo", TOPOLOGY, "--seed", str(seed),
               "-p", f"net.routing={design}", "-p", f"replay.policy={policy}", "--json", "-q"]
    if source.startswith("gen:"):
        command += ["-n", str(RANKS)]
    for name, value in params.items():
        command += ["-p", f"{name}={value}"]
    done = subprocess.run([*command, *more], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}")
    return json.loads(done.stdout)["result"]


def replay_all(given, runs):
    """Results of {key: arguments of `replay` without the program and the seed}, one for each
    seed."""
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        futures = {key: [pool.submit(replay, given.weft, *run[:3], seed, *run[3:])
                         for seed in range(1, given.seeds + 1)] for key, run in runs.items()}
        try:
            return {key: [f.result() for f in many] for key, many in futures.items()}
        except RuntimeError as error:
            pool.shutdown(cancel_futures=True)
            sys.exit(str(error))


def cycles(results):
    return [r["predicted_time_ps"] / PS_PER_CYCLE for r in results]


def confidence(values):
    """Half of the interval in which the mean is with a confidence of 99 %."""
    return T_99[len(values) - 2] * statistics.stdev(values) / math.sqrt(len(values))


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def say(expected, claims):
    """What is to be expected, and which of it is so here."""
    print(f"\nExpected: {expected}\nHere:")
    for claim, holds in claims:
        print(f"  {'yes' if holds else 'NO '}  {claim}")
