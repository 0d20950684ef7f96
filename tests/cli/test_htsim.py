# SPDX-License-Identifier: Apache-2.0
"""Transports against csg-htsim and uet-htsim: the incasts and permutations of docs/models/validation.md that take less than
a second, on a full three-level fat tree with links of 100 Gbit/s and 1 us, 2 MB a flow."""
import csv
import pathlib
import statistics
import tempfile

from weft_cli import SOURCE, check, finish, parse, run

NETWORK = ["--net", "packet", "-p", "net.bandwidth=100Gbit/s", "-p", "net.link_latency=1us", "-p", "net.router_delay=0", "-p",
           "net.timing=store_and_forward", "-q", "--json"]
TREES = {4: "fattree:2x2x4,up=1x2x2", 8: "fattree:4x4x8,up=1x4x4"}
PERMUTATION = "isend (rank + 1) % size 2MB irecv (rank - 1) % size 2MB waitall\n"
# Bytes of data and header of a packet that give htsim's number of packets.
SMALL, LARGE = "net.packet=4086 net.header=64 ", "net.packet=8972 net.header=28 "
FLOW, SPRAY = "net.routing=ecmp ", "net.routing=ecmp net.ecmp=packet "
EQDS, NDP = "net.transport=pull ", "net.transport=pull net.window=135kB net.queue=135kB "
ROCE, HPCC = "net.transport=fixed net.full_queue=pause ", "net.transport=hpcc "
UEC = "net.transport=nscc net.ecn_min=30kB net.ecn_max=120kB "
PATHS = "net.paths=128 net.avoid_paths=yes "
# Scenario, radix, settings; htsim's slowest flow in us and how far weft may be off; htsim's packets sent again, likewise.
KNOWN = [
    ("incast", 4, EQDS + SMALL + SPRAY, 2470.43, 0.01, 616, 0.05),
    ("incast", 4, NDP + LARGE + SPRAY, 2461.24, 0.015, 194, 0.05),
    ("incast", 4, ROCE + LARGE + FLOW, 2434.28, 0.015, 0, 0),
    ("incast", 4, UEC + SMALL + SPRAY, 2478.53, 0.02, None, None),
    ("incast", 4, "net.transport=pull net.queue=60kB " + SMALL + SPRAY, 2464.44, 0.01, None, None),
    ("incast", 4, HPCC + LARGE, 2496.41, 0.06, 0, 0), # leaves a twentieth of the link free, htsim's less
    ("incast", 8, EQDS + SMALL + SPRAY, 20963.4, 0.01, 5926, 0.05),
    ("incast", 8, NDP + LARGE + SPRAY, 20759.9, 0.02, 1886, 0.05),
    ("incast", 8, ROCE + LARGE + FLOW, 20544.9, 0.015, 0, 0),
    ("incast", 8, HPCC + LARGE + FLOW, 20560.5, 0.015, 0, 0),
    ("permutation", 4, EQDS + SMALL + FLOW, 416.704, 0.06, None, None),
    ("permutation", 4, UEC + SMALL + SPRAY + PATHS, 194.022, 0.05, 0, 0),
    ("permutation", 8, UEC + SMALL + SPRAY + PATHS, 200.909, 0.05, None, None),
]
# Times of single flows on csg-htsim's own routes: a hash chooses the port up at each switch (up, up2).
FLOWS = SOURCE / "tests/data/reference/htsim_flows.csv"
# For each transport: settings as in htsim, bytes of a flow, and how far single flows, their median and the mean of their errors may
# be off. RoCE, HPCC: packets of 9000 bytes, the last one too; pauses at 15 and 12 packets. HPCC: a round trip of 16.4 us, a step of a
# packet. EQDS: queues of 8 packets, a window of 50; times are means of seven runs, which trim other packets.
LOSSLESS = "net.full_queue=pause net.packet=9000 net.header=64 net.pause_at=135kB net.resume_at=108kB "
BY_FLOW = {
    "roce": ("net.transport=fixed " + LOSSLESS, 2007000, 0.1, 0.01, 0.04),
    "hpcc": (HPCC + LOSSLESS + "net.hpcc_flows=1 net.window=205kB ", 2007000, 0.25, 0.06, 0.08),
    "eqds": (EQDS + SMALL + "net.queue=33200 net.window=207500 ", 2000000, 0.3, 0.02, 0.08),
}


