#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 2: conservative against optimistic, a 3D stencil on 4096 nodes."""
import tracer  # first: it finds papers.py
import papers
from plot import Figure, Log

EXPERIMENT = papers.Experiment(
    "tracer", "fig2", "conservative against optimistic", place="Fig. 2",
    setup="""3D Stencil on 4K nodes of a 3D torus, TorusNet and SimpleNet, 1 to 16 cores of Blue Waters
    (Sect. 5.1). Conservative: 43 million global synchronisations, 31 % of the time; 60 % of the time is
    communication. Optimistic: 1,239 synchronisations, 10 %.""",
    ours=f"""As many threads as there are cores. Beyond them a curve to 512 cores is predicted from the
    run's own counts: the events of a window are spread over the cores, and a barrier of p cores takes
    {papers.BARRIER_US:g} us * log2(p), an assumption. The third network, 'short lookahead', is TorusNet
    with links of 100 ps and no router delay, and compute times that differ by up to 10 %: the
    lookahead is then about as short as that of a simulator which advances event by event.""")
SHORT = {"net.link_latency": "100ps", "net.router_delay": "0", "gen.imbalance": 0.1}
NETWORKS = {**tracer.NETWORKS,
            "short lookahead": (tracer.NETWORKS["TorusNet"][0],
                                {**tracer.NETWORKS["TorusNet"][1], **SHORT})}
HEADER = ["network", "scheduler", "threads", "predicted_ps", "digest", *tracer.COUNTS]
PREDICTED = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


IDLE = "two threads say something of their times on an idle machine only, and were not measured in this run"


def measure(nodes, threads):
    """Documents by network, scheduler and threads."""
    runs = {}
    for name, network in NETWORKS.items():
        small = nodes if name != "short lookahead" else max(64, nodes // 8)
        for sched in ("sequential", "conservative", "optimistic"):
            for n in threads if sched != "sequential" else [1]:
                runs[name, sched, n] = tracer.simulate(EXPERIMENT, network, small, sched=sched, threads=n)
    return runs


def wall(runs, name, sched, n):
    """Seconds: of the processor if there is one thread, which other work does not change much."""
    return runs[name, sched, n]["run"]["cpu_seconds" if n == 1 else "wall_seconds"]


def curve_text(runs, name, sched, threads):
    return ", ".join(f"{papers.number(wall(runs, name, sched, n))} s on {n}" for n in threads)


def compare_times(runs, threads):
    most = threads[-1]
    if most == 1:
        EXPERIMENT.row("time over cores", "rises if conservative, falls if optimistic", "-", papers.IMPOSSIBLE, EXPERIMENT.given.busy or IDLE)
        return
    for name in NETWORKS:
        for sched, rises in (("conservative", True), ("optimistic", False)):
            what, paper = f"{name}, {sched}: time over cores", "rises" if rises else "falls"
            before, after = (wall(runs, name, sched, n) for n in (1, most))
            run = runs[name, sched, most]["run"]
            same = after > before if rises else after < before
            EXPERIMENT.row(
                what, paper, curve_text(runs, name, sched, threads), same,
                "" if same else
                f"""windows hold {papers.number(run['events_committed'] / max(1, run['windows']))} events each, so that a barrier
                is paid for many events and not for one""" if rises else
                "an optimistic run keeps an undo log and rolls back; the gain of two threads does not pay for that")


def compare_counts(runs, most):
    run = runs["TorusNet", "conservative", 1]["run"]
    windows, rounds = run["windows"], runs["TorusNet", "optimistic", most]["run"]["gvt_rounds"]
    EXPERIMENT.row("synchronisations: conservative, optimistic", "43 million, 1,239", f"{windows:,} windows, {rounds:,} GVT rounds",
                   windows > 1000 * rounds,
                   f"""a window of weft lasts as long as the shortest delay of the network allows, and has
                   {run['events_committed'] / windows:.0f} events on average; ROSS had a lookahead shorter than an event""")
    short = runs["short lookahead", "conservative", 1]["run"]
    EXPERIMENT.row("the same with a lookahead as short as theirs", "43 million synchronisations",
                   f"{short['windows']:,} windows of {short['events_committed'] / short['windows']:.1f} events: nearly one for each event",
                   short["events_committed"] < 3 * short["windows"],
                   "" if short["events_committed"] < 3 * short["windows"] else "many nodes still do the same at the same time")


def plot(runs, threads, nodes):
    figure = Figure(f"Conservative and optimistic, {nodes} nodes", "cores", "seconds", x=Log(2, text="{:.0f}".format),
                    y=Log(), subtitle="measured; * predicted from windows and events")
    for name in NETWORKS:
        for sched in ("conservative", "optimistic"):
            figure.add(f"{name.split()[0].removesuffix('Net')}, {sched[:4]}.", [(n, wall(runs, name, sched, n)) for n in threads])
        figure.add(f"{name.split()[0].removesuffix('Net')}, cons.",
                   [(n, papers.on_cores(runs[name, "sequential", 1]["run"], n)) for n in PREDICTED], paper=True)
    figure.series = [(n.replace(", paper", " *"), *rest) for n, *rest in figure.series]
    EXPERIMENT.picture(figure)


def main():
    given = EXPERIMENT.options()
    nodes = EXPERIMENT.pick(64, 4096, short=512)
    threads = papers.powers_of_two(1, given.threads) if given.form == "full" else [1]
    runs = measure(nodes, threads)
    rows = [[*key, d["result"]["predicted_time_ps"], d["result"]["digest"], *tracer.counts(d)]
            for key, d in runs.items()]
    EXPERIMENT.csv(HEADER, rows)
    compare_counts(runs, threads[-1])
    compare_times(runs, threads)
    curves = {n: [papers.on_cores(runs[n, "sequential", 1]["run"], c) for c in PREDICTED] for n in NETWORKS}
    EXPERIMENT.csv(["cores", *NETWORKS], [[c, *(curves[n][i] for n in NETWORKS)]
                                          for i, c in enumerate(PREDICTED)], "-cores")
    best = {n: min(range(len(PREDICTED)), key=lambda i, n=n: curves[n][i]) for n in NETWORKS}
    EXPERIMENT.row("conservative, predicted to 512 cores", "rises from 1 core on",
                   "; ".join(f"{n}: fastest on {PREDICTED[best[n]]} cores, {curves[n][0] / curves[n][best[n]]:.1f} "
                             "times as fast as on one" for n in NETWORKS),
                   best["TorusNet"] == 0,
                   f"from windows, events and {papers.BARRIER_US:g} us * log2(p) a barrier: a window has work for "
                   "many cores, except with the short lookahead")
    plot(runs, threads, nodes)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
