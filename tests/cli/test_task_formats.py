# SPDX-License-Identifier: Apache-2.0
"""Traces of other tools, continued: BigSim, GOAL and OTF2, what is read of them, what is refused
and with which words, and what conversions lose.

Real traces are read too: those of tests/data, or of the directory that WEFT_TRACES names, with a
file expected_counts.csv of what is in them."""
import collections
import csv
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import foreign_graphs as graphs  # noqa: E402
from weft_cli import check, check_run, finish, parse, real_traces, run  # noqa: E402

FORMATS = ("bigsim", "goal", "otf2")
FILES = ("traces.otf2", "traces.def", "traces/0.def", "traces/0.evt")


def info(*words):
    return parse(check_run(["info", *words, "--json"], 0))


def predicted(trace, *words, net=("--net", "loggp")):
    """The trace reaches its end; returns the predicted time."""
    done = check_run(["replay", trace, *net, *words], 0, stdout="Predicted time")
    return [line for line in done.stdout.splitlines() if "Predicted" in line]


def one_digest(trace, *words):
    digests = set()
    for scheduler in ("sequential", "conservative", "optimistic", "check-undo"):
        done = check_run(["replay", trace, "--net", "loggp", "--sched", scheduler, *words], 0)
        digests |= {line for line in done.stdout.splitlines() if "Digest" in line}
    check(len(digests) == 1, f"{trace}: one digest, not {digests}")


def lines_of(trace):
    """The ops as CSV."""
    done = run("convert", trace, "ops.csv", "-f")
    check(done.returncode == 0, f"{trace} as CSV", done)
    return pathlib.Path("ops.csv").read_text(encoding="utf-8").splitlines()


# ---- what is read ----

def test_bigsim():
    """Logs are tasks, by either order of bytes, in one file or several, of every version."""
    example = graphs.bigsim_example()
    times = set()
    for name, words in {"bs": {}, "files": {"files": 2}, "big": {"order": ">"},
                        "old": {"version": 0}, "two": {"version": 2}}.items():
        graphs.write_bigsim(name, graphs.bigsim(example, **words))
        document = info(name)
        check(document["tasks"] == 17 and document["messages"] == 7, f"{name}: {document}")
        check(document["records"]["MSG_SENT"]["bytes"] == 64 + 6000, f"{name}: bytes sent")
        check(document["records"]["log:start-broadcast"]["count"] == 4, f"{name}: names")
        check(info(f"{name}/bgTrace")["tasks"] == 17, "named by its summary")
        times |= set(predicted(name))
    check(len(times) == 1, f"the same however it is written: {times}")
    # PE 0: 5 us, then 0.5 us into the next (1 us) a message of 64 bytes to all; tracer skips
    # that and takes 4 us of work, and 100 ns for AMPI_Finalize.
    least = info("bs", "-p", "trace.rules=tracer")
    check(least["tasks"] == 12 and least["compute_max_ps"] == 4_100_000, f"tracer: {least}")
    slow = info("bs", "-p", "trace.rules=tracer", "-p", "trace.soft_delay=1ms")
    check(slow["compute_max_ps"] == 1_004_000_000, "what a call takes")
    one_digest("files")


def test_repeat():
    """A graph several times: as many times its messages, and its time where PEs end together; one digest."""
    for source in (["gen:leanmd", "-n", "8", "-p", "gen.cells=3x3x3"], ["files"]):
        for net in (["--net", "none"], ["--net", "loggp"]):
            once, thrice = (parse(check_run(["replay", *source, *net, *words, "--json"], 0))["result"]
                            for words in ([], ["--repeat", "3"]))
            check(thrice["messages"] == 3 * once["messages"] and thrice["bytes"] == 3 * once["bytes"], f"{source}: messages")
            check(thrice["ranks"]["compute_ps"]["max"] == 3 * once["ranks"]["compute_ps"]["max"], f"{source}: computing")
            check(once["predicted_time_ps"] < thrice["predicted_time_ps"] <= 3 * once["predicted_time_ps"],
                  f"{source}: {once['predicted_time_ps']}, {thrice['predicted_time_ps']}")
    alone = ["replay", "gen:leanmd", "-n", "1", "-p", "gen.cells=3x3x3", "--net", "none", "--json"]
    times = [parse(check_run([*alone, *words], 0))["result"]["predicted_time_ps"] for words in ([], ["--repeat", "5"])]
    check(times[1] == 5 * times[0], f"one PE: {times}")
    digests = {parse(check_run(["replay", "gen:leanmd", "-n", "8", "--repeat", "3", "--net", "loggp", "--sched", sched, "--threads",
                                "2", "-p", "engine.fit=no", "--json"], 0))["result"]["digest"] for sched in ("conservative", "optimistic")}
    check(len(digests) == 1, f"one digest, not {digests}")


