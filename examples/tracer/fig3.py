#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 3: batch size and GVT interval of the optimistic scheduler."""
import tracer  # first: it finds papers.py
import papers
from plot import Figure, Linear, Log

EXPERIMENT = papers.Experiment(
    "tracer", "fig3", "batch size and GVT interval", place="Fig. 3",
    setup="""3D Stencil on a 3D torus, TorusNet: 8K nodes on 8 cores, 512K nodes on 256 cores; event rate
    and efficiency over batch size and GVT interval (Sect. 5.2). Stated: the rate rises with the batch, less
    and less; a long interval usually helps; a long interval with large batches lowers both. Chosen there:
    batch 16, interval 1024.""",
    ours="""As many threads as cores. 8K and 512K nodes with TorusNet and SimpleNet; 512K nodes also with packets simulated as
    trains. Fewer points with 512K nodes: with TorusNet each of them is a thousand million events.""")
HEADER = ["case", "batch", "gvt_interval", *tracer.COUNTS, "events_per_second"]


LARGE = 524288  # the larger of the two systems
ALONE = {}  # by case: what a run on one thread says of itself


def case_of(network, nodes):
    return f"{network}, {tracer.in_thousands(nodes)} nodes"


def busy(case):
    return papers.busy_words([ALONE[case]]) if case in ALONE else ""


def measure(case, network, nodes, points):
    rows = []
    if EXPERIMENT.given.form == "full":
        ALONE[case] = tracer.simulate(EXPERIMENT, network, nodes)["run"]
    for batch, interval in points:
        document = tracer.simulate(EXPERIMENT, network, nodes, sched="optimistic",
                                   threads=EXPERIMENT.given.threads,
                                   params={"engine.batch": batch, "engine.gvt_interval": interval,
                                           "engine.safe": "no"})
        run = document["run"]
        rows.append([case, batch, interval, *tracer.counts(document),
                     run["events_committed"] / max(1e-9, run["wall_seconds"])])
    return rows


def table(rows, case, column):
    at = HEADER.index(column)
    return {(r[1], r[2]): r[at] for r in rows if r[0] == case}


def plot(rows, case, column, title, unit):
    values = table(rows, case, column)
    low = min(values.values())
    y = Linear(low=10 * ((low - 1) // 10)) if unit == "percent" else Log()
    figure = Figure(f"{title}, {case}", "batches between two GVT rounds", unit,
                    x=Log(4, text="{:.0f}".format), y=y,
                    subtitle=f"optimistic on {EXPERIMENT.given.threads} threads, 3D Stencil")
    for batch in sorted({b for b, _ in values}):
        figure.add(f"batch {batch}", [(i, v) for (b, i), v in values.items() if b == batch])
    network, nodes = case.lower().split(", ")
    EXPERIMENT.picture(figure, f"-{network}-{nodes.split()[0]}-{column.split('_')[0]}")


def compare(rows, case):
    rate, efficiency = (table(rows, case, c) for c in ("events_per_second", "efficiency_percent"))
    batches, intervals = sorted({b for b, _ in rate}), sorted({i for _, i in rate})
    small, large, low, high = batches[0], batches[-1], intervals[0], intervals[-1]
    words = busy(case)
    if EXPERIMENT.given.form != "full" or words:
        EXPERIMENT.row(f"{case}: event rate over batch and interval", "rises with the batch; a long interval is usually faster", "-",
                       papers.IMPOSSIBLE, words or "two threads say something of their rates on an idle machine only, and were not measured in this run")
        compare_efficiency(case, efficiency, large, high)
        return
    rises = rate[batches[1], high] > rate[small, high]
    EXPERIMENT.row(f"{case}: event rate from batch {small} to {batches[1]} at interval {high}", "rises",
                   f"{rate[small, high] / 1e6:.2f} to {rate[batches[1], high] / 1e6:.2f} million/s", rises,
                   "" if rises else "a look at the incoming queue is a load from memory here, not a call of MPI")
    helps = sum(rate[b, high] > rate[b, low] for b in batches)
    EXPERIMENT.row(f"{case}: interval {high} instead of {low}", "usually faster",
                   f"faster with {helps} of {len(batches)} batches: "
                   + ", ".join(f"{rate[b, high] / rate[b, low]:.2f} times with {b}" for b in batches),
                   2 * helps > len(batches),
                   "a GVT round is a barrier of threads, not an allreduce; a long interval grows the undo log out "
                   "of the caches")
    compare_efficiency(case, efficiency, large, high)


def compare_efficiency(case, efficiency, large, high):
    best = max(efficiency.values())
    falls = efficiency[large, high] < best - 1
    EXPERIMENT.row(f"{case}: efficiency with batch {large} and interval {high}", "lower than elsewhere",
                   f"{efficiency[large, high]:.1f} %, best {best:.1f} %", falls,
                   "" if falls else "threads with a block of the torus each advance alike; see Fig. 4 for what makes "
                   "them roll back")


def main():
    given = EXPERIMENT.options()
    if given.busy:  # GVT rounds wait for threads without a core
        given.form, given.threads = "short", 2
    points = EXPERIMENT.pick([(4, 16), (64, 256)],
                             [(b, i) for b in (1, 4, 16, 64, 256, 1024) for i in (4, 64, 1024, 4096)],
                             short=[(b, i) for b in (4, 64) for i in (4, 1024)])
    few = EXPERIMENT.pick(None, [(4, 16), (64, 16), (1024, 16), (4, 1024), (64, 1024), (1024, 1024)], short=[])
    nodes = EXPERIMENT.pick(16, 8192, short=512)
    cases = {case_of("TorusNet", nodes): (tracer.NETWORKS["TorusNet"], nodes, points)}
    if EXPERIMENT.given.form != "quick":
        cases[case_of("SimpleNet", nodes)] = (tracer.NETWORKS["SimpleNet"], nodes, points)
    if few:
        for name, network in (*tracer.NETWORKS.items(), ("trains", tracer.TRAINS)):
            cases[case_of(name, LARGE)] = (network, LARGE, few)
    rows = [row for case, given in cases.items() for row in measure(case, *given)]
    EXPERIMENT.csv(HEADER, rows)
    for case in cases:
        compare(rows, case)
        if EXPERIMENT.given.form == "full" and not busy(case):
            plot(rows, case, "events_per_second", "Event rate", "events per second")
        plot(rows, case, "efficiency_percent", "Efficiency", "percent")
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
