# SPDX-License-Identifier: Apache-2.0
"""weft capture on programs that make every call, in C and Fortran, under each MPI there is."""
import collections
import csv
import glob
import json
import os
import shlex
import shutil
import sys

from captured import (ENVIRONMENT, HERE, MPIS, WEFT, build, capture, check_messages, check_unchanged,
                      info, launch, replay, rows, run)

# Calls of a rank of every_call.c, where they do not depend on how often it had to ask.
CALLS = {"send": 8, "ssend": 2, "bsend": 4, "rsend": 2, "issend": 8, "sendrecv": 24, "probe": 8,
         "send_init": 4, "recv_init": 4, "start": 24, "startall": 4, "request_free": 16,
         "waitany": 64, "bcast": 16, "allreduce": 18, "gatherv": 8, "alltoallw": 8,
         "neighbor_alltoallv": 4, "ineighbor_alltoall": 4, "ialltoallv": 4, "comm_dup": 16,
         "comm_split": 8, "cart_create": 4, "graph_create": 4, "put": 4, "get": 4,
         "accumulate": 4, "win_fence": 12, "region_begin": 8, "iteration_end": 8}


def test_every_call(mpi):
    program = build("every_call.c", mpi)
    trace = f"every_{mpi}"
    check_unchanged(mpi, 4, trace, [program])
    document, done = info(trace)
    assert done.returncode == 0, done.stderr
    assert document["ranks"] == 4 and all(r["whole"] for r in document["per_rank"])
    counted = {kind: document["ops_by_kind"].get(kind, {}).get("calls") for kind in CALLS}
    assert counted == CALLS, {k: (counted[k], CALLS[k]) for k in CALLS if counted[k] != CALLS[k]}
    assert check_messages(trace) > 300
    replay(trace)
    # The same program does the same, whoever carries it: only how often it asked differs.
    return {k: v for k, v in document["ops_by_kind"].items()
            if not k.startswith(("test", "iprobe", "compute", "waitsome", "call"))}


def test_fortran(mpi):
    counts = []
    for interface in ("USE_MPIF", "USE_MPI", "USE_F08"):
        program = build("fortran.F90", mpi, f"-D{interface}")
        trace = f"fortran_{mpi}_{interface}"
        check_unchanged(mpi, 4, trace, [program])
        check_messages(trace)
        replay(trace)
        kinds = info(trace)[0]["ops_by_kind"]
        counts.append({k: v["calls"] for k, v in kinds.items()
                       if k in ("isend", "irecv", "recv", "sendrecv", "waitany", "startall",
                                "bcast", "gatherv", "comm_split", "put", "win_fence",
                                "region_begin", "probe", "iallreduce")})
        assert len(counts[-1]) == 14, counts[-1]
    assert counts[0] == counts[1] == counts[2], counts


def test_options(mpi):
    program = build("every_call.c", mpi)
    command = launch(mpi, 4, program)
    assert capture("some", command, "--ranks", "0,2-3").returncode == 0
    assert sorted(os.path.basename(p) for p in glob.glob("some/*.weft")) == [
        "rank-0000000.weft", "rank-0000002.weft", "rank-0000003.weft"]
    assert capture("untimed", command, "--no-times").returncode == 0
    assert "compute" not in info("untimed")[0]["ops_by_kind"]
    assert capture("part", command, "--region", "waits").returncode == 0
    kinds = info("part")[0]["ops_by_kind"]
    assert kinds["iteration_begin"]["calls"] == 8 and "bcast" not in kinds, kinds
    replay("part")
    assert capture("switched", command, "--pcontrol", "--clock", "wall",
                   "--compare-clocks").returncode == 0
    kinds = info("switched")[0]["ops_by_kind"]
    assert kinds["send_init"]["calls"] == 4 and "waitany" not in kinds, kinds
    again = run([WEFT, "capture", "-o", "part", "--", *command])
    assert again.returncode == 2 and "--force" in again.stderr


