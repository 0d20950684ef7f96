# SPDX-License-Identifier: Apache-2.0
"""weft extrapolate: from traces at few ranks to the trace that the program writes at many."""
import csv
import os
import pathlib
import re
import subprocess

from weft_cli import check, check_run, finish, parse, sample

# A program for each way in which peers, guards and loops depend on ranks: trees, hypercubes, an
# exchange of all with all, a root that counts, a chain, rows and columns.
PROGRAMS = {
    "tree": "let k = log2(size) loop i 0..k { if rank % (2 << i) == 0 { recv rank + (1 << i) 8 }"
            " else if rank % (2 << i) == (1 << i) { send rank - (1 << i) 8 } } barrier",
    "hypercube": "let k = log2(size) loop i 0..k { irecv rank ^ (1 << i) 64 isend rank ^ (1 << i)"
                 " 64 * (1 << i) waitall }",
    "halving": "let k = log2(size) loop i 0..k { sendrecv rank ^ (size >> (i + 1)) from "
               "rank ^ (size >> (i + 1)) 4096 }",
    "shift": "loop i 1..size { irecv (rank - i) % size 100 isend (rank + i) % size 100 waitall }",
    "gather": "if rank == 0 { loop i 1..size { recv i 1000 } } else { send 0 1000 }",
    "chain": "repeat 3 { if rank > 0 { recv rank - 1 8 } compute 1us if rank < size - 1 "
             "{ send rank + 1 8 } }",
    "scaling": "let nx = sqrt(size) repeat 4 { compute 1s / size irecv (rank + nx) % size "
               "1MiB / size isend (rank - nx) % size 1MiB / size waitall allreduce 8 }",
    "rows": "let nx = sqrt(size) group row = rank / nx * nx, 1, nx repeat 5 { bcast 1KiB root 0 "
            "in row alltoall 48KiB / nx in row }",
    "tags": "loop i 0..50 { irecv (rank + 1) % size 8 tag i isend (rank - 1) % size 8 tag i "
            "waitall }",
}


def ops(trace):
    """Ops of a trace; the numbers of requests and communicators are free."""
    check_run(["convert", trace, "ops.csv", "-f"], 0, stderr="not in a .csv")
    with open("ops.csv", encoding="utf-8") as lines:
        return [{name: value for name, value in row.items() if name not in
                 ("request", "requests", "comm", "new_comm")} for row in csv.DictReader(lines)]


def predict(name, counts, target, *words):
    traces = [f"{name}{n}.weft" for n in counts]
    for n, trace in zip(counts, traces):
        check_run(["gen", *words, "-n", str(n), "-o", trace, "-f"], 0)
    check_run(["gen", *words, "-n", str(target), "-o", "truth.weft", "-f"], 0)
    check_run(["extrapolate", *traces, "-n", str(target), "-o", "guess.weft", "-f"], 0,
              stderr="")
    truth, guess = ops("truth.weft"), ops("guess.weft")
    check(len(truth) == len(guess), f"{name}: {len(guess)} ops instead of {len(truth)}")
    for n, (one, other) in enumerate(zip(truth, guess)):
        if not check(one == other, f"{name}: op {n} is {other} instead of {one}"):
            return


def test_generators():
    cases = [("stencil", (16, 24, 36), 64, "stencil2d", "-p", "gen.periodic=false", "-p", "gen.allreduce=true"),
             ("cube", (8, 27, 64), 125, "stencil3d", "-p", "gen.periodic=false"),
             ("sweep", (9, 16, 20), 36, "sweep3d", "-p", "gen.k_blocks=2"),
             ("cg", (8, 16, 32), 64, "cg", "-p", "gen.iterations=1"),
             ("square", (16, 64, 256), 1024, "cg", "-p", "gen.iterations=1", "-p", "gen.n=16384"),
             ("fft", (8, 16, 32), 64, "fft"),
             ("training", (4, 8, 16), 32, "training"),
             ("coll", (4, 8, 16), 64, "coll"),
             ("oneway", (16, 32, 64), 512, "pattern", "-p", "gen.kind=oneway")]
    for case in sample(cases, 3):
        predict(*case)


def test_programs():
    for name, text in sample(list(PROGRAMS.items()), 3):
        pathlib.Path(f"{name}.txt").write_text(text, encoding="utf-8")
        square = name in ("scaling", "rows")
        predict(name, (16, 36, 64) if square else (8, 16, 32), 144 if square else 64,
                "text", "-p", f"gen.file={name}.txt")


