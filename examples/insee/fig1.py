#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figs. 1 and 2: a regular trace and an extended one, in which collectives are messages."""
import json
import pathlib
import re

import insee
import papers
from plot import Timeline

EXPERIMENT = papers.Experiment(
    "insee", "fig1", "a regular and an extended trace", place="Figs. 1 and 2",
    setup="""CG.W.8 in Jumpshot. Regular: an MPI_Barrier is a state without messages. Extended (a modified MPICH): the barrier is made of
    MPI_Sendrecv, whose messages are visible (Sect. 3). The timing is not changed.""",
    ours="""workloads/cg8.weft, the messages of CG on 8 ranks with a barrier before and after; `weft convert --expand-collectives` writes the
    extended trace, with the algorithms of MPICH or any other.""")
KINDS = {"c": "computing", "o": "CPU for messages", "s": "in a send", "r": "in a receive", "k": "in a collective"}
RANKS = 8


def spans_of(recording):
    """(rank, kind, begin, end) in microseconds."""
    for rank, text in enumerate(recording["spans"]):
        now = 0
        for kind, length in ((k, int(n)) for k, n in re.findall(r"([a-z-])(\d+)", text)):
            if kind in KINDS:
                yield rank, KINDS[kind], now / 1e6, (now + length) / 1e6
            now += length


def messages_of(recording):
    """(from, departure, to, arrival) in microseconds."""
    for rank, text in enumerate(recording["messages"]):
        departure = 0
        for part in filter(None, text.split(";")):
            to, after, duration, _ = (int(n) for n in part.split())
            departure += after
            yield rank, departure / 1e6, to, (departure + duration) / 1e6


def draw(recording, title, until, suffix, arrows):
    figure = Timeline(title, "microseconds", [f"rank {r}" for r in range(RANKS)],
                      subtitle="the first barrier; lines are messages of the trace" if arrows else
                      "the first barrier; the trace has no messages of it")
    # By kind, so that both pictures have the same colours.
    for rank, kind, begin, end in sorted(spans_of(recording), key=lambda span: list(KINDS.values()).index(span[1])):
        if begin < until:
            figure.add(rank, kind, begin, min(end, until))
    for rank, begin, to, end in messages_of(recording) if arrows else ():
        if end < until:
            figure.arrow(rank, begin, to, end)
    EXPERIMENT.picture(figure, suffix)


def log_of(trace, log):
    """The records of a log of MPE that a simulated run was written to, by name."""
    EXPERIMENT.run(EXPERIMENT.given.weft, "replay", trace, "--record-calls", "--net", "loggp", "-q", "-o", log)
    return json.loads(EXPERIMENT.run(EXPERIMENT.given.weft, "info", "--json", log).stdout)["records"]


def main():
    given = EXPERIMENT.options()
    found, logs = {}, {}
    with papers.interruption.directory() as where:
        regular, extended = (pathlib.Path(where) / f"{name}.weft" for name in ("regular", "extended"))
        EXPERIMENT.run(given.weft, "gen", "text", "-n", RANKS, "-o", regular, "-p",
                       f"gen.file={insee.HERE / 'workloads/cg8.weft'}")
        EXPERIMENT.run(given.weft, "convert", "--expand-collectives", regular, extended)
        for name, trace in (("regular", regular), ("extended", extended)):
            found[name] = EXPERIMENT.weft("replay", trace, "--record", "--record-calls", "--net", "loggp")
            logs[name] = log_of(trace, pathlib.Path(where) / f"{name}.clog2")
    result = {name: d["result"] for name, d in found.items()}
    recording = {name: d["recording"] for name, d in found.items()}
    calls = {name: {c["call"]: c["calls"] for c in r["by_call"]} for name, r in recording.items()}
    EXPERIMENT.csv(["trace", "call", "count"], [[name, call, n] for name in calls for call, n in calls[name].items()])
    hidden = calls["regular"].get("barrier", 0)
    EXPERIMENT.row("regular: barriers", "states without messages", f"{hidden} calls of 8 ranks, no messages in the trace", hidden == 2 * RANKS,
                   "" if hidden == 2 * RANKS else "16 expected")
    gone = calls["extended"].get("barrier", 0) == 0
    more = sum(calls["extended"].values()) - sum(calls["regular"].values())
    EXPERIMENT.row("extended: barriers", "MPI_Sendrecv, with messages", f"no barrier left, {more + hidden} sends and receives instead", gone,
                   "" if gone else "barriers are left")
    same = result["regular"]["predicted_time_ps"] == result["extended"]["predicted_time_ps"]
    EXPERIMENT.row("timing of the two", "not changed",
                   f"{result['regular']['predicted_time_ps'] / 1e6:.3f} and {result['extended']['predicted_time_ps'] / 1e6:.3f} us, "
                   f"{result['regular']['messages']} and {result['extended']['messages']} messages", same,
                   "" if same else "the expanded collective waits in other calls")
    sent = {name: sum(log[end]["count"] for end in ("SENDMSG", "RECVMSG")) for name, log in logs.items()}
    good = logs["regular"]["MPI_Barrier"]["count"] == hidden and "MPI_Barrier" not in logs["extended"] and sent["extended"] > sent["regular"]
    EXPERIMENT.row("logs of MPE (CLOG2)", "trace format of the paper, shown by Jumpshot",
                   f"written (-o run.clog2) and read again: {sent['regular']} ends of messages and {hidden} barriers in the regular log, "
                   f"{sent['extended']} and none in the extended one", good,
                   "the format was checked against a log of MPE; Jumpshot itself was not at hand")
    until = 10.0
    draw(recording["regular"], "Regular trace of CG on 8 ranks", until, "-regular", arrows=False)
    draw(recording["extended"], "Extended trace of CG on 8 ranks", until, "-extended", arrows=True)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
