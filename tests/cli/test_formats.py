# SPDX-License-Identifier: Apache-2.0
"""Traces of other tools: what is read of DUMPI, CLOG2 and TI, what is refused and with which
words, and what conversions lose.

Real traces are read too: those of tests/data, or of the directory that WEFT_TRACES names, with a
file expected_counts.csv of what is in them."""
import collections
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import foreign  # noqa: E402
from weft_cli import check, check_run, finish, parse, real_traces, run  # noqa: E402

FORMATS = ("dumpi", "clog2", "ti")


def make():
    foreign.write_dumpi("exchange", [foreign.dumpi_exchange(r).finish() for r in (0, 1)])
    foreign.write_dumpi("comms", [foreign.dumpi_communicators(r).finish() for r in range(4)])
    pathlib.Path("x.clog2").write_bytes(foreign.clog2_exchange())
    pathlib.Path("little.clog2").write_bytes(foreign.clog2_exchange(big=False))
    pathlib.Path("x.ti").write_text(foreign.ti_all())
    for rank in (0, 1):
        lines = [line for line in foreign.ti_all().splitlines(True) if line[0] == str(rank)]
        pathlib.Path(f"part{rank}").write_text("".join(lines))
    pathlib.Path("list.txt").write_text("part0\npart1\n")


def info(*words):
    return parse(check_run(["info", *words, "--json"], 0))


