# SPDX-License-Identifier: Apache-2.0
"""weft gen, info, convert, cut: traces written, looked at, changed; and every mistake."""
import csv
import os
import pathlib

from weft_cli import check, check_run, finish, parse, run

# Words after the command, exit code, what stderr must say.
ERRORS = [
    (["gen"], 2, "gen: a generator is missing; for example: weft gen"),
    (["gen", "ring", "ring", "-n", "4", "-o", "x.weft"], 2, "gen: unexpected argument 'ring'"),
    (["gen", "rign", "-n", "4", "-o", "x.weft"], 2, "unknown generator 'rign'.*'ring'"),
    (["gen", "ring", "-n", "4"], 2, "no output; -o names it"),
    (["gen", "ring", "-o", "x.weft"], 2, "the number of ranks is missing"),
    (["gen", "ring", "-n", "0", "-o", "x.weft"], 2, "'0' is out of range"),
    (["gen", "ring", "-n", "4", "-o", "x.foo"], 2, "must end in .weft or .csv or .*: 'x.foo'"),
    (["gen", "ring", "-n", "4", "-o", "x.weft", "-p", "net.L=1us"], 2, "expected gen.<name>"),
    (["gen", "ring", "-n", "4", "-o", "x.weft", "-p", "gen.byte=1"], 2, "'gen.byte'.*bytes"),
    (["gen", "ring", "-n", "4", "-o", "x.weft", "-p", "gen.bytes=two"], 2, "gen.bytes"),
    (["gen", "ring", "-n", "4", "-o", "x.csv", "--parts", "2"], 2, "parts are for .weft"),
    (["gen", "ring", "-n", "4", "-o", "nowhere/x.weft"], 3, "cannot write 'nowhere/x.weft'"),
    (["gen", "ring", "-n", "4", "-o", "ring.weft"], 3, "'ring.weft' exists; -f overwrites it"),
    (["gen", "masterworker", "-n", "4", "-o", "x.weft"], 3,
     "cannot be written as a trace.*'weft replay gen:masterworker' runs it"),
    (["gen", "text", "-n", "4", "-o", "x.weft", "-p", "gen.file=seen.txt"], 3, "cannot be written as a trace"),
    (["info"], 2, "info: a trace is missing"),
    (["info", "nowhere.weft"], 3, "cannot read 'nowhere.weft'"),
    (["info", "ring.weft", "-n", "4"], 2, "a trace has its own number of ranks"),
    (["info", "ring.weft", "-p", "gen.bytes=1"], 2, "no parameter of a trace of the format weft; expected trace"),
    (["replay", "ring.weft", "-p", "trace.x=1"], 2, "unknown parameter .trace.x."),
    (["gen", "leanmd", "-n", "4", "-o", "x.csv"], 3, "[.]csv cannot hold the tasks of 'gen:lean"),
    (["cut", "tasks.weft", "-o", "x.weft", "--region", "x"], 2, "has tasks instead of operations"),
    (["cut", "gen:ring", "-o", "x.weft", "--ranks", "0"], 2, "not a trace; 'weft gen' writes it"),
    (["replay", "tasks.weft", "-n", "9"], 3, "a trace of 8 ranks, which cannot be played on 9"),
    (["replay", "tasks.weft", "--region", "x"], 2, "has tasks instead of operations"),
    (["info", "text"], 3, "'text' is no trace of a known format"),
    (["info", "empty"], 3, "no trace of a known format: it is empty"),
    (["info", "directory"], 3, "'directory' is no trace of a known format: it is empty"),
    (["info", "broken.weft"], 3, "broken.weft: truncated or damaged at byte"),
    (["info", "flipped.weft"], 3, "flipped.weft: block at byte [0-9]+, rank [0-9]+: .*damaged"),
    (["convert", "ring.weft"], 2, "convert: a trace is missing"),
    (["convert", "ring.weft", "x.txt"], 2, "must end in .weft or .csv or .ti"),
    (["convert", "ring.weft", "x.weft", "y.weft"], 2, "unexpected argument 'y.weft'"),
    (["convert", "broken.weft", "x.weft"], 3, "broken.weft: truncated or damaged"),
    (["convert", "ring.weft", "directory", "-f"], 2, "must end in"),
    (["convert", "ring.weft", "directory.weft", "-f"], 3, "'directory.weft' is a directory"),
    (["convert", "ring.weft", "directory.weft", "-f", "--parts", "2"], 3, "no trace"),
    (["cut", "ring.weft", "-o", "x.weft"], 2, "nothing to cut; choose what to keep with --ranks"),
    (["cut", "ring.weft", "--ranks", "0"], 2, "no output"),
    (["cut", "ring.weft", "-o", "x.weft", "--ranks", "0-4"], 2, "has the ranks 0 to 3"),
    (["cut", "ring.weft", "-o", "x.weft", "--ranks", "2-1"], 2, "expected ranks and ranges"),
    (["cut", "ring.weft", "-o", "x.weft", "--ranks", "0,,1"], 2, "expected ranks and ranges"),
    (["cut", "ring.weft", "-o", "x.weft", "--ranks", "1,"], 2, "expected ranks and ranges"),
    (["cut", "ring.weft", "-o", "x.weft", "--ranks", ""], 2, "expected ranks and ranges"),
    (["cut", "ring.weft", "-o", "x.weft", "--time", "1ms"], 2, "expected two times"),
    (["cut", "ring.weft", "-o", "x.weft", "--time", "2ms:1ms"], 2, "expected two times"),
    (["cut", "ring.weft", "-o", "x.weft", "--time", "1:2"], 2, "expected two times"),
    (["cut", "ring.weft", "-o", "x.weft", "--time", "1s:2s"], 3, "nothing is left"),
    (["cut", "ring.weft", "-o", "x.weft", "--iterations", "5:3"], 2, "--iterations: '5:3'"),
    (["cut", "ring.weft", "-o", "x.weft", "--region", "solve"], 3, "has a region 'solve'"),
]