def test_cut():
    """A piece of a graph is a graph: all of it is the same; a part has what is inside, and waits for nothing else."""
    whole = parse(check_run(["replay", "files", "--net", "loggp", "--json"], 0))["result"]
    n = info("files")["ranks"]
    check_run(["cut", "files", "-f", "-o", "all.weft", "--ranks", f"0-{n - 1}"], 0)
    same = parse(check_run(["replay", "all.weft", "--net", "loggp", "--json"], 0))["result"]
    check(same["digest"] == whole["digest"] and same["messages"] == whole["messages"], "all PEs are the graph")
    done = check_run(["cut", "files", "-f", "-o", "one.weft", "--ranks", "0"], 0, "whose other end was cut off", stdout=".")
    check(info("one.weft")["ranks"] == 1, done.stdout)
    check_run(["replay", "one.weft"], 0, stdout="Predicted time")
    check_run(["gen", "leanmd", "-n", "8", "-p", "gen.cells=3x3x3", "-f", "-o", "lean.weft"], 0)
    check_run(["cut", "lean.weft", "-f", "-o", "some.weft", "--time", "1ms:2ms"], 0, "cut off", stdout=".")
    some, all_of = info("some.weft"), info("lean.weft")
    check(0 < some["tasks"] < all_of["tasks"] and some["messages"] < all_of["messages"], f"{some}")
    check_run(["replay", "some.weft"], 0, stdout="Predicted time")
    check_run(["cut", "lean.weft", "-f", "-o", "x.weft", "--time", "1h:2h"], 3, stderr="nothing is left")
    check_run(["cut", "lean.weft", "-f", "-o", "x.weft", "--iterations", "1:2"], 2, stderr="no regions and iterations")


def test_goal():
    pathlib.Path("x.goal").write_text(graphs.GOAL)
    document = info("x.goal")
    check(document["tasks"] == 10, "9 ops, and the start that one waits for")
    check(document["records"]["irequires"]["count"] == 1, "records")
    check(any("1 receives have wildcards" in note for note in document["notes"]), "open: a note")
    check(info("x.goal", "-p", "trace.calc_unit=1us")["compute_max_ps"] == 20_000 * 10**6, "unit")
    one_digest("x.goal")
    # Rank 0 sends when 1 us is over and 0.5 us of overhead: the schedule is so simple that its
    # time can be told from the parameters: the longest is 20 us of rank 2, o, L, o.
    check(predicted("x.goal") == ["Predicted time    22.00 us"], f"{predicted('x.goal')}")


def test_goal_written():
    """A program of messages takes the same time as a graph of them."""
    for program in ("ring", "stencil3d", "sweep3d", "random"):
        check_run(["gen", program, "-n", "16", "-o", "g.weft", "-f"], 0)
        check_run(["convert", "g.weft", "g.goal", "-f"], 0, stderr="not in a .goal: collectives")
        check(predicted("g.goal") == predicted("g.weft"), f"{program} as a schedule")
    check_run(["convert", "x.goal", "y.goal"], 0, stdout="3 PEs, 10 tasks", stderr="have wildcards")
    check(predicted("y.goal") == predicted("x.goal"), "read and written")
    check_run(["convert", "bs", "bs.goal"], 0, stderr="may be interrupted")
    check(info("bs.goal")["messages"] == 7, "tasks that send become several")
    loggopsim = ("--net", "loggp", "-p", "net.preset=loggopsim", "-p", "net.S=100")
    check(predicted("bs.goal", net=loggopsim) == predicted("bs", net=loggopsim),
          "tasks by the rules of LogGOPSim, and written as a schedule")
    check_run(["convert", "x.goal", "x.weft"], 0, stderr="have wildcards")
    check(predicted("x.weft") == predicted("x.goal"), "in weft's own format")
    check_run(["gen", "fft", "-n", "4", "-o", "fft4.weft"], 0)
    check_run(["convert", "fft4.weft", "fft4.goal"], 0, stderr="[0-9]+ collectives, left out")
    check_run(["convert", "--expand-collectives", "fft4.weft", "fft4.goal", "-f"], 0,
              stderr="messages of other communicators")
    # What a receive costs is paid when the message is there, not when somebody waits for it.
    times = [float(predicted(trace)[0].split()[2]) for trace in ("fft4.goal", "fft4.weft")]
    check(abs(times[0] - times[1]) < times[1] / 100, f"the messages of collectives: {times}")
    check_run(["convert", "x.goal", "x.ti"], 3, stderr="cannot hold the tasks")
    check_run(["convert", "--expand-collectives", "x.goal", "tasks.goal"], 0, stderr="not in a .goal")
    check(predicted("tasks.goal") == predicted("x.goal"), "tasks have no collectives")


