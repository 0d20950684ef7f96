#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 16 and Table 2: the speed of the simulator, and corrections in proportion to messages."""
import bigsim
import papers
from plot import Figure, Log

PAPER = {8192: (20.04e6, 357351), 16384: (20.18e6, 305487), 32768: (20.42e6, 126629), 65536: (20.93e6, 59762)}
EXPERIMENT = papers.Experiment(
    "bigsim", "fig16", "speed-up of the simulator and corrections", place="Fig. 16 and Table 2",
    setup="""LeanMD. Fig. 16: the simulation scales reasonably over hundreds of processors. Table 2: real messages 20.04, 20.18, 20.42, 20.93 million on 8K,
    16K, 32K, 64K simulated processors; corrections 357,351, 305,487, 126,629, 59,762 (1.8 to 0.3 %); about 50 % overhead over emulation alone
    (Sect. 6.4).""",
    ours="""gen:leanmd as in Figs. 13 and 14. What plays the part of corrections are events rolled back and anti-messages of an optimistic run; a
    conservative one has none. Threads as far as there are cores; more of them are predicted from windows and events, as for TraceR's
    Fig. 2.""")
CORES = [1, 2, 4, 8, 16, 32, 64, 128, 256]


def corrections(sizes, pair_ns, cells, steps, threads):
    rows = []
    for n in sizes:
        document = bigsim.leanmd(EXPERIMENT, n, pair_ns=pair_ns, cells=cells,
                                 words=["--sched", "optimistic", "--threads", threads],
                                 params={"gen.steps": steps, "engine.fit": "no", "engine.safe": "no"})
        run = document["run"]
        rows.append([n, document["result"]["messages"], run["events_rolled_back"], run["anti_messages"], run["events_committed"],
                     run["wall_seconds"], run["cpu_seconds"]])
    return rows


def speed(n, pair_ns, cells, steps, threads):
    """What runs say of themselves by scheduler and threads, and a run without a network."""
    runs = {}
    for t in threads:
        for sched in ("sequential" if t == 1 else "conservative", "optimistic"):
            document = bigsim.leanmd(EXPERIMENT, n, pair_ns=pair_ns, cells=cells, params={"gen.steps": steps, "engine.fit": "no"},
                                     words=["--sched", sched, "--threads", t])
            runs[sched, t] = document["run"]
    params = {**bigsim.ATOMS, "gen.cells": cells, "gen.pair_time": f"{pair_ns}ns", "gen.steps": steps}
    return runs, EXPERIMENT.weft("replay", "gen:leanmd", "-n", n, "--net", "none", params=params)["run"]


def gains_of(runs, sched):
    """The measured speed-up by threads, over the same scheduler on one."""
    one = runs["sequential" if sched == "conservative" else sched, 1]["wall_seconds"]
    return {t: one / run["wall_seconds"] for (name, t), run in runs.items() if name == sched}


def compare_messages(rows, steps, full):
    for n, messages, undone, anti, events, *_ in rows:
        theirs, corrected = PAPER.get(n, (None, None))
        scaled = messages * 3 / steps
        if full and theirs:
            EXPERIMENT.row(f"messages on {n:,} processors", f"{theirs / 1e6:.2f} million",
                           f"{scaled / 1e6:.2f} million ({papers.signed(scaled, theirs)})", abs(scaled / theirs - 1) < 0.06,
                           "" if abs(scaled / theirs - 1) < 0.06 else "the paper's number grows with the processors by messages of its run-time system, which ours does not have")
        share = undone / max(1, events)
        EXPERIMENT.row(f"corrections on {n:,} processors",
                       f"{corrected:,}, {corrected / theirs:.2%} of the messages" if theirs else "0.3 to 1.8 %",
                       f"{undone:,} events rolled back ({share:.2%}), {anti:,} anti-messages; none with conservative windows",
                       share < 0.02 if EXPERIMENT.given.threads > 1 else papers.IMPOSSIBLE,
                       "one thread rolls nothing back; two of them say something on an idle machine only" if EXPERIMENT.given.threads == 1 else
                       "a rollback undoes a whole event, and two threads run ahead of each other as the host lets them" if share >= 0.02 else "")


def compare_speed(n, first, gains, curve):
    theirs = "reasonable over hundreds of processors (values only in the plot)"
    if gains:
        most = max(gains["optimistic"])
        scales = gains["optimistic"][most] > 0.6 * most
        EXPERIMENT.row(f"speed-up of the simulator, {n:,} processors, optimistic", theirs,
                       f"{gains['optimistic'][most]:.2f} on {most} threads", scales,
                       "" if scales else "rollbacks take a part of what the second thread adds")
    EXPERIMENT.row(f"speed-up of the simulator, {n:,} processors, conservative", theirs,
                   "".join(f"{gain:.2f} on {t} threads; " for t, gain in gains.get("conservative", {}).items())
                   + f"predicted {curve[64]:.0f} on 64 cores and {curve[256]:.0f} on 256", curve[256] > 20,
                   "" if curve[256] > 20 else f"a hop of 5 ns is all the lookahead there is: {first['events_committed'] / max(1, first['windows']):.0f} events a "
                   "window are too few for a barrier. BigSim synchronises without windows")


def main():
    given = EXPERIMENT.options()
    cells = EXPERIMENT.pick("8x8x8", bigsim.CELLS)
    steps = EXPERIMENT.pick(1, 3, short=1)
    sizes = EXPERIMENT.pick([256], list(PAPER), short=[8192, 32768])
    pair_ns = bigsim.pair_time(EXPERIMENT, cells, steps)
    threads = papers.powers_of_two(1, given.threads) if given.form == "full" and not given.busy else [1]
    if given.busy:  # what is rolled back is counted, not timed
        given.threads = 2
    rows = corrections(sizes, pair_ns, cells, steps, given.threads)
    EXPERIMENT.csv(["processors", "messages", "rolled_back", "anti_messages", "events", "wall_seconds", "cpu_seconds"], rows)
    compare_messages(rows, steps, given.form != "quick")
    n = sizes[-1] if given.form == "quick" else 32768
    runs, alone = speed(n, pair_ns, cells, steps, threads)
    first = runs["sequential", 1]
    curve = {c: papers.on_cores(first, 1) / papers.on_cores(first, c) for c in CORES}
    EXPERIMENT.csv(["cores", "predicted_speed_up"], list(curve.items()), "-cores")
    measured = threads[-1] > 1 and not papers.busy_words([first])
    gains = {sched: gains_of(runs, sched) for sched in ("conservative", "optimistic")} if measured else {}
    compare_speed(n, first, gains, curve)
    over = first["cpu_seconds"] / alone["cpu_seconds"] - 1
    EXPERIMENT.row("simulation against emulation alone", "about 50 % overhead", f"{over:+.0%} CPU time over a network that costs nothing", abs(over - 0.5) < 0.25,
                   "" if abs(over - 0.5) < 0.25 else "an emulation without a network still simulates every message here")
    figure = Figure(f"Speed-up of the simulator, {n:,} processors", "cores", "speed-up", x=Log(2, text="{:.0f}".format), y=Log(2, text="{:.0f}".format),
                    subtitle="LeanMD; " + ("measured with threads, and " if measured else "") + "predicted from windows and events")
    for sched, by_threads in gains.items():
        figure.add(sched, list({1: 1.0, **by_threads}.items()))
    figure.add("predicted", list(curve.items()))
    figure.add("linear", [(c, c) for c in CORES], paper=True)
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