def flows(folder, scenario, radix, settings):
    """The transport of the result."""
    source = ["gen:pattern", "-p", "gen.kind=incast", "-p", "gen.bytes=2MB"]
    if scenario == "permutation":
        path = folder / "permutation.weft"
        path.write_text(PERMUTATION, encoding="utf-8")
        source = ["gen:text", "-p", f"gen.file={path}", "--placement", "random"]
    args = ["replay", *source, "-n", str(radix**3 // 4), "--topo", TREES[radix], *NETWORK]
    for setting in settings.split():
        args += ["-p", setting]
    done = run(*args)
    if not check(done.returncode == 0, f"{scenario}, radix {radix}, {settings}", done):
        return None
    return parse(done)["result"]["network"]["transport"]


def write_routes(path, nodes, half, rows):
    """The table of routing: each destination has one flow, so that its routes are the flow's."""
    lines = ["* * minimal"]
    for row in rows:
        src, dst = int(row["src"]), int(row["dst"])
        if row["up"]:
            lines.append(f"{nodes + src // half} {dst} {half + int(row['up'])}")
        if row["up2"]:
            above = nodes + nodes // half + src // half**2 * half + int(row["up"])
            lines.append(f"{above} {dst} {half + int(row['up2'])}")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def write_schedule(path, nodes, size, rows):
    does = {node: "" for node in range(nodes)}
    for row in rows:
        does[int(row["src"])] += f"s: send {size}b to {row['dst']} tag 0\n"
        does[int(row["dst"])] += f"r: recv {size}b from {row['src']} tag 0\n"
    path.write_text(f"num_ranks {nodes}\n" + "".join(f"rank {node} {{\n{text}}}\n" for node, text in does.items()),
                    encoding="ascii")


def compare_flows(folder, transport, radix):
    """Permutations whose flows take the same links as in htsim: each flow, or the 64 slowest, takes as long."""
    nodes, half = radix**3 // 4, radix // 2
    settings, size, flow_limit, median_limit, mean_limit = BY_FLOW[transport]
    with open(FLOWS, encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if row["transport"] == transport and int(row["nodes"]) == nodes]
    schedule, routes = folder / "flows.goal", folder / "routes.txt"
    write_schedule(schedule, nodes, size, rows)
    write_routes(routes, nodes, half, rows)
    args = ["replay", str(schedule), "--topo", TREES[radix], *NETWORK]
    for setting in (settings + f"net.routing=table net.routing_file={routes}").split():
        args += ["-p", setting]
    done = run(*args)
    if not check(done.returncode == 0, f"flows on routes of htsim, {transport}, radix {radix}", done):
        return
    theirs = {(int(row["src"]), int(row["dst"])): float(row["htsim_us"]) for row in rows}
    ours = parse(done)["result"]["network"]["transport"]["slowest_flows"]
    errors = [flow["time_ps"] / 1e6 / theirs[flow["source"], flow["destination"]] - 1 for flow in ours]
    middle, mean = statistics.median(errors), statistics.mean(map(abs, errors))
    check(len(errors) == min(64, len(rows)), f"{len(errors)} flows of {len(rows)}, {transport}, radix {radix}")
    check(max(map(abs, errors)) < flow_limit and abs(middle) < median_limit and mean < mean_limit,
          f"{transport}, radix {radix}: {min(errors):+.1%} to {max(errors):+.1%} of htsim's times, median {middle:+.1%}, mean {mean:.1%}")


def main():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for radix in TREES:
            for transport in BY_FLOW:
                compare_flows(pathlib.Path(folder), transport, radix)
        for scenario, radix, settings, slowest, tolerance, again, share in KNOWN:
            got = flows(pathlib.Path(folder), scenario, radix, settings)
            if got is None:
                continue
            found[scenario, radix, settings] = got
            what, time = f"{scenario}, radix {radix}, {settings}: {got}", got["flow_time_ps"]["max"] / 1e6
            check(abs(time / slowest - 1) <= tolerance, f"the slowest flow takes {slowest} us, not {time}: {what}")
            check(again is None or abs(got["sent_again"] - again) <= share * again, f"{again} packets are sent again: {what}")
    # PFC lets some flows end early (htsim: after 476 us); receivers that pull let all end together (after 2265 us).
    early, fair = (found["incast", 4, settings] for settings in (ROCE + LARGE + FLOW, NDP + LARGE + SPRAY))
    check(abs(early["flow_time_ps"]["min"] / 476.06e6 - 1) < 0.02 and early["fairness"] < 0.7, f"PFC is unfair: {early}")
    check(abs(fair["flow_time_ps"]["min"] / 2265.38e6 - 1) < 0.05 and fair["fairness"] > 0.99, f"NDP is fair: {fair}")
    finish()


if __name__ == "__main__":
    main()