STREAMS = """num_ranks 3
rank 0 {
a: calc 100 cpu 0
b: calc 200 cpu 1
c: send 65536b to 1 tag 1 cpu 0 nic 0
d: send 65536b to 2 tag 2 cpu 1 nic 1
e: calc 50 cpu 2
c requires a
d requires b
e irequires c
e requires d
}
rank 1 {
a: recv 65536b from -1 tag 1 cpu 0 nic 0
b: send 16b to 2 tag 3
b requires a
}
rank 2 {
a: recv 65536b from 0 tag -1 cpu 0 nic 0
b: recv 16b from 1 tag 3 cpu 1 nic 1
}
"""


def test_streams():
    """CPUs and interfaces of a rank work beside each other; LogGOPSim says 404.4 us. Both
    formats keep them."""
    pathlib.Path("s.goal").write_text(STREAMS)
    loggp = ("--net", "loggp", "-p", "net.L=2500ns", "-p", "net.o=1500ns", "-p", "net.g=1us",
             "-p", "net.bandwidth=166666667B/s")
    two = (*loggp, "-p", "node.nics=2")
    check(predicted("s.goal", net=two) == ["Predicted time    404.4 us"], f"{predicted('s.goal', net=two)}")
    check(predicted("s.goal", net=loggp) == ["Predicted time    794.1 us"], "one interface a node")
    for other in ("t.goal", "s.weft"):
        check_run(["convert", "s.goal", other], 0, stderr="another cpu or nic than 0")
        check(predicted(other, net=two) == predicted("s.goal", net=two), other)
    streams = parse(check_run(["replay", "s.weft", *two, "--json"], 0))["result"]["streams"]
    check(streams["cpu"]["streams"] == 9, f"{streams}")


def has_otf2():
    """Whether this build can; otherwise it says what to do."""
    check_run(["gen", "ring", "-n", "4", "-o", "ring.weft"], 0)
    done = run("convert", "ring.weft", "ring.otf2")
    if done.returncode != 0:
        check("built without the OTF2 library" in done.stderr, "what to do", done)
        pathlib.Path("bare.otf2").write_bytes(b"\x03BOTF2\0" + bytes(100))
        check_run(["info", "bare.otf2"], 3, stderr="built without the OTF2 library")
        return False
    return True


def test_otf2():
    """Written and read again a program is the same, op by op."""
    for program in ("ring", "stencil3d", "sweep3d", "cg", "fft", "training"):
        check_run(["gen", program, "-n", "16", "-o", "g.weft", "-f"], 0)
        check_run(["convert", "g.weft", "g.otf2", "-f"], 0, stderr="not in a .otf2: times")
        check(predicted("g.otf2") == predicted("g.weft"), f"{program} as OTF2")
        before, after = info("g.weft"), info("g.otf2/traces.otf2")
        for key in ("ranks", "messages", "message_bytes", "compute_max_ps"):
            check(before[key] == after[key], f"{program}: {key} {before[key]} {after[key]}")
    one_digest("g.otf2")
    # Regions of an archive have numbers that do not begin at 0.
    pathlib.Path("region.txt").write_text("compute 1ms\nregion solve { compute 2ms\nallreduce 8 }\nbarrier\n")
    check_run(["gen", "text", "-p", "gen.file=region.txt", "-n", "2", "-o", "region.weft"], 0)
    check_run(["convert", "region.weft", "region.otf2"], 0, stderr="not in a .otf2: times")
    check(predicted("region.otf2", "--region", "solve") == predicted("region.weft", "--region", "solve"),
          "a region of an archive")
    check_run(["replay", "region.otf2", "--net", "loggp", "--region", "solv"], 3,
              stderr="no region 'solv'.*solve")
    check_run(["convert", "g.weft", "g.otf2"], 3, stderr="'g.otf2' exists; -f overwrites it")
    check_run(["gen", "is", "-n", "16", "-o", "is.weft"], 0)
    check_run(["convert", "is.weft", "is.otf2"], 0, stderr="own for each rank: only the sums")
    check(any("taken as equal" in note for note in info("is.otf2")["notes"]), "and says so")
    # Of lists there are the sums of each rank: both ends of a message come to one length.
    for kind in ("gatherv", "scatterv", "alltoallv", "allgatherv", "reduce_scatter"):
        check_run(["gen", "coll", "-n", "5", "-p", f"gen.kind={kind}", "-p", "gen.bytes=1000",
                   "-p", "gen.root=3", "-o", "v.weft", "-f"], 0)
        check_run(["convert", "v.weft", "v.otf2", "-f"], 0, stderr="only the sums")
        same = predicted("v.otf2") == predicted("v.weft")
        check(same or kind not in ("gatherv", "scatterv"), f"{kind} is as it was")
    check_run(["convert", "x.goal", "x.otf2"], 3, stderr="cannot hold the tasks")
    if shutil.which("otf2-print"):
        done = subprocess.run(["otf2-print", "g.otf2/traces.otf2"], capture_output=True,
                              text=True, check=False)
        check(done.returncode == 0 and "ERROR" not in done.stdout, "its own tool reads it")