def test_bad_ends(mpi):
    program = build("crash.c", mpi)
    # How MPI itself ends a program differs; the others are ours.
    ends = ("none", "abort", "segv", "kill", "exit", "full")
    for how in ends if mpi == MPIS[0] else ends[1:3]:
        trace = f"{mpi}_{how}"
        alone = run(launch(mpi, 2, program, how))
        done = capture(trace, launch(mpi, 2, program, how))
        # When a rank dies the launcher kills the others; whose code it passes on is a matter of
        # who ended first.
        if how in ("none", "full"):
            assert done.returncode == alone.returncode == 0, (how, done.returncode, done.stderr)
        else:
            assert done.returncode != 0 and alone.returncode != 0, (how, done.stderr)
        document, said = info(trace)
        whole = [r.get("whole") for r in document["per_rank"]]
        ops = [r["ops"] for r in document["per_rank"]]
        # What does not fit into blocks that were full is lost, and no more.
        assert min(ops) > (5000 if how == "full" else 20000), (how, ops)
        if how == "none":
            assert whole == [True, True] and said.returncode == 0
        elif how == "full":
            assert whole == [True, False], whole
            assert done.stderr.count("is recorded no further") == 1, done.stderr
        else:
            assert said.returncode == 3 and whole[1] is False, (how, whole)
        assert (how != "full") or alone.stdout == done.stdout


def test_exit_code(mpi):
    """The launcher's exit code is the command's."""
    done = capture(f"code_{mpi}", launch(mpi, 1, "sh", "-c", "exit 7"))
    assert done.returncode == 7, (done.returncode, done.stderr)


def test_threads(mpi):
    """Threads that call at the same time: each has messages of its own."""
    program = build("threads.c", mpi, "-pthread")
    trace = f"threads_{mpi}"
    check_unchanged(mpi, 2, trace, [program])
    assert check_messages(trace) == 2 * 2 * 200
    replay(trace)


def test_pending(mpi):
    """Receives that are complete late or never: what they got is known, and replay ends."""
    program = build("pending.c", mpi)
    trace = f"open_{mpi}"
    check_unchanged(mpi, 2, trace, [program])
    kinds = info(trace)[0]["ops_by_kind"]
    assert kinds["test"]["calls"] < 20, kinds["test"]
    open_ones = [row for row in rows(trace) if row["kind"] == "irecv" and row["peer"] == "any"]
    # One got its message late, one perhaps in time. What was cancelled is from nobody.
    known = [row for row in open_ones if row["recorded"] in ("1", "true")]
    assert {(row["matched_peer"], row["matched_tag"]) for row in known} == {("1", "5")}, known
    assert len(known) in (1, 2) and len(open_ones) == len(known), open_ones
    replay(trace)


def test_edges(mpi):
    """Cancelled receives take nothing, epochs wait, reductions have names, _c is as without."""
    program = build("edges.c", mpi)
    trace = f"edge_{mpi}"
    check_unchanged(mpi, 2, trace, [program])
    document, _ = info(trace)
    kinds = {kind: one["calls"] for kind, one in document["ops_by_kind"].items()}
    assert document["reductions"] == {"sum": 2, "max": 4, "prod": 2, "minloc": 2, "bor": 2,
                                      "user": 2, "replace": 2}, document["reductions"]
    assert kinds["win_flush"] == 10 and kinds["put"] == 6, kinds
    table = list(rows(trace))
    cancelled = [row for row in table if row["kind"] == "irecv" and row["tag"] == "0"]
    assert [row["peer"] for row in cancelled] == ["none"] * 2, cancelled
    assert check_messages(trace) == 5
    assert {row["bytes"] for row in table if row["kind"] == "send" and row["peer"] != "none"} == {
        "4", "24"}, table
    named = {row["reduction"] for row in table if row["kind"] == "reduce_scatter"}
    assert named == {"prod"}, named
    replay(trace)
    done = run([WEFT, "convert", "-f", trace, "edges.weft"])
    assert done.returncode == 0, done.stderr
    assert info("edges.weft")[0]["reductions"] == document["reductions"]
    assert [row for row in rows("edges.weft") if row["kind"] == "irecv"] == [
        row for row in table if row["kind"] == "irecv"]
    replay("edges.weft")