def test_square():
    """What ranks do on square grids only, and not on their diagonal."""
    pathlib.Path("square.txt").write_text(
        "let nx = sqrt(size) let to = rank % nx * nx + rank / nx repeat 3 { if nx * nx == size { if "
        "to != rank { sendrecv to from to 1KiB } } allreduce 8 }", encoding="utf-8")
    predict("square", (16, 32, 64, 100), 144, "text", "-p", "gen.file=square.txt")


def test_varying():
    """Sizes that follow no rule: receives hold every message, whichever they meet."""
    size = "1000 + 8 * ({0} * {0} * 37 % 101)"
    before = "((rank + size - 1) % size)"
    pathlib.Path("varying.txt").write_text(
        f"repeat 2 {{ irecv {before} {size.format(before)} isend (rank + 1) % size "
        f"{size.format('rank')} waitall }}", encoding="utf-8")
    traces = [f"varying{n}.weft" for n in (16, 32, 64)]
    for n, trace in zip((16, 32, 64), traces):
        check_run(["gen", "text", "-p", "gen.file=varying.txt", "-n", str(n), "-o", trace], 0)
    check_run(["extrapolate", *traces, "-n", "256", "-o", "varying.weft"], 0)
    check_run(["replay", "varying.weft", "--net", "loggp"], 0, stdout="Predicted time")


def test_explained():
    check_run(["extrapolate", "tree8.weft", "tree16.weft", "tree32.weft", "-n", "4096",
               "--explain"], 0, stdout=r"loop with t up to log2\(n\)")


def test_verified():
    traces = [f"stencil{n}.weft" for n in (16, 24, 36)]
    check_run(["extrapolate", *traces, "-n", "64", "--verify"], 0,
              stdout="36 ranks, predicted from other traces: .*, all right, 100.0 %")
    check_run(["gen", "stencil2d", "-n", "64", "-o", "other.weft", "-f"], 0)
    check_run(["extrapolate", *traces, "-n", "64", "--against", "other.weft"], 3,
              stderr="'other.weft' is predicted wrongly from the other traces: op 1 of rank 0")


def test_replayed():
    """An extrapolated source is as good as the trace, and as a trace of as many ranks."""
    words = ("--net", "loggp", "--json")
    traces = ",".join(f"stencil{n}.weft" for n in (16, 24, 36))
    extrapolated = parse(check_run(["replay", f"extrapolate:{traces}", "-n", "64", *words], 0))
    truth = parse(check_run(["replay", "gen:stencil2d", "-n", "64", "-p", "gen.periodic=false",
                             "-p", "gen.allreduce=true", *words], 0))
    for name in ("predicted_time_ps", "digest"):
        check(extrapolated["result"][name] == truth["result"][name], f"{name} is the same")
    check_run(["replay", f"extrapolate:{traces}", *words], 2, stderr="number of ranks is missing")
    check_run(["replay", "extrapolate:nothing.weft", "-n", "64", *words], 3, stderr="nothing.weft")


