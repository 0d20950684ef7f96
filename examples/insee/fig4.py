#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figs. 4 and 5: a master that receives from named slaves, and one that receives from whoever asks."""
import csv
import pathlib

import insee  # noqa: F401, finds papers.py
import papers
from plot import Bars

TASKS = 8
# Microseconds of a task on slave 1 and on slave 2, and whom the master then serves first and second.
TRACES = {"a": (10, 12, [1, 2]), "b": (12, 10, [2, 1]), "c": (10, 1000, [1, 1]), "d": (1000, 10, [2, 2])}
EXPERIMENT = papers.Experiment(
    "insee", "fig4", "named and wildcard receives", place="Figs. 4 and 5",
    setup="""A master and two slaves. Version A receives from slave 1 and slave 2 in turn, version B from MPI_ANY_SOURCE. Version A always leaves trace a (1,
    2); version B may leave a (1, 2), b (2, 1), c (1, 1) or d (2, 2). Replaying a trace with wildcards may violate the program's
    semantics; following the recorded order is always valid (Sect. 5.2).""",
    ours="masterslave.c with both versions, as virtual ranks; the speeds of the slaves are chosen so that each trace appears.")


def record(program, version, one, two, where):
    """The order in which the master served, the time in us and the trace."""
    trace, table = (pathlib.Path(where) / f"{version}-{one}-{two}{end}" for end in (".weft", ".csv"))
    document = EXPERIMENT.weft("run", "-n", 3, "--net", "loggp", "--compute", "model", "--trace", trace, "--", program, version,
                               TASKS, one, two)
    EXPERIMENT.run(EXPERIMENT.given.weft, "convert", trace, table)
    with open(table, encoding="utf-8", newline="") as file:
        served = [int(r["peer"]) for r in csv.DictReader(file) if r["rank"] == "0" and r["kind"] == "send"]
    return served, document["result"]["predicted_time_ps"] / 1e6, trace


def replay(trace, how):
    """The time in us of a replay where slave 1 is three links of 100 us away and slave 2 one."""
    document = EXPERIMENT.weft("replay", trace, "--net", "latency", "--topo", "mesh:4", "--placement", "nodes:0,3,1",
                               params={"net.link_latency": "100us", "replay.wildcards": how})
    return document["result"]["predicted_time_ps"] / 1e6


def main():
    EXPERIMENT.options()
    rows = []
    figure = Bars("A master and two slaves", "microseconds", subtitle=f"{TASKS} tasks; by us of a task on slave 1 and slave 2")
    with papers.interruption.directory() as where:
        program = EXPERIMENT.build("masterslave", where, "insee")
        for name, (one, two, first) in TRACES.items():
            times = {}
            for version in "AB":
                served, times[version], trace = record(program, version, one, two, where)
                rows.append([name, version, one, two, " ".join(map(str, served)), times[version]])
                expected = [1, 2] if version == "A" else first
                EXPERIMENT.row(f"version {version}, tasks of {one} and {two} us: whom the master serves first",
                               f"trace {'a' if version == 'A' else name}: {expected[0]}, {expected[1]}", ", ".join(map(str, served[:2])),
                               served[:2] == expected, "" if served[:2] == expected else "another order")
                figure.add(f"version {version}", f"{one}, {two}", times[version])
            if name == "d":
                EXPERIMENT.row("version A stalls for the slower slave", "an unnecessary order, which may delay the program",
                               f"{times['A']:.0f} us against {times['B']:.0f} us of version B", times["A"] > 1.5 * times["B"],
                               "" if times["A"] > 1.5 * times["B"] else "no delay")
            if name == "a":
                found = {how: replay(trace, how) for how in ("recorded", "arrival")}
    EXPERIMENT.csv(["trace", "version", "us_1", "us_2", "served", "time_us"], rows)
    EXPERIMENT.row("trace a of version B, replayed where slave 1 is further away, in the recorded order", "always valid: waits for slave 1",
                   f"{found['recorded']:.0f} us", found["recorded"] > 0)
    EXPERIMENT.row("the same with wildcards (replay.wildcards=arrival)", "the master takes the request of slave 2 and answers slave 1: a violation",
                   f"{found['arrival']:.0f} us; the default is the recorded order",
                   found["arrival"] != found["recorded"], "" if found["arrival"] != found["recorded"] else "the order did not change")
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