def test_late(mpi):
    """A program loads MPI while it runs, as Python does."""
    library = build("late.c", mpi, "-shared", "-fPIC", "-DLIBRARY")
    done = run(["cc", "-w", os.path.join(HERE, "late.c"), "-o", "late"])
    assert done.returncode == 0, done.stderr
    trace = f"late_{mpi}"
    check_unchanged(mpi, 2, trace, ["./late", library])
    assert check_messages(trace) == 2
    replay(trace)


def test_plus(mpi):
    program = build("plus.cpp", mpi)
    trace = f"c++_{mpi}"
    check_unchanged(mpi, 2, trace, [program])
    assert check_messages(trace) == 2
    replay(trace)
    assert "starts_spread_ns" in info(trace)[0]["file"]


def test_clocks(mpi):
    """A rank whose clock is 5000 s ahead, as on another host: the comparison finds it out."""
    ahead = ["unshare", "-T", "--monotonic", "5000"]
    if not shutil.which("unshare") or run([*ahead, "true"]).returncode != 0:
        return
    program = build("plus.cpp" if shutil.which(f"mpicxx.{mpi}") else "edges.c", mpi)
    with open("ahead.sh", "w", encoding="utf-8") as file:
        file.write("rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
                   f"[ $rank = 1 ] && exec {' '.join(ahead)} {program}\nexec {program}\n")
    command = launch(mpi, 2, "sh", "ahead.sh")
    done = capture(f"ahead_{mpi}", command, "--compare-clocks", "--mpi", mpi)
    assert done.returncode == 0, done.stderr
    file = info(f"ahead_{mpi}")[0]["file"]
    assert 0 < file["starts_doubt_ns"] < 10 ** 9 and file["starts_spread_ns"] < 10 ** 11, file


def test_full_disk(mpi):
    """A file system of 128 KiB, where this may be made: the program ends as it does by itself."""
    program = build("crash.c", mpi)
    os.makedirs("disk", exist_ok=True)
    mount = ["unshare", "-rm", "sh", "-c",
             "mount -t tmpfs -o size=128k none disk && { [ $# = 0 ] || \"$@\"; } && "
             "{ [ $# = 0 ] || \"$WEFT\" info --json --per-rank disk/trace >full.json; }; "
             "[ $? = ${EXPECTED:-0} ]", "sh"]
    if not shutil.which("unshare") or run(mount).returncode != 0:
        return
    done = run([*mount, WEFT, "capture", "-o", "disk/trace", "--", *launch(mpi, 2, program, "none")],
               env=dict(ENVIRONMENT, EXPECTED="3"))
    assert done.returncode == 0 and done.stdout == "1\n", (done.returncode, done.stderr)
    assert "is recorded no further" in done.stderr, done.stderr
    with open("full.json", encoding="utf-8") as file:
        ranks = json.load(file)["per_rank"]
    assert not all(rank.get("whole") for rank in ranks) and max(r["ops"] for r in ranks) > 1000, ranks


def test_calibrate(mpi):
    done = run([WEFT, "calibrate", "--repeat", "2", "--time", "2s", "--max-bytes", "16KiB", "-o",
                f"{mpi}.yaml", "--", *launch(mpi, 2)])
    assert done.returncode == 0 and "latency" in done.stdout, done.stderr
    done = run([WEFT, "replay", f"threads_{mpi}", "--machine", f"{mpi}.yaml", "-q"])
    assert done.returncode == 0, done.stderr
    done = run([WEFT, "calibrate", "-o", "one.yaml", "--", *launch(mpi, 1)])
    assert done.returncode == 3 and "two ranks" in done.stderr, done.stderr


def test_wrapped_calibrate(mpi):
    """A script that wraps the launcher says nothing about the MPI: weft tries."""
    with open(f"wrapped_{mpi}", "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {shlex.join(launch(mpi, 3))} \"$@\"\n")
    os.chmod(f"wrapped_{mpi}", 0o755)
    done = run([WEFT, "calibrate", "--repeat", "1", "--time", "1s", "--max-bytes", "4KiB", "--json",
                "-o", f"wrapped_{mpi}.yaml", "--", f"./wrapped_{mpi}"])
    assert done.returncode == 0 and json.loads(done.stdout)["mpi"] == mpi, (done.stdout, done.stderr)