def info(*words):
    return parse(check_run(["info", *words, "--json"], 0))


def check_gen_and_info():
    check_run(["gen", "ring", "-n", "4", "-o", "ring.weft", "-p", "gen.bytes=1KiB"], 0,
              stdout=r"^ring.weft: 4 ranks, 48 ops, ")
    document = info("ring.weft")
    check(document["schema"] == "weft-info-1", "wrong schema")
    check((document["ranks"], document["ops"], document["messages"], document["message_bytes"])
          == (4, 48, 16, 16384), f"wrong figures: {document}")
    check(document["message_sizes"] == {"1024": 16}, "wrong message sizes")
    check(document["ops_by_kind"]["isend"] == {"calls": 16, "bytes": 16384}, "wrong isends")
    check(document["file"]["bytes"] == os.path.getsize("ring.weft"), "wrong size of the file")
    same = info("gen:ring", "-n", "4", "-p", "gen.bytes=1KiB")
    for key in ("ranks", "ops", "messages", "message_bytes", "message_sizes", "ops_by_kind"):
        check(same[key] == document[key], f"gen:ring and its trace differ in {key}")
    ranks = info("ring.weft", "--per-rank")["per_rank"]
    check([rank["ops"] for rank in ranks] == [12] * 4, f"wrong ranks: {ranks}")
    check_run(["info", "ring.weft", "--per-rank"], 0,
              stdout=r"Ranks +4\n(.*\n)+Messages +16 of 16.0 KiB(.*\n)+ +Rank +Ops(.*\n)+ +3 +12 ")
    check(not list(pathlib.Path().glob("*.tmp")), "temporary files are left")


def check_loops():
    sizes = []
    for iterations in ("1", "1000"):
        check_run(["gen", "stencil3d", "-n", "27", "-p", f"gen.iterations={iterations}", "-o",
                   f"loop{iterations}.weft"], 0, stdout="27 ranks")
        sizes.append(os.path.getsize(f"loop{iterations}.weft"))
    check(sizes[1] < 1.2 * sizes[0], f"1000 iterations take {sizes[1]} bytes, one {sizes[0]}")
    check(info("loop1000.weft")["ops"] == 1000 * info("loop1.weft")["ops"], "ops are lost")


def check_replay():
    """A trace runs as its generator does."""
    times = [parse(run("replay", *source, "--json")).get("result", {}).get("predicted_time_ps")
             for source in (["gen:stencil3d", "-n", "27", "-p", "gen.iterations=10"],
                            ["ten.weft"], ["ten"])]
    check(times[0] is not None and times == [times[0]] * 3, f"predicted times differ: {times}")


