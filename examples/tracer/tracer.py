# SPDX-License-Identifier: Apache-2.0
"""What the scripts for TraceR's figures share: run weft, write tables, say what comes out."""
import argparse
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for plot.py

# TraceR's stencil; spelled out, so that the figures stay what they are if defaults change.
STENCIL = {"gen.bytes": "128KiB", "gen.iterations": 3, "gen.compute": "1ms"}
PACKETS = {"net.trains": "off"}  # every packet on its own: the same times, more events
SCHEDULERS = ["sequential", "conservative", "optimistic"]
ON_TOPOLOGY = ["packet", "latency"]  # network models
# What `measure` finds; a figure puts its own columns before these.
FOUND = ["nodes", "topology", "network", "scheduler", "threads", "run", "predicted_ps", "digest",
         "messages", "events", "rolled_back", "efficiency_percent", "rollbacks", "gvt_rounds",
         "gvt_seconds", "windows", "wall_seconds", "cpu_seconds", "memory_bytes"]
MIB = 1 << 20


def parser(description, repeat=3):
    """The options of all scripts; `repeat` is how often each run is made unless told."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--weft", help="the program; else build/release/weft or that in PATH")
    made.add_argument("--out", default=".", help="where the CSV and SVG files go")
    made.add_argument("--quick", action="store_true", help="small networks, each run once")
    made.add_argument("--threads", type=int, default=max(2, len(os.sched_getaffinity(0))),
                      help="the most threads (default: cores, at least 2)")
    made.add_argument("--repeat", type=int, default=repeat,
                      help=f"how often each run is made (default: {repeat})")
    return made


def options(made):
    given = made.parse_args()
    built = HERE.parent.parent / "build/release/weft"
    given.weft = given.weft or (str(built) if built.exists() else shutil.which("weft"))
    if not given.weft:
        made.error("there is no build/release/weft and no weft in PATH; see --weft")
    if given.threads < 1 or given.repeat < 1:
        made.error("--threads and --repeat are at least 1")
    given.repeat = 1 if given.quick else given.repeat
    given.out = pathlib.Path(given.out)
    given.out.mkdir(parents=True, exist_ok=True)
    return given


def torus(nodes, dims=3):
    """The most cubic torus of a power of two, its longest dimensions first as in gen:stencil3d,
    so that neighbours in the program are neighbours in the network."""
    bits = nodes.bit_length() - 1
    return "torus:" + "x".join(str(2 ** ((bits + dims - 1 - d) // dims)) for d in range(dims))


def _document(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    return json.loads(done.stdout)


def measure(given, nodes, *, net="packet", topology=None, source="gen:stencil3d",
            sched="sequential", threads=1, params=None, label=None):
    """A list of one row, {column: value}, for each repetition; `label` has the columns of the
    figure. Ends the script if two repetitions predict something different."""
    topology = (topology or torus(nodes)) if net in ON_TOPOLOGY else ""
    command = [given.weft, "replay", source, "-n", str(nodes), "--net", net, "--sched", sched,
               "--threads", str(threads), "-p", "engine.fit=no", "--json", "-q"]
    if topology:
        command += ["--topo", topology]
    workload = STENCIL if source == "gen:stencil3d" else {}
    for name, value in {**workload, **(params or {})}.items():
        command += ["-p", f"{name}={value}"]
    rows = []
    for number in range(given.repeat):
        document = _document(command)
        result, run = document["result"], document["run"]
        values = [nodes, topology, net, sched, threads, number, result["predicted_time_ps"],
                  result["digest"], result["messages"], run["events_committed"],
                  run["events_rolled_back"], run["efficiency_percent"], run["rollbacks"],
                  run["gvt_rounds"], run["gvt_seconds"], run["windows"], run["wall_seconds"],
                  run["cpu_seconds"], run["peak_rss_bytes"]]
        rows.append({**(label or {}), **dict(zip(FOUND, values))})
    if not same(rows):
        sys.exit(f"{' '.join(command)}: not the same prediction each time")
    return rows


def same(rows, columns=("predicted_ps", "digest", "events")):
    """Whether all rows agree in what no scheduler may change."""
    return len({tuple(r[c] for c in columns) for r in rows}) == 1


def where(rows, **values):
    return [r for r in rows if all(r[name] == value for name, value in values.items())]


def best(rows, column):
    """The least of repeated runs: what disturbs a run makes it longer."""
    return min(r[column] for r in rows)


def middle(rows, column):
    return statistics.median(r[column] for r in rows)


def clearly_less(rows, others, column):
    """Whether all repetitions of the ones are below all of the others: rollbacks depend on how
    the threads happen to run, so that a difference may be an accident."""
    return max(r[column] for r in rows) < min(r[column] for r in others)


def in_thousands(number):
    return f"{number / 1024:.0f}K" if number >= 1024 else f"{number:.0f}"


def powers_of_two(first, last, step=1):
    return [2 ** e for e in range(first.bit_length() - 1, last.bit_length(), step)]


def write_csv(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def print_table(rows, columns, corner):
    """`rows` maps a name to {column: value}."""
    print(f"\n{corner:24}" + "".join(f"{c:>12}" for c in columns))
    for name, values in rows.items():
        print(f"{name:24}" + "".join(f"{values[c]:12.4g}" if c in values else " " * 12
                                     for c in columns))


def say(paper, checks):
    """What the paper saw, as far as our notes tell, and what is so here: [(claim, truth)]. Claims
    on times hold on a quiet machine, if they hold; those on predictions hold always."""
    print(f"\nThe paper (from our notes on it, not quoted): {paper}")
    print("Here:")
    for claim, truth in checks:
        print(f"  {'yes' if truth else 'NO '}  {claim}")