# ---- what is refused ----

def test_shared_lists():
    """A binary schedule in which 50 nodes name the same 50 others: few bytes, many edges."""
    n = 50
    nodes = b"".join(struct.pack("<IBIQIBBIIII", before, 3, 0, 1, 0, 0, 0, after, 0, 0, 0)
                     for before, after in [(0, n)] * n + [(n, 0)] * n)
    block = struct.pack("<II", 2 * n, 0) + nodes + struct.pack(f"<{n}I", *range(n, 2 * n))
    head = struct.pack("<QIHQQ", 4223, 1, 0, 22, 22 + len(block))
    pathlib.Path("shared.bin").write_bytes(head + block)
    check_run(["info", "shared.bin"], 3, stderr="rank 0: nodes share lists of nodes that wait")


def test_wrong():
    whole = graphs.bigsim(graphs.bigsim_example(), files=2)
    cases = {
        "bs_order": ([whole[0][:10] + b"\x07" + whole[0][11:], *whole[1:]], "byte 4: the machine that wrote"),
        "bs_version": ([whole[0][:52] + b"\x63" + whole[0][53:], *whole[1:]], "logs of version 99"),
        "bs_missing": (whole[:2], "cannot read 'bs_missing/bgTrace1'"),
        "bs_pes": ([whole[0][:16] + b"\x05" + whole[0][17:], *whole[1:]], "5 PEs on 4 nodes"),
        "bs_cut": ([*whole[:2], whole[2][:300]], "bgTrace1: byte 178, PE 1: log 1 of 3 is trunc"),
        "bs_few": ([*whole[:2], whole[2][:16] + b"\x01" + whole[2][17:]],
                   "bgTrace1: byte 16, PE 1: the file has 1 PEs, the summary says 2"),
        "bs_before": (graphs.bigsim([[graphs.Log(before=[9])]]), "PE 0: a log waits for a log"),
        "bs_source": (graphs.bigsim([[graphs.Log(by=(9, 0))]]), "PE 0: a log is started by a PE"),
        "bs_time": (graphs.bigsim([[graphs.Log(takes=-1)]]), "a start or a duration that is"),
    }
    for name, (files, words) in cases.items():
        graphs.write_bigsim(name, files)
        check_run(["info", name], 3, stderr=words)
    graphs.write_bigsim("bs_summary", whole)
    pathlib.Path("bs_summary/bgTrace").unlink()
    check_run(["info", "bs_summary"], 3, stderr="cannot read 'bs_summary/bgTrace': No such file")
    check_run(["info", "bs/bgTrace0"], 3, stderr="too long for the summary")
    check_run(["info", "bs", "-p", "trace.rules=all"], 2, stderr="trace.rules")
    texts = {
        "num_ranks 2\nrank 0 {\n}\n": "line 4 .byte [0-9]+.: the file ends before rank 1 of 2",
        "num_ranks 1000000\nrank 0 {}\n": "line 1 .*1000000 ranks, but the file ends",
        "num_ranks 1\nrank 1 {}\n": "expected a rank from 0 to 0, found .1.",
        "num_ranks 1\nrank 0 {}\nrank 0 {}": "line 3 .*rank 0 begins for the second time",
        "num_ranks 1\nrank 0 {\nsend 1b to 5\n}": "line 3 .*rank 0: expected a rank from 0 to 0, found .5.",
        "num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}": "line 4 .*the label a is defined for the second",
        "num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}": "line 4 .*no op with the label b",
        "num_ranks 1\nrank 0 {\na: jump 1\n}": "expected calc, send or recv, found 'jump'",
        "num_ranks 1\nrank 0 {\nsend 1b from 0\n}": "expected 'to', found 'from'",
        "num_ranks 1\nrank 0 {\ncalc -1\n}": "expected units of local work from 0 to [0-9]+, found .-1.",
        "num_ranks 1\nrank 0 {\ncalc 1 /* \n}": "a comment without end",
        "num_ranks 1\nrank 0 {\ncalc 1 # \n}": "an unexpected sign .0x23.",
    }
    for text, words in texts.items():
        pathlib.Path("wrong.goal").write_text(text)
        check_run(["info", "wrong.goal"], 3, stderr=words)


