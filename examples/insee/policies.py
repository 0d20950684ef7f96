#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same programs with their messages in causal order, and all injected as fast as the network
takes them. The generators' programs, a wavefront (workloads/sweep2.weft), and traces given as FILE
or NAME=FILE."""
import pathlib
import statistics

import insee
from plot import Bars

POLICIES = ["causal", "asap"]


def programs_of(given):
    sweep = pathlib.Path(__file__).resolve().parent / "workloads" / "sweep2.weft"
    made = {**given.programs, "wavefront": ("gen:text", {"gen.file": sweep})}
    for word in given.traces:
        name, _, path = word.rpartition("=")
        made[name or pathlib.Path(path).stem] = (path, {})
    return made


def measure(given, programs):
    results = insee.replay_all(given, {(name, design, policy): (program, design, policy)
                                       for name, program in programs.items()
                                       for design in insee.DESIGNS for policy in POLICIES})
    return [[*key, round(statistics.mean(insee.cycles(many)), 1),
             round(insee.confidence(insee.cycles(many)), 1),
             round(statistics.mean(int(r["message_latency_ps"]["mean"]) / insee.PS_PER_CYCLE
                                   for r in many), 1),
             many[0]["messages"]] for key, many in results.items()]


def claims_of(rows):
    time = {tuple(r[:3]): r[3] for r in rows}
    latency = {tuple(r[:3]): r[5] for r in rows}
    ratio = {(r[0], r[1]): time[r[0], r[1], "asap"] / time[r[0], r[1], "causal"] for r in rows}
    first = insee.DESIGNS[0]
    return [
        ("no program takes longer without order than with it, but for 3 %",
         max(ratio.values()) < 1.03),
        ("the wavefront, a chain of messages, is delivered in less than a fifth of its time",
         ratio["wavefront", first] < 0.2),
        ("BT-like, where every rank always has something to send, hardly changes",
         abs(1 - ratio["BT-like", first]) < 0.03),
        ("messages wait many times longer, most of it at their source",
         latency["BT-like", first, "asap"] > 3 * latency["BT-like", first, "causal"]),
    ]


def main():
    parser = insee.parser(__doc__, seeds=5)
    parser.add_argument("traces", nargs="*", metavar="NAME=FILE", help="a trace of 64 ranks")
    given = insee.options(parser)
    rows = measure(given, programs_of(given))
    insee.write_csv(given.out / "policies.csv", ["program", "design", "policy", "cycles", "cycles_99",
                                                 "latency_cycles", "messages"], rows)
    time = {tuple(r[:3]): r[3] for r in rows}
    latency = {tuple(r[:3]): r[5] for r in rows}
    figure = Bars("All at once, relative to causal order", "relative time",
                  subtitle=f"time until all is delivered, 8x8 torus; {given.seeds} seeds")
    print(f"{'program':16}{'design':16}{'causal':>10}{'asap':>10}{'ratio':>8}"
          f"{'latency':>10}{'asap':>10}  (cycles)")
    for name, design in dict.fromkeys((r[0], r[1]) for r in rows):
        causal, asap = (time[name, design, policy] for policy in POLICIES)
        waits = [latency[name, design, policy] for policy in POLICIES]
        print(f"{name:16}{design:16}{causal:10.0f}{asap:10.0f}{asap / causal:8.3f}"
              f"{waits[0]:10.0f}{waits[1]:10.0f}")
        figure.add(design, name, asap / causal)
    figure.write(given.out / "policies.svg")
    insee.say("without their order messages compete that never would, and chains of messages "
              "disappear: what the network can carry, not what the program takes.", claims_of(rows))


if __name__ == "__main__":
    main()