def ops(trace):
    """The lines of the trace as CSV, by rank."""
    check_run(["convert", trace, "ops.csv", "-f"], 0, stderr="note: not in a .csv")
    by_rank = collections.defaultdict(list)
    with open("ops.csv", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            by_rank[int(row["rank"])].append(row)
    return by_rank


def replays(trace, *words):
    """The trace reaches its end whatever is asked for; returns the predicted times."""
    times = []
    for policy in ("causal", "timed"):
        for net in (["--net", "loggp"], ["--net", "latency", "--topo", "torus:4x4x4"]):
            done = check_run(["replay", trace, *net, "-p", f"replay.policy={policy}", *words], 0,
                             stdout="Predicted time")
            times.append([line for line in done.stdout.splitlines() if "Predicted" in line])
    return times


# ---- what is read ----

def test_dumpi():
    """Requests by name, open receives by what they got, collectives by their blocks."""
    for name in ("exchange", "exchange/t.meta"):
        document = info(name)
        check(document["ranks"] == 2 and document["format"] == "dumpi", f"{name}: {document}")
    check(document["records"]["MPI_Isend"]["count"] == 6, "isends are counted")
    check(document["records"]["MPI_Isend"]["per_rank"][1] ==
          {"rank": 1, "count": 3, "bytes": 40 + 8 + 12}, "of rank 1 too")
    rows = [row for row in ops("exchange")[0] if row["kind"] != "compute"]
    found = [(row["kind"], row["peer"], row["tag"], row["bytes"], row["requests"])
             for row in rows]
    check(found[3] == ("irecv", "any", "-1", "40", ""), f"an open irecv: {found[3]}")
    check(rows[3]["matched_peer"] == "1" and rows[3]["matched_tag"] == "7", "and what it got")
    check(found[7][0] == "waitall" and found[7][4] == "1 2 3", f"names twice: {found[7]}")
    check([row["kind"] for row in rows].count("irecv") == 3, "a cancelled irecv is a call")
    check([row["counts"] for row in rows if row["kind"] == "gatherv"] == ["4 8"], "gatherv")
    check([(row["counts"], row["recv_counts"]) for row in rows if row["kind"] == "alltoallv"] ==
          [("4 8", "4 12")], "alltoallv")
    check(document["reductions"] == {"sum": 4}, f"reductions: {document['reductions']}")
    check([row["kind"] for row in rows[-6:]] ==
          ["call", "put", "win_flush", "win_free", "call", "finalize"], f"epochs: {rows[-6:]}")
    gaps = [row["duration_ps"] for row in ops("exchange")[0] if row["kind"] == "compute"]
    check(set(gaps) == {"500000", "1000000"}, f"times between calls: {set(gaps)}")
    replays("exchange")


def groups_of(by_rank, kind, rank):
    return [row["comm"] for row in by_rank[rank] if row["kind"] == kind]


def test_communicators():
    """Numbers of communicators are of each rank; who belongs together is found out."""
    document = info("comms")
    check(len(document["communicators"]) == 15, f"15 of them: {document['communicators']}")
    # 4 of one rank alone; both colors and both rows, of 2; the group and the color of 3.
    sizes = collections.Counter(one["size"] for one in document["communicators"])
    check(sizes == {4: 5, 3: 2, 2: 4, 1: 4}, f"their sizes: {sizes}")
    check(any("not recorded" in note for note in document["notes"]), "one is not known")
    by_rank = ops("comms")
    # The split turns the order round: the first member of the even ones is rank 2.
    split = [row["new_comm"] for row in by_rank[0] if row["kind"] == "comm_split"][0]
    first = {one["first_member"] for one in document["communicators"]
             if str(one["number"]) == split}
    check(first == {2, 3}, f"a split by keys: {first}")
    none = [row["new_comm"] for row in by_rank[0] if row["kind"] == "comm_create"][0]
    check(none == "any", "rank 0 is not in the group")
    # Between rows a rank names ranks of the other row.
    sends = [(rank, row["peer"]) for rank in (0, 1) for row in by_rank[rank]
             if row["kind"] == "send"]
    check(sends == [(0, "3"), (1, "2")], f"peers between two groups: {sends}")
    check(replays("comms") is not None, "it can be played")


def test_clog2():
    for name in ("x.clog2", "little.clog2"):
        document = info(name)
        check(document["records"]["SENDMSG"]["count"] == 6, f"{name}: messages")
        check(document["records"]["RECVMSG"]["bytes"] == 2 * (8 + 24) + 100 + 101, "and bytes")
        check(any("without sizes" in note for note in document["notes"]), "collectives: a note")
        kinds = [row["kind"] for row in ops(name)[0] if row["kind"] != "compute"]
        check(kinds == ["region_begin", "irecv", "send", "wait", "region_end", "call", "isend",
                        "recv", "wait", "sendrecv", "barrier"], f"{name}: {kinds}")
        replays(name)
    check(ops("x.clog2") == ops("little.clog2"), "the order of bytes makes no difference")


def test_clog2_between():
    """Messages between two groups find each other in the world."""
    pathlib.Path("between.clog2").write_bytes(foreign.clog2_between())
    by_rank = ops("between.clog2")
    found = [(rank, row["kind"], row["comm"], row["peer"], row["bytes"])
             for rank in range(4) for row in by_rank[rank] if row["kind"] in ("send", "recv")]
    check(found == [(0, "send", "0", "3", "100"), (1, "send", "0", "2", "101"),
                    (2, "recv", "0", "1", "101"), (3, "recv", "0", "0", "100")], f"{found}")
    check(any(note.startswith("4 messages are between the two groups")
              for note in info("between.clog2")["notes"]), "and says so")
    replays("between.clog2")


def test_clog2_written():
    """A simulated run as a log for Jumpshot: as many records as there are calls and messages, all in time, and
    the program again when it is read."""
    for program, ranks, words in (("stencil3d", "8", []), ("masterworker", "4", []), ("ring", "4", ["--ranks-per-node", "2"])):
        own = ["replay", f"gen:{program}", "-n", ranks, "--net", "loggp", *words]
        check_run([*own, "--record", "--record-calls", "-q", "-f", "-o", "own.json"], 0)
        check_run(["report", "own.json", "-f", "-o", "own.clog2"], 0)
        recording = json.loads(pathlib.Path("own.json").read_text(encoding="utf-8"))["recording"]
        sends, read = recording["n_messages"], info("own.clog2")
        check(read["messages"] == sends and read["ranks"] == int(ranks), f"{program}: {sends} messages, read {read['messages']}")
        for call in recording["by_call"]:
            name = f"MPI_{call['call'].capitalize()}"
            check(read["records"][name]["count"] == call["calls"], f"{program}: {name}: {call} {read['records']}")
        times = [parse(check_run([*words, "--json"], 0))["result"]["predicted_time_ps"] for words in
                 (own, ["replay", "own.clog2", "--net", "loggp", *words])]
        check(abs(times[0] - times[1]) < times[0] / 100, f"{program}: {times}")
    log = pathlib.Path("own.clog2").read_bytes()
    words = log[:1024].split(b"\0")
    place = [int(n) for n in words[words.index(b"commtable_fptr=") + 1:][:3]]
    table = place[0] * place[1] + place[2]
    check((table - 1024) % 65536 == 0 and int.from_bytes(log[table:table + 4], "big") == 5 and len(log) == table + 4 + 5 * 40,
          f"the table of communicators: {place}, {len(log)} bytes")
    check_run(["replay", "gen:stencil3d", "-n", "8", "--record", "-q", "-f", "-o", "spans.json"], 0)
    check_run(["report", "spans.json", "-f", "-o", "spans.clog2"], 0)
    check("computing" in info("spans.clog2")["records"], "activities as states")


def test_ti():
    document = info("x.ti")
    check(document["records"]["send"] == {"count": 1, "bytes": 1000, "per_rank": [
        {"rank": 0, "count": 1, "bytes": 1000}]}, "a send is counted")
    rows = ops("x.ti")[0]
    check([row["duration_ps"] for row in rows][1] == str(10**9), "a million flops take 1 ms")
    check([row["bytes"] for row in rows if row["kind"] == "bcast"] == ["100", "800"], "datatypes")
    check(ops("list.txt") == ops("x.ti"), "a list of files is the same as one")
    # SimGrid's lists are relative to the current directory; its tracer counts requests.
    os.mkdir("lists")
    pathlib.Path("lists/list.txt").write_text("part0\npart1\n")
    check(ops("lists/list.txt") == ops("x.ti"), "a list in another directory")
    pathlib.Path("lists/absolute.txt").write_text("".join(f"{pathlib.Path(name).resolve()}\n" for name in ("part0", "part1")))
    check(ops("lists/absolute.txt") == ops("x.ti"), "a list of absolute names")
    pathlib.Path("lists/index.ti").write_text("rank-0.ti\nrank-1.ti\n")
    check_run(["info", "lists/index.ti"], 3, "cannot read 'lists/rank-0.ti': No such file")
    # What is in the current directory comes before what is beside the list.
    for rank in (0, 1):
        pathlib.Path(f"lists/part{rank}").write_text(f"{rank} init\n{rank} finalize\n")
    check(ops("lists/list.txt") == ops("x.ti"), "names are relative to the current directory")
    pathlib.Path("lists/other0").write_text("0 init\n0 finalize\n")
    pathlib.Path("lists/other.txt").write_text("other0\npart1\n")
    check(info("lists/other.txt")["messages"] == 0, "all names are beside the list if the first one is")
    pathlib.Path("one.txt").write_text("x.ti\n")
    check(ops("one.txt") == ops("x.ti"), "a list of one name is a file of all ranks")
    counted = pathlib.Path("x.ti").read_text().replace("waitall\n", "waitall 4\n")
    pathlib.Path("counted.ti").write_text(counted)
    check("waitall 4" in counted and ops("counted.ti") == ops("x.ti"), "waitall with a number")
    # A file for each rank, as smpirun -replay wants them.
    check_run(["convert", "x.ti", "parts.ti", "--parts", "1"], 0, stderr="not carried over")
    check_run(["convert", "x.ti", "whole.ti"], 0, stderr="not carried over")
    check(pathlib.Path("parts.ti/index.ti").read_text() == "rank-0.ti\nrank-1.ti\n", "the list")
    for name in ("parts.ti", "parts.ti/index.ti"):
        check(ops(name) == ops("whole.ti"), f"{name}: a file for each rank")
    fast = parse(check_run(["info", "x.ti", "--json", "-p", "trace.flop_rate=1e12"], 0))
    check(fast["compute_max_ps"] < document["compute_max_ps"], "a faster processor")
    replays("x.ti")
    # Written and read again it is the same program.
    check_run(["convert", "x.ti", "again.ti"], 0, stderr="not carried over: 2 other calls")
    check(replays("again.ti") == replays("x.ti"), "written and read: the same times")
    check_run(["convert", "comms", "comms.ti"], 0,
              stderr="not carried over: [0-9]+ collectives of other communicators, left out")


# SimGrid's sizeof() of its datatypes -1 to 59 on 64-bit Linux (smpi_datatype.cpp, version 4.1).
TI_SIZES = [0, 8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8,
            8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8]


def test_ti_datatypes():
    """All datatypes of SimGrid have their sizes; another one counts as a byte, with a note."""
    check(len(TI_SIZES) == 61, "the ids -1 to 59")
    for types, note in ((range(-1, 60), False), ((60,), True)):
        lines = ["{r} init", *(f"{{r}} bcast 1000 0 {number}" for number in types), "{r} finalize"]
        pathlib.Path("types.ti").write_text("".join(f"{line}\n".format(r=r) for r in (0, 1) for line in lines))
        sizes = [int(row["bytes"]) for row in ops("types.ti")[0] if row["kind"] == "bcast"]
        check(sizes == ([1000] if note else [1000 * size for size in TI_SIZES]), f"{sizes}")
        check(any("datatype that is not known" in text for text in info("types.ti")["notes"]) == note, "a note")


def test_allprof():
    """liballprof: messages, waits by the places of requests, computing between calls."""
    foreign.write_allprof("allprof", 3)
    document = info("allprof")
    check(document["messages"] == 12 and document["ranks"] == 3, f"{document['messages']}")
    check(document["records"]["MPI_Isend"]["count"] == 6, "calls are counted")
    rows = ops("allprof/pmpi-trace-rank-0.txt")[0]
    check(rows[1]["duration_ps"] == str(800_500_000), f"computing after MPI_Init: {rows[1]}")
    check([row["bytes"] for row in rows if row["kind"] == "irecv"] == ["800", "800"], "bytes")
    check(sum(row["kind"] == "waitall" for row in rows) == 2, "requests are found by their places")
    replays("allprof")
    check_run(["info", "allprof/pmpi-trace-rank-1.txt"], 3, stderr="name the file of rank 0")
    # A missing file must not make it a trace of fewer ranks.
    for rank, words in ((2, "MPI_.*: a communicator of 3 ranks, but the trace has files of ranks 0 to 1 only"),
                        (1, "of ranks 0 to 0 only: the next one is missing"), (0, "allprof: the file of rank 0, .* is missing")):
        os.rename(f"allprof/pmpi-trace-rank-{rank}.txt", "away")
        check_run(["info", "allprof"], 3, stderr=words)
        os.rename("away", f"allprof/pmpi-trace-rank-{rank}.txt")
    for line, words in (("MPI_Send:1:0:1:1,4:9:0:0:2", "line 2 .*, rank 0: MPI_Send: its peer is no rank"),
                        ("MPI_Send:1:0:x:1,4:0:0:0:2", "MPI_Send: a field that must be a number"),
                        ("MPI_Send:1:0:2", "MPI_Send: a field is missing"),
                        ("Send:1:0:2", "no call of MPI"), ("MPI_Foo:x:y:z", "is no time")):
        os.makedirs("wrong-allprof", exist_ok=True)
        pathlib.Path("wrong-allprof/t-0.txt").write_text(f"MPI_Init:-:7:8:2\n{line}\n")
        check_run(["info", "wrong-allprof"], 3, stderr=words)


def test_allprof_real():
    """Files that liballprof itself wrote, of 3 and of 11 ranks."""
    kept = pathlib.Path(__file__).resolve().parents[1] / "data/allprof"
    for name, n in (("three", 3), ("eleven", 11)):
        document = info(str(kept / name))
        check((document["ranks"], document["messages"]) == (n, n * 7 + n // 2 * 3), f"{name}: {document['messages']}")
        check(document["compute_min_ps"] > 0 and document["message_sizes"], "computing, sizes")
        replays(str(kept / name))
        shutil.copytree(kept / name, f"{name}-dat")
        for path in pathlib.Path(f"{name}-dat").iterdir():
            path.rename(path.with_suffix(".dat"))
        first = sorted(os.listdir(f"{name}-dat"))[0]
        for trace in (f"{name}-dat", f"{name}-dat/{first}", str(kept / name / first.replace(".dat", ".txt"))):
            check(ops(trace) == ops(str(kept / name)), f"{trace}: the same")
    rows = ops(str(kept / "three"))[0]
    check([row["kind"] for row in rows if row["kind"] != "compute"][:9] ==
          ["init", "call", "call", "irecv", "isend", "waitall", "sendrecv", "send", "allreduce"], "the calls of rank 0")
    check([row["bytes"] for row in rows if row["kind"] == "isend"] == ["8000"] * 3, "8 bytes an item")
    # A long host name does not hide the first call from those who look for the format.
    pathlib.Path("long-0.txt").write_text(f"# htor's PMPI Tracer 1 Output File\n# uname: {'x' * 600}\n\nMPI_Init:-:1:2:3\n")
    check(info("long-0.txt")["format"] == "allprof", "known by its first line")


def test_paraver():
    """Paraver traces of Extrae, and those that weft writes."""
    pathlib.Path("e.prv").write_text(foreign.PARAVER)
    document = info("e.prv")
    check(document["messages"] == 2 and document["ranks"] == 2, f"{document}")
    check(document["records"]["communication"] == {"count": 2, "bytes": 4196, "per_rank": [
        {"rank": 0, "count": 1, "bytes": 4096}, {"rank": 1, "count": 1, "bytes": 100}]}, "counts")
    check(any("2 collectives without recorded sizes" in note for note in document["notes"]), "notes")
    kinds = [[row["kind"] for row in rows if row["kind"] != "compute"] for rows in (ops("e.prv")[rank] for rank in (0, 1))]
    check(kinds == [["send", "irecv", "wait", "allreduce", "call"],
                    ["recv", "isend", "wait", "allreduce", "call"]], f"{kinds}")
    replays("e.prv")
    # Without events of calls, messages and states are all there is.
    plain = [line for line in foreign.PARAVER.splitlines() if not line.startswith("2:")]
    pathlib.Path("plain.prv").write_text("\n".join(plain) + "\n")
    check(any("no event is a call" in note for note in info("plain.prv")["notes"]), "no calls")
    replays("plain.prv")
    for program, ranks in (("ring", "4"), ("stencil3d", "8"), ("masterworker", "4")):
        own = ("replay", f"gen:{program}", "-n", ranks, "--net", "loggp")
        check_run([*own, "--record", "-q", "-f", "-o", "own.prv"], 0)
        check_run(["replay", "own.prv", "--net", "loggp"], 0, stdout="Predicted time")
        times = [parse(check_run([*words, "--json"], 0))["result"]["predicted_time_ps"] for words in
                 (own, ["replay", "own.prv", "--net", "loggp"])]
        check(abs(times[0] - times[1]) < times[0] / 100, f"{program}: {times}")
    for change, words in ((("#Paraver (01/02/2003 at 04:05)", "#Paraver (now"), "does not say how many tasks"),
                          (("2:2:1:2:1:9000", "2:2:1:9:1:9000"), "line 26 .*a task that is not from 1 to 2"),
                          (("c:1:1:2:1:2", "7:1:1:2:1:2"), "line 2 .*no state, event or communication"),
                          (("2:2:1:2:1:9000", "2:2:1:2:1:-9000"), "line 26 .*a time that is negative"),
                          ((":100:8", ":100"), "line 13 .*too few numbers")):
        pathlib.Path("bad.prv").write_text(foreign.PARAVER.replace(*change))
        check_run(["info", "bad.prv"], 3, stderr=words)


def test_extrae():
    """Collectives as Extrae records them: a root that only its own rank knows, communicators."""
    trace = foreign.extrae()
    pathlib.Path("extrae.prv").write_text(trace.text())
    document = info("extrae.prv")
    check(document["notes"] == ["6 collectives with a list of lengths are read with equal lengths"], f"{document['notes']}")
    rows = ops("extrae.prv")
    wanted = [[("bcast", "800", "2"), ("reduce", "64", "1"), ("reduce", "64", "0"), ("gather", "40", "1"), ("alltoall", "10", ""),
               ("alltoall", "25", ""), ("allgather", "15", ""), ("barrier", "", ""), ("allreduce", "8", "")],
              [("bcast", "800", "2"), ("reduce", "64", "1"), ("reduce", "64", "0"), ("scatter", "24", "0"), ("alltoall", "10", ""),
               ("allgather", "30", ""), ("alltoall", "25", ""), ("barrier", "", ""), ("barrier", "", ""), ("allreduce", "8", "")]]
    plain = ("compute", "init", "finalize", "call")
    for rank in range(4):
        seen = [(row["kind"], row["bytes"], row["root"]) for row in rows[rank] if row["kind"] not in plain]
        check(seen == wanted[rank % 2], f"rank {rank}: {seen}")
    check(groups_of(rows, "gather", 2) and [row["comm"] for row in rows[0] if row["kind"] == "reduce"] != ["0", "0"], "communicators")
    replays("extrae.prv")
    check(document["recorded_ps"] == 1000 * (max(trace.now) - 7000), f"the header's time without MPI_Init: {document}")
    # What cannot be replayed is counted and takes its time.
    pathlib.Path("part.pcf").write_text("EVENT_TYPE\n9    50000002    MPI Collective Comm\nVALUES\n155   MPI_Iallreduce\n0   Outside MPI\n")
    for change, note in ((("c:1:6:2:3:1\n", ""), "collectives on communicators whose members are not recorded"),
                         ((":50100001:8:50100002:8:50100004:1", ""), "collectives without recorded sizes"),
                         ((":50000002:10:", ":50000002:155:"), "nonblocking collectives are read as calls")):
        pathlib.Path("part.prv").write_text(trace.text().replace(*change))
        check(any(note in text for text in info("part.prv")["notes"]), note)
        replays("part.prv")
    lone = foreign.extrae()
    lone.call(1, "MPI_Barrier", ":50100001:0:50100002:0:50100004:1")
    pathlib.Path("lone.prv").write_text(lone.text())
    check(any("1 collectives that not all members" in text for text in info("lone.prv")["notes"]), "a lone call")
    replays("lone.prv")
    pathlib.Path("bad.prv").write_text(trace.text().replace("c:1:6:2:3:1", "c:1:6:2:3:3"))
    check_run(["info", "bad.prv"], 3, stderr="line 7 .*a communicator whose members are not different tasks")


def test_extrae_real():
    """A file that Extrae's merger wrote: what the program did, and nothing of Extrae's own start and end."""
    kept = pathlib.Path(__file__).resolve().parents[1] / "data/extrae/program.prv"
    document = info(str(kept))
    check(document["recorded_ps"] == 1384054210000 and document["compute_max_ps"] < 450 * 10**9, f"times within MPI: {document}")
    rows = ops(str(kept))
    roots = [("gather", "16", "1"), ("bcast", "48", "3"), ("bcast", "48", "0"), ("reduce", "48", "1"), ("gather", "20", "2"),
             ("scatter", "20", "2"), ("bcast", "5000", "1"), *(("reduce", "40", str(root)) for root in range(4)), ("scatter", "24", "1")]
    for rank in range(4):
        check([(row["kind"], row["bytes"], row["root"]) for row in rows[rank] if row["root"]] == roots, f"roots of rank {rank}")
        sends = [(row["kind"], row["bytes"]) for row in rows[rank] if row["kind"] in ("ssend", "bsend")]
        check(sends == [("bsend", "80"), ("ssend", "16000")][:2 - rank % 2], f"modes of rank {rank}: {sends}")
        check(rows[rank][0]["kind"] == "init" and rows[rank][-1]["kind"] == "finalize", f"ends of rank {rank}")
    replays(str(kept))
    pathlib.Path("bursts.prv").write_text(kept.read_text().replace(":40000018:1", ":40000018:2"))
    check(any("4 spans are recorded in the mode CPU Bursts" in note for note in info("bursts.prv")["notes"]), "a mode without messages")
    # What Extrae needs to write its buffer is none of the program.
    lines = foreign.PARAVER.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("2:1:1:1:1:6000:"))
    flush = [f"2:1:1:1:1:{time}:40000003:{value}" for time, value in ((5200, 1), (5900, 0))]
    pathlib.Path("flush.prv").write_text("\n".join([*lines[:at], *flush, *lines[at:], ""]))
    times = [sum(int(row["duration_ps"]) for row in ops(name)[0] if row["kind"] == "compute") for name in ("e.prv", "flush.prv")]
    check(times[0] - times[1] == 700 * 1000, f"computing without the flush: {times}")
    check(info("flush.prv")["recorded_ps"] <= info("e.prv")["recorded_ps"], "recorded")
    check(any("1 flushes" in note for note in info("flush.prv")["notes"]), "a note")


def test_large_otf2():
    """More than a chunk of events at one and the same time."""
    check_run(["gen", "stencil3d", "-n", "2", "-o", "still.weft", "-p", "gen.iterations=4000", "-p",
               "gen.compute=0s"], 0)
    done = run("convert", "still.weft", "still.otf2")
    if "OTF2" in done.stderr:  # built without it
        return
    check(done.returncode == 0, "a large archive is written", done)
    counts = [info(trace)["ops_by_kind"]["isend"]["calls"] for trace in ("still.otf2", "still.weft")]
    check(counts[0] == counts[1] > 0, f"and read: {counts}")


def test_otf2_iterations():
    """Iterations are a region of their own, not of the first name."""
    pathlib.Path("alpha.txt").write_text("region alpha { compute 4ms }\nrepeat 2 { iteration { compute 4ms } }\nbarrier\n")
    check_run(["gen", "text", "-n", "2", "-o", "alpha.weft", "-p", "gen.file=alpha.txt"], 0)
    if run("convert", "alpha.weft", "alpha.otf2").returncode == 0:
        times = [parse(check_run(["replay", trace, "--net", "loggp", "--region", "alpha", "--json"], 0))["result"]["predicted_time_ps"]
                 for trace in ("alpha.weft", "alpha.otf2")]
        check(times == [4 * 10**9] * 2, f"the region alone: {times}")
        check(info("alpha.otf2")["records"]["ENTER:iteration"]["count"] == 4, "iterations have a region")


def test_late_otf2():
    """A receive that is complete far more events later than are kept: it is found all the same."""
    first = ["0 init", "0 irecv 1 5 80", *["0 send 1 0 8"] * 6000, "0 wait 1 0 5",
             *["0 send 1 0 8"] * 3, "0 irecv 1 6 80", "0 wait 1 0 6", "0 finalize"]
    second = ["1 init", *["1 recv 0 0 8"] * 6003, "1 send 0 5 80", "1 send 0 6 80", "1 finalize"]
    pathlib.Path("late.ti").write_text("\n".join(first + second) + "\n")
    if run("convert", "late.ti", "late.otf2").returncode == 0:
        kinds = [[(row["kind"], row["peer"], row["tag"], row["bytes"]) for row in ops(trace)[0]
                  if row["kind"] in ("irecv", "send", "wait")]
                 for trace in ("late.ti", "late.otf2")]
        check(kinds[0] == kinds[1] and len(kinds[0]) == 6007, "late.otf2: other ops than late.ti")


def test_schedulers():
    """An op can be asked for again, whatever the reader had to know to make it."""
    for trace in ("exchange", "comms", "x.clog2", "x.ti"):
        digests = set()
        for scheduler in ("sequential", "conservative", "optimistic", "check-undo"):
            done = check_run(["replay", trace, "--net", "loggp", "--sched", scheduler], 0)
            digests |= {line for line in done.stdout.splitlines() if "Digest" in line}
        check(len(digests) == 1, f"{trace}: one digest, not {digests}")


def test_expanded():
    """Collectives written as messages take as long as when they are expanded in the replay."""
    for trace in ("exchange", "comms", "x.ti"):
        done = run("convert", "--expand-collectives", trace, "expanded.weft", "-f")
        check(done.returncode == 0, f"{trace} is expanded", done)
        left = info("expanded.weft")["ops_by_kind"].keys() & {"allreduce", "bcast", "barrier"}
        check(not left, f"{trace}: collectives are left: {left}")
        check(replays("expanded.weft") == replays(trace), f"{trace}: the same times expanded")


# ---- what is refused ----

def test_wrong_dumpi():
    whole = [foreign.dumpi_exchange(r).finish() for r in (0, 1)]
    cases = {
        "swapped": ([whole[0][7::-1] + whole[0][8:], whole[1]], "rank 0: .*wrong order"),
        "version": ([foreign.Dumpi((14, 0, 0)).finish()], "rank 0: version 14.0.0 of the format"),
        "nonsense": ([whole[0], b"nonsense"], "byte 0, rank 1: no file of a DUMPI"),
        "short": ([whole[0], whole[1][:2000]], "byte 2000, rank 1: the index .*truncated"),
        "unknown": ([foreign.Dumpi().call(290).finish()], "byte 16, rank 0: unknown call"),
        "count": ([foreign.Dumpi().call(0, "ihiih", -1, 9, 0, 0, 2).finish()],
                  "byte 16, rank 0: MPI_Send: a negative count"),
        "peer": ([foreign.Dumpi().call(0, "ihiih", 1, 9, 7, 0, 2).finish()],
                 "byte 16, rank 0: .*peer is no rank"),
        "counts": ([foreign.Dumpi().call(66, "iIhBh", 2, [1, 2], 9, 3, 2).finish()],
                   "the number of counts is not the number of ranks"),
    }
    for name, (ranks, words) in cases.items():
        foreign.write_dumpi(name, ranks)
        check_run(["info", name], 3, stderr=words)
    shutil.copytree("exchange", "missing")
    os.remove("missing/t-0001.bin")
    check_run(["info", "missing"], 3, stderr="t-0001.bin is missing: the trace has 2 ranks")
    shutil.copytree("exchange", "many")
    shutil.copy("many/t-0001.bin", "many/t-0002.bin")
    check_run(["info", "many"], 3, stderr="t-0002.bin is the file of a rank too many")
    check_run(["info", "exchange/t-0000.bin"], 3, stderr="is one rank of a DUMPI trace")
    shutil.copytree("exchange", "two")
    shutil.copy("two/t.meta", "two/u.meta")
    check_run(["info", "two"], 3, stderr="several traces, such as t.meta and u.meta; name the .meta")
    check(info("two/t.meta")["ranks"] == 2, "one of two")
    for word in (1, 3, 4, 6): # sizes, counters, header, footer
        index = bytearray(whole[0])
        index[len(index) - 64 + 8 * word:len(index) - 56 + 8 * word] = (20).to_bytes(8, "big")
        foreign.write_dumpi("inside", [bytes(index), whole[1]])
        check_run(["info", "inside"], 3, stderr="rank 0: ")
    check_run(["info", "inside"], 3, stderr="byte 20, rank 0: the index .* points here, into the records")
    foreign.write_dumpi("bare", whole, meta=False)
    check(info("bare")["ranks"] == 2, "without a metafile the files are counted")
    check_run(["info", "exchange", "-p", "trace.clock=sun"], 2, stderr="trace.clock")


def test_ti_lines():
    """Ranks whose numbers begin alike, in turns and one after another; blanks in all places; actions after the last one."""
    lines = [f"{rank} init" for rank in range(12)]
    lines += ["", " 1  compute 5", "10\tcompute 5", "1 compute 5", "1\tcompute 5\r", "10 compute 5", "   "]
    lines += [line for rank in range(12) for line in (f"{rank} compute 7", f"{rank} compute 8", f"{rank} finalize")]
    pathlib.Path("lines.ti").write_text("\n".join([*lines, "11 compute 9"]), encoding="ascii")
    facts = info("lines.ti")
    check(facts["ranks"] == 12, f"12 ranks: {facts['ranks']}")
    check_run(["convert", "lines.ti", "lines.csv", "-f"], 0, stderr="not in a .csv")
    with open("lines.csv", encoding="utf-8") as rows:
        computes = [row["rank"] for row in csv.DictReader(rows) if row["kind"] == "compute"]
    expected = {1: 5, 10: 4, 11: 3}
    for rank in range(12):
        check(computes.count(str(rank)) == expected.get(rank, 2), f"rank {rank}: {computes.count(str(rank))} computations")


def test_wrong_others():
    cases = {
        "version.clog2": (foreign.clog2_exchange(version=b"CLOG-02.40"), "version 'CLOG-02.40'"),
        "open.clog2": (foreign.clog2_exchange(finished=False), "the log was not finished"),
        "cut.clog2": (foreign.clog2_exchange()[:2000], "byte [0-9]+, rank [0-9]: the log ends"),
        "ranks.clog2": (foreign.clog2_exchange().replace(b"size=\0002\000", b"size=\0003\000"),
                        "3 ranks, but the log has records of 2 only"),
        "order.clog2": (foreign.clog2_exchange().replace(b"TRUE \0", b"FALSE\0", 1),
                        "byte 1024, rank 0: the bytes of its numbers are in the other order"),
        "action.ti": (b"0 init\n0 dance 1\n", "line 2 .byte 7., rank 0: unknown action 'dance'"),
        "word.ti": (b"0 init\n0 send x 1 1\n", "send: expected a number, found 'x'"),
        "gap.ti": (b"0 init\n2 init\n", "rank 1 of 3 has no action"),
        "far.ti": (b"0 init\n60000000 init\n", "rank 60000000: a rank far above"),
        "wait.ti": (b"0 init\n0 wait 0 0 1\n", "wait: no such request is open"),
        "more.ti": (b"0 init\n0 barrier 1\n", "barrier: too many arguments"),
        "less.ti": (b"0 init\n0 send 0 1\n", "send: an argument is missing"),
        "size.ti": (b"0 init\n0 bcast -1\n", "bcast: expected a whole number from 0, found -1"),
        "root.ti": (b"0 init\n0 bcast 1 1\n", "its root is no rank"),
        "rank.ti": (b"0 init\n0 compute 1\n0 compute 2\nx compute 3\n",
                    "line 4 .byte 31., rank 0: a line begins with a rank, not with 'x'"),
        "nul.ti": (b"0 init\n0 compute 1\n0 comp\0ute 2\n", "line 3 .byte 19., rank 0: a NUL byte in the line"),
    }
    for name, (data, words) in cases.items():
        pathlib.Path(name).write_bytes(data)
        check_run(["info", name], 3, stderr=words)
    pathlib.Path("nothing").write_text("")
    pathlib.Path("gap.txt").write_text("part0\nnothing\n")
    check_run(["info", "gap.txt"], 3, stderr="gap.txt: rank 1 of 2 has no action in its file nothing")
    pathlib.Path("more.txt").write_text("part0\npart1\npart2\n")
    check_run(["info", "more.txt"], 3, stderr="cannot read 'part2': No such file")
    pathlib.Path("end.ti").write_text("0 init\n")
    check(any("truncated" in note for note in info("end.ti")["notes"]), "no finalize: a note")


def test_truncated():
    """Cut off anywhere: words that name the file and the rank, or all that is there. The
    program that replays seeds for fuzzing looks at all of these files at once."""
    dice = random.Random(7)
    for name in FORMATS:
        program = pathlib.Path(os.environ["WEFT_BUILD_DIR"]) / "tests" / f"fuzz_{name}"
        if not check(program.exists(), f"{program.name} is not built"):
            continue
        directory = pathlib.Path(f"truncated_{name}")
        directory.mkdir()
        for seed, data in foreign.seeds():
            if not seed.startswith(name) or seed.endswith(("truncated", "exchange1", "old")):
                continue
            places = set(range(min(len(data), 1024)))
            places |= {dice.randrange(len(data)) for _ in range(500)}
            # Sanitizers look at a part of them.
            places = sorted(places)[::int(os.environ.get("WEFT_TEST_ONE_IN", "1"))]
            for place in places:
                (directory / f"{pathlib.Path(seed).name}_{place}").write_bytes(data[:place])
        done = subprocess.run([program, directory], capture_output=True, text=True, check=False,
                              timeout=200)
        check(done.returncode == 0, f"truncated {name}: {done.stderr[-300:]}")
        shutil.rmtree(directory)


# ---- real ones ----

def expected_rows(root):
    rows = collections.defaultdict(dict)
    with open(root / "expected_counts.csv", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            key = int(row["rank"]), row["event"]
            rows[row["format"], row["trace"]][key] = int(row["count"]), int(row["bytes"])
    return rows


def test_real():
    root = real_traces()
    seen = set()
    for (kind, name), rows in expected_rows(root).items():
        # Sanitizers look at one of each format.
        if kind not in FORMATS or ("WEFT_TEST_ONE_IN" in os.environ and kind in seen):
            continue
        seen.add(kind)
        path = root / kind / (name + (".txt" if kind == "ti" else ""))
        found = {(one["rank"], event): (one["count"], one["bytes"])
                 for event, record in info(str(path))["records"].items()
                 for one in record["per_rank"]}
        wrong = {key for key in rows.keys() | found.keys() if rows.get(key) != found.get(key)}
        check(not wrong, f"{path}: {len(wrong)} of {len(rows)} counts differ: {wrong}")
        replays(str(path))
    check(seen == set(FORMATS), f"{root}: traces of {seen} only")


def test_threads():
    """Files of ranks are read on several threads; the trace does not depend on their number."""
    check_run(["gen", "stencil3d", "-n", "24", "-p", "gen.allreduce=true", "-o", "many.weft"], 0)
    check_run(["convert", "many.weft", "many.ti", "--parts", "1"], 0, stderr="not in a .ti")
    foreign.write_allprof("many_allprof", 4)
    traces = ["comms", "exchange", "many.ti", "many_allprof"]
    if run("convert", "many.weft", "many.otf2").returncode == 0:
        traces.append("many.otf2")
    cores = os.sched_getaffinity(0)
    for trace in traces:
        seen = []
        for some in ({min(cores)}, cores):
            os.sched_setaffinity(0, some)
            done = run("convert", trace, "threads.weft", "-f")
            seen.append((pathlib.Path("threads.weft").read_bytes(), done.stderr,
                         run("info", trace, "--json").stdout))
        os.sched_setaffinity(0, cores)
        check(seen[0] == seen[1], f"{trace}: one core and {len(cores)} read the same")
    # Of two wrong files the first counts.
    for rank in (19, 5):
        with open(f"many.ti/rank-{rank}.ti", "a", encoding="ascii") as file:
            file.write(f"{rank} jump\n")
    check_run(["info", "many.ti"], 3, stderr="rank 5: unknown action 'jump'")


def main():
    make()
    test_dumpi()
    test_communicators()
    test_clog2()
    test_clog2_between()
    test_clog2_written()
    test_ti()
    test_ti_datatypes()
    test_allprof()
    test_allprof_real()
    test_paraver()
    test_extrae()
    test_extrae_real()
    test_large_otf2()
    test_otf2_iterations()
    test_late_otf2()
    test_threads()
    test_schedulers()
    test_expanded()
    test_wrong_dumpi()
    test_ti_lines()
    test_wrong_others()
    test_truncated()
    test_real()
    check(run("info", "x.ti").returncode == 0, "still there")
    finish()


main()