def test_changed():
    """More iterations, other sizes and times."""
    def sums(*words):
        check_run(["extrapolate", "stencil16.weft", "-n", "16", "-o", "c.weft", "-f", *words], 0)
        rows = ops("c.weft")
        return (sum(int(row["bytes"] or 0) for row in rows),
                sum(int(row["duration_ps"] or 0) for row in rows))
    size, time = sums()
    check(sums("--repeat", "4") == (4 * size, 4 * time), "four times as many iterations")
    check(sums("--scale-bytes", "3", "--scale-compute", "0.5") == (3 * size, time // 2),
          "larger messages, shorter times")
    check(sums("--scale-bytes", "solve=3") == (size, time), "a region that is not there")
    varied = sums("--spread-compute", "0.2")[1]
    check(varied != time and abs(varied - time) < time / 5, "times that differ")
    for spread in ("uniform:0.5:1.5", "normal:1:0.2", "exponential:1"):
        varied = sums("--scale-bytes", spread, "--scale-compute", spread)
        check(varied[1] != time and abs(varied[1] - time) < time / 2, f"times by {spread}: {varied[1]}, {time}")
        check(varied == sums("--scale-bytes", spread, "--scale-compute", spread), f"{spread} is not reproducible")
        check_run(["replay", "c.weft", "--net", "loggp"], 0, stdout="Predicted time")
    check_run(["extrapolate", "stencil16.weft", "-n", "16", "-o", "c.weft", "-f", "--scale-bytes", "uniform:0.5:1.5"], 0)
    rows = ops("c.weft")
    sent = [int(row["bytes"]) for row in rows if row["kind"] == "isend"]
    held = [int(row["bytes"]) for row in rows if row["kind"] == "irecv"]
    same = {row["bytes"] for row in rows if row["kind"] == "allreduce" and row["rank"] == "0"}
    check(len(set(sent)) > 8 and max(sent) <= min(held), f"messages that differ: {sorted(set(sent))[:9]}, {min(held)}")
    check(all({row["bytes"] for row in rows if row["kind"] == "allreduce" and row["rank"] == str(rank)} == same
              for rank in range(16)), "ranks of a collective differ")
    check_run(["extrapolate", "stencil16.weft", "-n", "16", "-o", "c.weft", "-f", "--scale-bytes", "uniform:2:1"], 2,
              stderr="uniform:<least>:<most>")
    pathlib.Path("regions.txt").write_text("repeat 3 { region a { compute 1ms allreduce 8 } "
                                           "region b { compute 1ms allreduce 8 } }",
                                           encoding="utf-8")
    check_run(["gen", "text", "-p", "gen.file=regions.txt", "-n", "2", "-o", "g.weft", "-f"], 0)
    check_run(["extrapolate", "g.weft", "-n", "2", "-o", "c.weft", "-f", "--scale-compute",
               "b=3", "--scale-bytes", "a=2"], 0)
    found = [(row["bytes"], row["duration_ps"]) for row in ops("c.weft")
             if row["kind"] in ("compute", "allreduce")][:4]
    check(found == [("", "1000000000"), ("16", ""), ("", "3000000000"), ("8", "")],
          f"factors of regions: {found}")


def compile_program(source, name):
    """Whether there is a program; with sanitizers there is none, because it could not be linked with their library."""
    build = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
    if re.search(r"^WEFT_SANITIZE:\w+=.+$", (build / "CMakeCache.txt").read_text(), re.M):
        return False
    done = subprocess.run([build / "weftcc", "-O1", source, "-o", name, "-lm"], check=False)
    return check(done.returncode == 0, f"{name} is compiled")


def test_outcomes_of_time():
    """Waits for some of a set, polling and neighbour collectives, of a program that runs."""
    if not compile_program(pathlib.Path(__file__).resolve().parent / "outcomes_of_time.c", "outcomes"):
        return
    for n in (8, 16, 24, 32): # 6, 14 and 22 could be grids of two columns
        check_run(["emulate", "--compute", "none", "-n", str(n), "-o", f"o{n}.weft", "-f",
                   "./outcomes"], 0)
    check_run(["extrapolate", "o8.weft", "o16.weft", "o24.weft", "-n", "32", "--against",
               "o32.weft"], 0, stdout="all right, 100.0 %",
              stderr="waits for some of several requests(.|\n)*neighbour collectives became")


def test_no_peers():
    """Messages to nobody have no size in traces, which says nothing about those to somebody."""
    if not compile_program(pathlib.Path(__file__).resolve().parents[2] / "examples/mpi/mg.c", "mg"):
        return
    for side in (2, 3, 4, 5):
        check_run(["emulate", "--compute", "model", "-n", str(side ** 3), "-o", f"mg{side}.weft", "-f", "--", "./mg",
                   str(4 * side), "1"], 0)
    check_run(["extrapolate", "mg2.weft", "mg3.weft", "mg4.weft", "-n", "125", "--against", "mg5.weft"], 0,
              stdout="all right, 100.0 %")


COUNTERS = "note: hardware counters are not carried over"


def test_replicas():
    """Replicas between the ranks of a layer and the stages of a pipeline: a line between two fixed dimensions."""
    for n in (16, 32, 64, 128):
        check_run(["gen", "llm", "-n", str(n), "-p", "gen.layers=2", "-p", "gen.tensor=4", "-p", "gen.pipeline=2", "-o",
                   f"llm{n}.weft", "-f"], 0)
    check_run(["extrapolate", "llm16.weft", "llm32.weft", "llm64.weft", "-n", "128", "--against", "llm128.weft"], 0,
              stdout=r"all right, 100.0 % of the sizes the same, bytes \+0.00 %, compute time \+0.00 %", stderr=COUNTERS)


def make_llm(name, counts, *settings):
    """Traces of training steps: name<n>.weft."""
    for n in counts:
        check_run(["gen", "llm", "-n", str(n), "-o", f"{name}{n}.weft", "-f",
                   *[word for setting in settings for word in ("-p", f"gen.{setting}")]], 0)


def test_strong_scaling():
    """A batch that more replicas share: microbatches, and with them rounds and tags, follow the number of ranks in
    another way at each stage of the pipeline."""
    right = r"all right, 100.0 % of the sizes the same, bytes \+0.00 %"
    make_llm("strong", (16, 32, 64, 128), "layers=4", "tensor=2", "pipeline=4", "batch=256")
    traces = ["extrapolate", "strong16.weft", "strong32.weft", "strong64.weft"]
    check_run([*traces, "-n", "128", "--against", "strong128.weft"], 0, stdout=right, stderr=COUNTERS)
    check_run([*traces, "-n", "128", "--explain"], 0, stdout="rules by place", stderr=COUNTERS)
    # Ranks that share sequences are every second one of four: no dimension of the grid.
    make_llm("context", (32, 64, 128, 256), "layers=4", "tensor=2", "context=2", "pipeline=4", "batch=512", "bucket=1GB")
    check_run(["extrapolate", "context32.weft", "context64.weft", "context128.weft", "-n", "256", "--against",
               "context256.weft"], 0, stdout=right, stderr=COUNTERS)
    # Stages do the same at all counts, although the ops of several stages would fit each other as well.
    # With sanitizers this is two fifths of the test, through code that the next case runs too.
    if "WEFT_TEST_ONE_IN" not in os.environ:
        make_llm("aligned", (64, 128, 256, 512), "layers=8", "tensor=8", "pipeline=4", "batch=512", "schedule=interleaved",
                 "chunks=2")
        check_run(["extrapolate", "aligned64.weft", "aligned128.weft", "aligned256.weft", "-n", "512", "--against",
                   "aligned512.weft"], 0, stdout=right, stderr=COUNTERS)
    # Reduced gradients stay open to the end of the step: waits for other requests do not count them.
    make_llm("sharded", (16, 32, 64, 128), "layers=8", "tensor=2", "pipeline=4", "batch=256", "zero=3", "schedule=interleaved",
             "chunks=2")
    check_run(["extrapolate", "sharded16.weft", "sharded32.weft", "sharded64.weft", "-n", "128", "--against",
               "sharded128.weft"], 0, stdout=right, stderr=COUNTERS)


def test_series():
    """Tags that repeat over the turns of a statement, shifted, or are a list: stages that take microbatches in groups."""
    right = r"all right, 100.0 % of the sizes the same, bytes \+0.00 %"
    make_llm("groups", (16, 32, 64, 128), "layers=8", "tensor=2", "pipeline=4", "schedule=interleaved", "chunks=2")
    traces = ["extrapolate", "groups16.weft", "groups32.weft", "groups64.weft", "-n", "128"]
    check_run([*traces, "--against", "groups128.weft"], 0, stdout=right, stderr=COUNTERS)
    check_run([*traces, "--explain"], 0, stdout="a series of [0-9]+ turns", stderr=COUNTERS)
    make_llm("chunks", (16, 32, 64, 128), "layers=8", "tensor=2", "pipeline=4", "batch=256", "schedule=interleaved", "chunks=2")
    check_run(["extrapolate", "chunks16.weft", "chunks32.weft", "chunks64.weft", "-n", "128", "--against", "chunks128.weft"], 0,
              stdout=right, stderr=COUNTERS)
    pathlib.Path("groups.txt").write_text(
        "loop i 0..60 { irecv (rank + 1) % size 8 tag i / 6 * 9 + i * i % 6 isend (rank - 1) % size 8 tag i / 6 * 9 + i * i % 6 "
        "waitall }", encoding="utf-8")
    predict("series", (8, 16, 32), 64, "text", "-p", "gen.file=groups.txt")


def test_guessed():
    """Numbers of rounds that no rule has, and weft says so."""
    pathlib.Path("rounds.txt").write_text("repeat 10 + size % 37 { allreduce 8 compute 1us }", encoding="utf-8")
    for n in (16, 32, 64):
        check_run(["gen", "text", "-p", "gen.file=rounds.txt", "-n", str(n), "-o", f"rounds{n}.weft"], 0)
    check_run(["extrapolate", "rounds16.weft", "rounds32.weft", "rounds64.weft", "-n", "256", "-o", "rounds.weft"], 0,
              stderr="1 numbers of rounds of loops follow no rule exactly and are guesses; .* off by up to 17.8 %")


def test_uneven():
    """Sizes that all traces divide evenly, and the target does not."""
    for n in (16, 64):
        check_run(["gen", "bt", "-n", str(n), "-p", "gen.n=16", "-p", "gen.iterations=1", "-o", f"bt{n}.weft", "-f"], 0)
    for target, note in ((256, "note: two traces do not tell by which rule"), (64, ""),
                         (144, "sizes are whole numbers in all traces, but not with 144 ranks")):
        check_run(["extrapolate", "bt16.weft", "bt64.weft", "-n", str(target), "-o", "bt.weft", "-f"], 0, stderr=note)


def test_refused():
    for n in (16, 32, 64):
        check_run(["gen", "random", "-n", str(n), "-o", f"r{n}.weft", "-f"], 0)
        check_run(["gen", "pingpong", "-n", str(n), "-o", f"ring{n}.weft", "-f"], 0)
    check_run(["extrapolate", "r16.weft", "r32.weft", "r64.weft", "-n", "128", "-o", "x.weft"], 3,
              stderr="no rule says|different programs")
    check(not pathlib.Path("x.weft").exists(), "a refused extrapolation leaves nothing")
    for n in (16, 32, 64):
        check_run(["gen", "gpcnet", "-n", str(n), "-o", f"g{n}.weft", "-f"], 0)
    check_run(["extrapolate", "g16.weft", "g32.weft", "g64.weft", "-n", "128", "-o", "x.weft"], 3,
              stderr=r"irecv, op \d+ of rank \d+ in .*: no rule says which ranks execute it: 0 of 16, 0 of 32, 1 of 64")
    # Eight microbatches are left at 128 ranks, fewer than the pipeline's beginning and end take in the traces.
    make_llm("few", (16, 32, 64), "layers=4", "tensor=2", "pipeline=4", "batch=128")
    check_run(["extrapolate", "few16.weft", "few32.weft", "few64.weft", "-n", "128", "-o", "x.weft"], 3,
              stderr=r"the loop that begins with .*: with 128 ranks, rank \d+ would repeat it -\d+ times")
    # Tags of the square of the round: no series repeats, and no rule goes on.
    pathlib.Path("squares.txt").write_text(
        "loop i 0..size * 20 { irecv (rank + 1) % size 8 tag i * i isend (rank - 1) % size 8 tag i * i waitall }", encoding="utf-8")
    for n in (16, 32, 64):
        check_run(["gen", "text", "-n", str(n), "-p", "gen.file=squares.txt", "-o", f"squares{n}.weft", "-f"], 0)
    check_run(["extrapolate", "squares16.weft", "squares32.weft", "squares64.weft", "-n", "128", "-o", "x.weft"], 3,
              stderr=r"op \d+ of rank \d+ in .* no rule says which tag it has: \d+ to \d+ with 16 ranks, ")
    check_run(["extrapolate", "r16.weft", "r16.weft", "r64.weft", "-n", "128", "-o", "x.weft"], 2,
              stderr="both have 16 ranks")
    check_run(["extrapolate", "r16.weft", "-n", "128", "-o", "x.weft"], 2,
              stderr="one trace of 16 ranks says nothing about 128")
    check_run(["extrapolate", "r16.weft", "r32.weft", "-n", "128", "--verify"], 2,
              stderr="needs three traces")
    check_run(["extrapolate", "r16.weft", "-n", "16", "-o", "x.weft", "--scale-bytes", "two"], 2,
              stderr="--scale-bytes two: expected a factor")
    check_run(["extrapolate", "r16.weft", "-n", "16", "-o", "x.weft", "--scale-compute", "=2"], 2,
              stderr="expected a factor")
    check_run(["extrapolate", "r16.weft", "r32.weft", "-o", "x.weft"], 2,
              stderr="number of ranks is missing")
    check_run(["extrapolate", "r16.weft", "r32.weft", "-n", "64"], 2, stderr="no output")
    check_run(["extrapolate", "ring16.weft", "cg32.weft", "ring64.weft", "-n", "128", "-o",
               "x.weft"], 3, stderr="no rule says|different programs|not understood")
    check_run(["gen", "leanmd", "-n", "4", "-o", "tasks.weft", "-f"], 0)
    check_run(["extrapolate", "tasks.weft", "ring16.weft", "-n", "128", "-o", "x.weft"], 3,
              stderr="tasks instead of operations")


test_generators()
test_programs()
test_square()
test_varying()
test_explained()
test_verified()
test_replayed()
test_changed()
test_outcomes_of_time()
test_no_peers()
test_replicas()
test_strong_scaling()
test_series()
test_guessed()
test_uneven()
test_refused()
finish()
