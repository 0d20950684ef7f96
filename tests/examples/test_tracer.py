# SPDX-License-Identifier: Apache-2.0
"""The figures of examples/tracer have all their points, and no scheduler changes a prediction."""
import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from weft_cli import SOURCE, WEFT, check, finish  # noqa: E402

PLOTS = {
    "fig2": ["trains", "packets"],
    "fig3": ["time", "efficiency", "memory"],
    "fig4": ["efficiency", "time", "cpu", "rollbacks"],
    "fig4-leanmd": ["efficiency", "time", "cpu", "rollbacks"],
    "fig4-random": ["efficiency", "time", "cpu", "rollbacks"],
    "fig5": ["time", "memory"],
    "fig6": ["time", "events", "memory"],
    "fig7": ["time", "predicted"],
}
COUNTS = ["nodes", "threads", "predicted_ps", "messages", "events", "rolled_back", "rollbacks",
          "gvt_rounds", "windows", "memory_bytes"]
TIMES = ["wall_seconds", "cpu_seconds", "gvt_seconds", "efficiency_percent"]
THREADS = 2
PACKETS_PER_NODE = 3 * 6 * 256  # iterations, neighbours, packets of 512 B in 128 KiB
# Each of three iterations: six messages through one interface, 100 ps a byte, the last one over a
# router and a link of 50 ns each; then 1 ms of computing.
STENCIL_PS = 3 * (6 * 131072 * 100 + 100_000 + 1_000_000_000)


def typed(row):
    return {name: int(value) if name in COUNTS else float(value) if name in TIMES else value
            for name, value in row.items()}


def make(figure, columns, *options):
    """Runs a script, checks its files and returns its table."""
    script = SOURCE / f"examples/tracer/{figure.split('-')[0]}.py"
    done = subprocess.run([os.environ["PYTHON"], "-B", script,
                           "--weft", WEFT, "--quick", "--threads", str(THREADS), "--out", "out",
                           *options], capture_output=True, text=True, timeout=100, check=False)
    done.args = [str(a) for a in done.args]
    if not check(done.returncode == 0, f"{figure}: exit code {done.returncode}", done):
        return []
    check("The paper (from our notes" in done.stdout and "  yes  " in done.stdout,
          f"{figure} does not compare", done)
    for plot in PLOTS[figure]:
        root = xml.etree.ElementTree.parse(f"out/{figure}-{plot}.svg").getroot()
        check(root.tag.endswith("svg") and len(list(root.iter())) > 20,
              f"{figure}-{plot}.svg is empty")
    with open(f"out/{figure}.csv", encoding="utf-8", newline="") as file:
        rows = [typed(row) for row in csv.DictReader(file)]
    check(rows and set(columns + COUNTS + TIMES) <= set(rows[0]),
          f"{figure}.csv lacks columns: {list(rows[0]) if rows else 'no rows'}")
    for r in rows:
        check_row(figure, r)
    return rows


def check_row(figure, r):
    where = f"{figure}: {r}"
    check(r["predicted_ps"] > 0 and r["events"] >= r["messages"] > 0, where)
    check(r["memory_bytes"] > 0 and r["wall_seconds"] >= 0, where)
    if r["scheduler"] != "optimistic":
        check(r["rolled_back"] == r["rollbacks"] == 0 and r["efficiency_percent"] == 100, where)
    else:
        check(abs(r["efficiency_percent"] - 100 * (1 - r["rolled_back"] / r["events"])) < 0.01
              and r["gvt_rounds"] > 0, where)


def check_same(figure, rows, by, columns):
    """Rows with the same values of `by` have the same values of `columns`."""
    first = {}
    for r in rows:
        seen = first.setdefault(tuple(r[c] for c in by), r)
        for column in columns:
            check(r[column] == seen[column], f"{figure}: {column} differs: {seen} and {r}")


def check_stencil(figure, rows):
    """The packet model with its defaults predicts on every torus what the formula says."""
    for r in rows:
        check(r["predicted_ps"] == STENCIL_PS, f"{figure}: predicts {r['predicted_ps']}")
        check(r["messages"] == 18 * r["nodes"], f"{figure}: {r['messages']} messages")