def test_wrong_otf2():
    check_run(["info", "ring.otf2", "-p", "trace.kernels=0.5"], 3, stderr="no rank of this archive has events of one")
    shutil.copytree("ring.otf2", "cut.otf2")
    events = pathlib.Path("cut.otf2/traces/2.evt")
    whole = events.read_bytes()
    # A program with 4 thousand million arguments: the library would ask for 16 GiB.
    begin = whole.index(b"\x53\x02")
    events.write_bytes(whole[:begin + 3] + b"\xff" + whole[begin + 4:])
    check_run(["info", "cut.otf2"], 3,
              stderr=r"^weft: cut.otf2/traces/2.evt: byte 18, rank 2: a beginning of the pro")
    said = set()
    for length in range(36, 72):
        events.write_bytes(whole[:length])
        done = run("info", "cut.otf2")
        within = re.search(r"traces/2.evt: byte [0-9]+, rank 2: the file .*ends within a record",
                           done.stderr)
        between = re.search("rank 2 .location 2.: its events end after event", done.stderr)
        check(done.returncode == 3 and (within or between), f"cut at {length}", done)
        said.add("within" if within else "between")
    check(said == {"within", "between"}, f"cuts within and between records: {said}")
    events.unlink()
    check_run(["info", "cut.otf2"], 3,
              stderr=r"cut.otf2/traces/2.evt is missing: rank 2 \(location 2\) has [0-9]+ events")
    events.write_bytes(whole[:1] + b"#" + whole[2:])
    check_run(["info", "cut.otf2"], 3, stderr=r"2.evt: byte 2, rank 2: the bytes of numbers")
    for data, stderr in ((whole[:18] + bytes([14, 1, 0]) + whole[18:], "byte 18, rank 2: a record is too short"),
                         (whole[:18] + bytes([12, 5, 0]) + whole[18:], "byte 18, rank 2: a number has more bytes"),
                         (whole[:-2] + bytes([12, 1, 0, 2]), "rank 2: more events than the definitions say"),
                         (whole[:-2], "its events end after event ([0-9]+) of \\1")):
        events.write_bytes(data)
        check_run(["info", "cut.otf2"], 3, stderr=stderr)
    events.write_bytes(whole)
    local = pathlib.Path("cut.otf2/traces/2.def")
    before = local.read_bytes()
    offset = bytes([6, 17]) + bytes(17)
    for records, stderr in ((bytes([5, 3, 3, 0, 9]), "a mapping is of a mode that is not known"),
                            (bytes([5, 4, 3, 1, 9, 0]), "a mapping has more items than there is room for"),
                            (bytes([5, 3, 3, 0, 0]) * 2, "a second mapping of the same kind"),
                            (bytes([6, 2, 0, 0]), "an offset of the clock ends early"),
                            (offset * 2, "offsets of the clock are not in the order of time"),
                            (b"", "the file ends before its last record")):
        local.write_bytes(b"\x03B" + (1).to_bytes(8, "little") * 2 + records + (b"\x02" if records else b""))
        check_run(["info", "cut.otf2"], 3, stderr=f"traces/2.def: byte [0-9]+, rank 2: {stderr}; truncated or damaged")
    local.write_bytes(before)
    anchor = pathlib.Path("cut.otf2/traces.otf2")
    good = anchor.read_bytes()
    anchor.write_bytes(good[:7] + b"\x63" + good[8:])
    check_run(["info", "cut.otf2"], 3, stderr="traces.otf2: byte 7: version 99 of the format")
    anchor.write_bytes(good[:29] + b"\x02" + good[30:])
    check_run(["info", "cut.otf2"], 3, stderr="byte 28: this archive of all ranks is compressed or in files of SIONlib")
    anchor.write_bytes(good[:12] + b"\xff" * 8 + good[20:])
    check_run(["info", "cut.otf2"], 3, stderr="byte 12: damaged: .* chunks of 1844674")
    anchor.write_bytes(good)
    definitions = pathlib.Path("cut.otf2/traces.def")
    definitions.unlink()
    check_run(["info", "cut.otf2"], 3, stderr="cannot read 'cut.otf2/traces.def': No such file")
    definitions.write_bytes(b"nonsense")
    check_run(["info", "cut.otf2"], 3, stderr="cut.otf2/traces.def: byte 0: in the definitions of all ranks no chunk")
    pathlib.Path("cut.otf2/traces.otf2").write_bytes(b"\x03BOTF2\0nonsense")
    check_run(["info", "cut.otf2"], 3, stderr="cut.otf2/traces.otf2: truncated or damaged")


