# SPDX-License-Identifier: Apache-2.0
"""INSEE's experiments come out as examples/insee says they do, in small."""
import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from weft_cli import SOURCE, WEFT, check, finish  # noqa: E402

DESIGNS = ["oblivious-1vc", "oblivious-3vc", "adaptive-3vc"]
# What a sender of 64-byte packets of 16 phits needs at least, one packet after the other, and the
# longest chain of messages of the wavefront: 7 times both messages, then 7 times one.
EXACT = {"torus2_8K": 8 * 2 * 128 * 16, "mesh2_8K": 4 * 128 * 16,
         "sweep2_8K": 7 * 2 * 128 * 16 + 7 * 128 * 16}


def make(script, *words):
    """Runs a script and returns its table."""
    done = subprocess.run([os.environ["PYTHON"], "-B", SOURCE / f"examples/insee/{script}.py",
                           "--weft", WEFT, "--quick", "--jobs", "2", "--out", "out", *words],
                          capture_output=True, text=True, timeout=100, check=False)
    done.args = [str(a) for a in done.args]
    if not check(done.returncode == 0, f"{script}: exit code {done.returncode}", done):
        return []
    check("  NO " not in done.stdout, f"{script}: something is not as expected", done)
    svg = pathlib.Path("out") / f"{script}.svg"
    if script != "workloads":
        root = xml.etree.ElementTree.parse(svg).getroot()
        check(len(list(root.iter())) > 20, f"{svg} is empty", done)
    with open(f"out/{script}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_fig7():
    rows = make("fig7", "a trace=out/cg.weft")
    found = {(r["program"], r["design"]): float(r["relative"]) for r in rows}
    check(len(found) == 4 * 3, f"fig7 has {len(found)} bars")
    check(all(found[p, DESIGNS[0]] == 1 for p, _ in found), "the first design is the measure")
    check(found["a trace", DESIGNS[2]] < found["a trace", DESIGNS[1]] < 1, "the trace is of a CG")


def test_workloads():
    rows = make("workloads")
    check(len(rows) == 6 * 3, f"{len(rows)} workloads")
    for row in rows:
        check(row["packets"] == row["packets_insee"], f"other packets in {row}")
        least = EXACT.get(row["workload"])
        check(least is None or 0 <= float(row["cycles"]) - least <= 20, f"{row}: {least} expected")


def test_table1():
    rows = make("table1")
    times = [float(r["time_ms"]) for r in rows]
    check([r["mbit_per_s"] for r in rows] == ["100", "1000", "10000"], f"speeds of {rows}")
    # What is not computing cannot gain more than the links do.
    check(all(1 < a / b < 10 for a, b in zip(times, times[1:])), f"times of {rows}")
    check(times[2] > float(rows[2]["compute_ms"]), "computing is part of it")


def test_policies():
    rows = make("policies")
    found = {(r["program"], r["design"], r["policy"]): r for r in rows}
    check(len(found) == 4 * 3 * 2, f"policies has {len(found)} rows")
    for (program, design, policy), row in found.items():
        other = found[program, design, "causal"]
        check(row["messages"] == other["messages"], f"{policy} sends other messages: {row}")
    asap = found["wavefront", DESIGNS[0], "asap"]
    check(float(asap["cycles"]) == 2 * 128 * 16, f"two messages of a rank one by one: {asap}")


test_table1()
test_fig7()
test_workloads()
test_policies()
finish()