def check_fig2():
    rows = make("fig2", ["detail"])
    check_stencil("fig2", rows)
    check_same("fig2", rows, ["nodes"], ["digest"])
    check_same("fig2", rows, ["nodes", "detail"], ["events"])
    points = sorted((r["detail"], r["scheduler"], r["threads"]) for r in rows)
    expected = sorted((d, s, n) for d in ("packets", "trains")
                      for s, n in [("sequential", 1), ("conservative", 1), ("conservative", 2),
                                   ("optimistic", 1), ("optimistic", 2)])
    check(points == expected, f"fig2: other points: {points}")
    for r in rows:
        some = r["events"] / r["nodes"]
        check(some >= PACKETS_PER_NODE if r["detail"] == "packets" else some < PACKETS_PER_NODE,
              f"fig2: {some} events per node: {r}")


def check_optimistic(figure, columns, n_points, *options):
    rows = make(figure, columns, *options)
    if not options:
        check_stencil(figure, rows)
    check_same(figure, rows, ["nodes"], ["digest", "events"])
    check(len({tuple(r[c] for c in columns) for r in rows}) == len(rows) == n_points,
          f"{figure}: {len(rows)} points, expected {n_points}")
    check({(r["scheduler"], r["threads"]) for r in rows} == {("optimistic", THREADS)},
          f"{figure}: another scheduler")
    return rows


def check_fig3():
    rows = check_optimistic("fig3", ["batch", "gvt_interval"], 6)
    rounds = {(r["batch"], r["gvt_interval"]): r["gvt_rounds"] for r in rows}
    check(rounds["4", "1"] > rounds["4", "256"] and rounds["4", "1"] > rounds["64", "1"],
          f"fig3: frequent GVT rounds are not: {rounds}")


def check_fig5():
    rows = make("fig5", ["way"])
    exact = [r for r in rows if r["way"] in ("trains", "packets, 512 B")]
    check_stencil("fig5", exact)
    check_same("fig5", exact, ["nodes"], ["digest"])
    check({r["scheduler"] for r in rows} == {"sequential"}, "fig5: not sequential")
    events = {(r["way"], r["nodes"]): r["events"] for r in rows}
    check(len(events) == len(rows) == 10, f"fig5: {len(rows)} points")
    for nodes in {r["nodes"] for r in rows}:
        ways = ("loggp", "trains", "packets, 4 KiB", "packets, 512 B")
        order = [events[way, nodes] for way in ways]
        check(order == sorted(order), f"fig5: more detail has fewer events: {order}")
        check(events["credits, 4 KiB", nodes] >= PACKETS_PER_NODE * nodes / 8,
              "fig5: fewer events than packets")


def check_fig6():
    rows = make("fig6", [])
    check_stencil("fig6", [r for r in rows if r["network"] == "packet"])
    check_same("fig6", rows, ["network"], ["predicted_ps"])
    per_node = {}
    for r in rows:
        per_node.setdefault(r["network"], []).append(r["events"] / r["nodes"])
    check(sorted(per_node) == ["alphabeta", "loggp", "packet"], f"fig6: models {per_node}")
    for net, values in per_node.items():
        check(len(values) == 2 and max(values) < 1.01 * min(values), f"fig6: {net}: {values}")


def check_fig7(net):
    rows = make("fig7", ["cells"], "--net", net)
    check_same("fig7", rows, ["network", "nodes"], ["predicted_ps", "digest", "events"])
    check({(r["network"], r["scheduler"]) for r in rows}
          == {(net, "sequential"), (net, "conservative"), (net, "optimistic"),
              ("none", "sequential")}, "fig7: other runs")
    check({r["topology"] for r in rows if r["network"] != "none"}
          == ({""} if net == "loggp" else {"torus:2x2x2x2x2", "torus:4x4x2x2x2"}),
          "fig7: another torus")
    time = {(r["network"], r["nodes"]): r["predicted_ps"] for r in rows}
    for of in (net, "none"):
        check(time[of, 128] < time[of, 32], f"fig7: more nodes are slower: {time}")
    check(all(time[net, n] > 0.99 * time["none", n] for n in (32, 128)), f"fig7: {time}")


def main():
    check_fig2()
    check_fig3()
    check_optimistic("fig4", ["partition", "lps_per_kp"], 8)
    check_fig5()
    check_fig6()
    check_optimistic("fig4-leanmd", ["partition", "lps_per_kp"], 8, "--workload", "leanmd")
    check_optimistic("fig4-random", ["partition", "lps_per_kp"], 8, "--workload", "random")
    for net in ("packet", "loggp"):
        check_fig7(net)
    finish()


main()