def check_tasks():
    """Task graphs: written, looked at, converted, cut off; and they run as their generator."""
    program = ["-n", "8", "-p", "gen.cells=4x4x4"]
    check_run(["gen", "leanmd", *program, "-o", "tasks.weft"], 0, stdout="8 PEs, 2944 tasks")
    check_run(["convert", "tasks.weft", "tasks2.weft", "--parts", "3"], 0, stdout="8 PEs")
    # 64 cells, each with 14 computes, 3 steps: 27 messages of each cell, and as many to it.
    document = info("tasks2.weft")
    check(document["tasks"] == 64 + 3 * 64 * 15, "wrong tasks")
    check(document["messages"] == document["message_needs"] == 3 * 64 * 27 * 2, "messages")
    check(document["notes"] == [] and document["format"] == "weft", "notes or format")
    results = [parse(run("replay", *source, "--json")).get("result", {})
               for source in (["gen:leanmd", *program], ["tasks.weft"], ["tasks2.weft"],
                              ["tasks.weft", "--sched", "optimistic", "--threads", "2", "-p",
                               "engine.fit=no"],
                              ["tasks.weft", "--sched", "check-undo"])]
    for key in ("predicted_time_ps", "digest", "tasks"):
        values = [result.get(key) for result in results]
        check(values[0] is not None and values == [values[0]] * 5, f"{key} differ: {values}")
    data = pathlib.Path("tasks.weft").read_bytes()
    pathlib.Path("cut-off.weft").write_bytes(data[:len(data) // 2])
    for words in (["info"], ["replay"], ["convert", "x.weft"]):
        done = run(words[0], "cut-off.weft", *words[1:])
        check(done.returncode == 3 and "cut-off.weft: truncated" in done.stderr,
              f"{words}: what is cut off is not said", done)
    check(not os.path.exists("x.weft"), "a part was written")
    flipped = bytearray(data)
    flipped[len(data) // 3] ^= 16
    pathlib.Path("cut-off.weft").write_bytes(flipped)
    check_run(["replay", "cut-off.weft"], 3, stderr="cut-off.weft: block at byte [0-9]+, rank")


def check_convert():
    done = check_run(["convert", "ring.weft", "ring.csv"], 0,
                     stderr="note: not in a .csv: names of regions.*members of communicators")
    with open("ring.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    check(len(rows) == 48, f"{len(rows)} lines", done)
    sends = [row for row in rows if row["kind"] == "isend" and row["rank"] == "3"]
    check(all(row["peer"] == "0" and row["bytes"] == "1024" for row in sends), "wrong sends")
    check(sum(row["kind"] == "waitall" and row["count"] == "2" for row in rows) == 16, "waits")
    check_run(["gen", "stencil3d", "-n", "27", "-p", "gen.iterations=10", "-o", "ten.weft"], 0)
    check_run(["convert", "ten.weft", "parts.weft", "--parts", "4"], 0, stdout="parts.weft: 27")
    names = sorted(os.listdir("parts.weft"))
    check(names == ["index.weft"] + [f"part-000{i}.weft" for i in range(4)], f"files: {names}")
    os.rename("parts.weft", "ten")
    check(info("ten")["ops_by_kind"] == info("ten.weft")["ops_by_kind"], "parts differ")
    check_run(["convert", "ten", "again.weft"], 0)
    check_run(["convert", "ten", "again.weft", "-f"], 0)
    check(info("again.weft")["ops_by_kind"] == info("ten.weft")["ops_by_kind"], "again differs")
    # Without its list of parts, and without a part.
    os.rename("ten/index.weft", "index.weft")
    check(info("ten")["ops"] == info("ten.weft")["ops"], "ops are lost with the list of parts")
    os.rename("index.weft", "ten/index.weft")
    os.rename("ten/part-0002.weft", "part")
    check_run(["info", "ten"], 3, stderr="cannot read 'ten/part-0002.weft'")
    os.rename("part", "ten/part-0002.weft")


def check_partial():
    data = pathlib.Path("ten.weft").read_bytes()
    pathlib.Path("broken.weft").write_bytes(data[:len(data) // 2])
    middle = bytearray(data)
    middle[len(data) // 2] ^= 255
    pathlib.Path("flipped.weft").write_bytes(middle)
    done = run("info", "broken.weft", "--json")
    document = parse(done)
    check(done.returncode == 3 and 0 < document["ops"] < info("ten.weft")["ops"],
          "a truncated trace is not read in part", done)
    check("truncated" in document["file"]["damage"], "the document does not say so")
    check_run(["convert", "--partial", "broken.weft", "whole.weft"], 0,
              stderr="note: broken.weft: truncated")
    check(info("whole.weft")["ops"] == document["ops"], "what was readable is lost")
    check_run(["replay", "broken.weft"], 3, stderr="broken.weft: truncated or damaged")
    check_run(["gen", "leanmd", "-n", "4", "-p", "gen.steps=1", "-o", "graph.weft"], 0)
    data = pathlib.Path("graph.weft").read_bytes()
    pathlib.Path("half.weft").write_bytes(data[:len(data) // 2])
    check_run(["convert", "--partial", "half.weft", "part.weft"], 3,
              stderr="half.weft: truncated .*; --partial cannot take a part of a program of tasks")
    check(not pathlib.Path("part.weft").exists(), "a part of the tasks was written")
    check_run(["convert", "--partial", "graph.weft", "part.weft"], 0)


def check_cut():
    done = check_run(["cut", "ten.weft", "-o", "some.weft", "--ranks", "0-8,20"], 0,
                     stderr="left out: [0-9]+ sends and receives", stdout="some.weft: 10 ranks")
    document = info("some.weft")
    calls = {kind: row["calls"] for kind, row in document["ops_by_kind"].items()}
    check(calls["isend"] == calls["irecv"] and calls["waitall"] == 100, f"{calls}", done)
    check_run(["cut", "ten.weft", "-o", "some.weft", "-f", "--time", "3ms:5ms"], 0)
    document = info("some.weft")
    check(document["compute_min_ps"] == document["compute_max_ps"] == 2 * 10**9, "wrong time")
    check(document["ops_by_kind"]["isend"]["calls"] == 2 * 6 * 27, "wrong messages")
    check_run(["gen", "stencil3d", "-n", "8", "-p", "gen.markers=yes", "-p", "gen.iterations=9",
               "-o", "marked.weft"], 0)
    check_run(["cut", "marked.weft", "-o", "some.weft", "-f", "--iterations", "3:5"], 0)
    document = info("some.weft")
    check(document["ops_by_kind"]["iteration_begin"]["calls"] == 3 * 8, "wrong iterations")
    check(3 * document["ops"] == info("marked.weft")["ops"], "not a third of the ops")


def check_wildcards():
    """A program that takes messages as they come is written as it is, unless it looks at them."""
    pathlib.Path("any.txt").write_text(
        "if rank == 0 { repeat size - 1 { recv any 8 } } else { compute 1us * rank send 0 8 }\n",
        encoding="utf-8")
    pathlib.Path("seen.txt").write_text(
        "if rank == 0 { recv any 8 send seen_source 8 } else { send 0 8 recv 0 8 }\n",
        encoding="utf-8")
    program = ["-n", "4", "-p", "gen.file=any.txt"]
    check_run(["gen", "text", *program, "-o", "any.weft"], 0, stdout="4 ranks, 9 ops")
    results = [parse(run("replay", *source, "--json")).get("result", {})
               for source in (["gen:text", *program], ["any.weft"])]
    check(results[0].get("digest") and results[0]["digest"] == results[1].get("digest"),
          f"wildcards from a trace run otherwise: {results}")


def check_errors():
    pathlib.Path("text").write_text("no trace\n", encoding="utf-8")
    pathlib.Path("empty").touch()
    os.mkdir("directory")
    os.mkdir("directory.weft")
    before = set(os.listdir())
    for words, code, said in ERRORS:
        done = check_run(words, code, stderr=said)
        check(done.stderr.count("\n") == 1, f"{words}: not one line", done)
    check(set(os.listdir()) == before, f"left behind: {set(os.listdir()) - before}")


check_gen_and_info()
check_loops()
check_convert()
check_tasks()
check_replay()
check_partial()
check_cut()
check_wildcards()
check_errors()
finish()