def test_cost(mpi):
    """What recording takes is measured, kept by convert, and added where it is asked for."""
    trace = f"threads_{mpi}"
    document, _ = info(trace)
    costs = [rank["recording_cost_ps"] for rank in document["per_rank"]]
    assert all(1000 < cost < 10 ** 8 for cost in costs), costs
    done = run([WEFT, "convert", "-f", trace, "kept.weft"])
    assert done.returncode == 0, done.stderr
    assert [r["recording_cost_ps"] for r in info("kept.weft")[0]["per_rank"]] == costs
    computes = [collections.Counter() for _ in costs]
    for row in rows(trace):
        computes[int(row["rank"])][row["kind"]] += 1
    times = []
    for captured in ("false", "true"):
        done = run([WEFT, "replay", "kept.weft", "-q", "--json", "-p", f"replay.captured={captured}"])
        assert done.returncode == 0, done.stderr
        times.append(json.loads(done.stdout)["result"]["ranks"]["compute_ps"]["mean"])
    more = sum(computes[i]["compute"] * cost for i, cost in enumerate(costs))
    assert abs(len(costs) * (times[1] - times[0]) - more) <= len(costs), (times, more)


def test_stacks(mpi):
    """The functions that make a call, of every rank, and after a conversion; none without --stacks."""
    program = build("stacks.c", mpi)
    check_unchanged(mpi, 2, "stacks", [program], "--stacks")
    for trace in "stacks", "stacks.weft":
        if trace != "stacks":
            assert run([WEFT, "convert", "-f", "stacks", trace]).returncode == 0
        done = run([WEFT, "replay", trace, "--record-calls", "-q", "-f", "-o", "stacks.calls.csv"])
        assert done.returncode == 0, done.stderr
        with open("stacks.calls.csv", encoding="utf-8") as file:
            calls = list(csv.DictReader(file))
        for rank in "01":
            made = [(call["name"], call["stack"]) for call in calls if call["rank"] == rank]
            exchange = [("sendrecv", f"main > {who} > pass_on") for who in
                        ("solve", "solve", "solve", "check_it")]
            assert made[1:6] == exchange + [("allreduce", "main > check_it")], made
    assert capture("plain", launch(mpi, 2, program)).returncode == 0
    done = run([WEFT, "replay", "plain", "--record-calls", "-q", "-f", "-o", "plain.json"])
    with open("plain.json", encoding="utf-8") as file:
        assert "stack_names" not in json.load(file)["recording"], done.stderr


def test_wrong_use():
    for arguments, words in (([], "a command to run"), (["--", "cat"], "no directory"),
                             (["-o", "x", "--", "cat"], "cannot tell which MPI")):
        done = run([WEFT, "capture", *arguments])
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)
    assert not os.path.exists("x")


def test_nothing_recorded(mpi):
    done = run([WEFT, "capture", "-q", "-o", "nothing", "--mpi", mpi, "--", "true"])
    assert done.returncode == 3 and "nothing was recorded" in done.stderr, (done.returncode, done.stderr)


def main():
    test_wrong_use()
    if not MPIS:
        print("no MPI whose programs can be recorded")
        return 77
    counts = [test_every_call(mpi) for mpi in MPIS]
    assert all(c == counts[0] for c in counts), counts
    for mpi in MPIS:
        if shutil.which(f"mpifort.{mpi}"):
            test_fortran(mpi)
        test_bad_ends(mpi)
        test_exit_code(mpi)
        test_threads(mpi)
        test_pending(mpi)
        test_edges(mpi)
        test_late(mpi)
        test_full_disk(mpi)
        test_clocks(mpi)
        test_stacks(mpi)
        if shutil.which(f"mpicxx.{mpi}"):
            test_plus(mpi)
        test_cost(mpi)
    test_calibrate(MPIS[0])
    test_wrapped_calibrate(MPIS[-1])
    test_options(MPIS[-1])
    test_nothing_recorded(MPIS[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