def whole_files():
    """What is cut off: which format, its name, its bytes."""
    for name, data in graphs.seeds():
        if not name.endswith("truncated"):
            yield (*name.split("/"), data)
    if pathlib.Path("ring.otf2").exists():
        for number, name in enumerate(FILES):
            data = (pathlib.Path("ring.otf2") / name).read_bytes()
            yield "otf2", pathlib.Path(name).name, bytes([number]) + data


def test_truncated():
    """Cut off anywhere: words that name the file, or all that is there. The program that replays
    seeds for fuzzing looks at all of these files at once."""
    dice = random.Random(7)
    for name in FORMATS:
        program = pathlib.Path(os.environ["WEFT_BUILD_DIR"]) / "tests" / f"fuzz_{name}"
        if not check(program.exists(), f"{program.name} is not built"):
            continue
        directory = pathlib.Path(f"truncated_{name}")
        directory.mkdir()
        for kind, seed, data in whole_files():
            places = set(range(min(len(data), 4096)))
            places |= {dice.randrange(len(data)) for _ in range(1000)}
            # Sanitizers look at a part of them.
            places = sorted(places)[::int(os.environ.get("WEFT_TEST_ONE_IN", "1"))]
            for place in places if kind == name else ():
                (directory / f"{seed}_{place}").write_bytes(data[:place])
        done = subprocess.run([program, directory], capture_output=True, text=True, check=False,
                              timeout=200)
        check(done.returncode == 0, f"truncated {name}: {done.stderr[-300:]}")
        shutil.rmtree(directory)


# ---- real ones ----

def test_real(formats):
    root = real_traces()
    expected = collections.defaultdict(dict)
    with open(root / "expected_counts.csv", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            key = int(row["rank"]), row["event"]
            expected[row["format"], row["trace"]][key] = int(row["count"]), int(row["bytes"])
    missing = set(formats) - {kind for kind, _ in expected}
    check(not missing, f"{root}: no traces of {missing}")
    for (kind, name), rows in expected.items():
        if kind not in formats:
            continue
        path = str(root / kind / name)
        found = {(one["rank"], event): (one["count"], one["bytes"])
                 for event, record in info(path)["records"].items()
                 for one in record["per_rank"]}
        wrong = {key for key in rows.keys() | found.keys() if rows.get(key) != found.get(key)}
        check(not wrong, f"{path}: {len(wrong)} of {len(rows)} counts differ: {wrong}")
        for policy in ("causal", "timed"):
            for net in (("--net", "loggp"), ("--net", "latency", "--topo", "torus:4x4x4")):
                predicted(path, "-p", f"replay.policy={policy}", net=net)
        if kind == "bigsim":
            predicted(path, "-p", "trace.rules=tracer")
        one_digest(path)


def main():
    test_bigsim()
    test_repeat()
    test_cut()
    test_goal()
    test_goal_written()
    test_streams()
    test_shared_lists()
    test_wrong()
    formats = ["bigsim", "goal"]
    if has_otf2():
        formats.append("otf2")
        test_otf2()
        test_wrong_otf2()
    test_truncated()
    test_real(formats)
    finish()


main()
