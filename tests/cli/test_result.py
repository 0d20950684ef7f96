# SPDX-License-Identifier: Apache-2.0
"""The result document: valid under its schema on every path, the same under every schedule."""
import json
import pathlib
import stat

import jsonschema

from weft_cli import MPIEXEC, SOURCE, check, check_run, finish, parse, run

SCHEMA = json.loads((SOURCE / "share/schema/weft-result-1.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

REPLAY = ["replay", "gen:stencil3d", "-n", "60"]
PACKETS = [*REPLAY, "--net", "packet", "--topo", "fattree:4,4,4", "-p", "gen.bytes=10kB"]
PHOLD = ["bench", "phold", "--lps", "200"]
JOBS = ["--job", "gen:ring,ranks=8,start=1ms,repeat=2,placement=random,gen.bytes=1KiB",
        "--job", "gen:stencil3d,ranks=20,ranks_per_node=3,placement=roundrobin"]
# Programs that go wrong, and what is said then.
FAILURES = {
    "deadlock": ("recv (rank + 1) % size 8 tag 5", "deadlock",
                 "deadlocked at 0 ps: rank 0 waits for a message from rank 1 with tag 5, 1 more w"),
    "truncated": ("if rank == 0 { send 1 100 } else { recv 0 8 }", "failed",
                  "fails at .*: rank 1 got a message from rank 0 that is longer than its receive"),
    "unmatched": ("if rank == 0 { send 1 100 }", "failed", "ends with 1 message that nobody rec"),
    "mismatch": ("if rank == 0 { barrier } else { allreduce 8 }", "deadlock",
                 "rank 0 waits in barrier for rank 1, which called allreduce"),
    "ssend": ("ssend 1 - rank 8 recv 1 - rank 8", "deadlock",
              "rank 0 waits for rank 1 to receive its message with tag 0"),
}
REGIONS = """
repeat 3 { iteration {
    region solve { compute 1ms * (rank + 1) allreduce 8 }
    compute 1us
    barrier
} }
"""
VALID = [
    (REPLAY, 0),
    ([*REPLAY, "--net", "alphabeta"], 0),
    ([*REPLAY, "--net", "latency", "--topo", "torus:4x4x4"], 0),
    ([*REPLAY, "--net", "packet", "--topo", "torus:4x4x4"], 0),
    ([*PACKETS, "-p", "net.stats=links", "-p", "net.stats_window=10us"], 0),
    ([*PACKETS, "-p", "net.stats=summary", "-p", "net.preset=torusnet"], 0),
    ([*REPLAY, "--ranks-per-node", "7", "-p", "gen.allreduce=yes", "--threads", "2"], 0),
    ([*REPLAY, "--sched", "optimistic", "--threads", "2"], 0),
    ([*REPLAY, "--seed", "18446744073709551615"], 0),
    ([*REPLAY, "-p", "gen.bytes=0"], 0),
    ([*REPLAY, "-p", "gen.iterations=0"], 0),
    ([*REPLAY, "--dry-run"], 0),
    (["replay", "gen:stencil3d", "-n", "1"], 0),
    ([*REPLAY, "-p", "gen.markers=yes", "--iterations", "1:2", "--repeat-iteration", "2"], 0),
    ([*REPLAY, "--efficiency", "--placement", "random", "--repeat", "2", "--start", "1ms"], 0),
    ([*REPLAY, *JOBS, "--efficiency"], 0),
    ([*REPLAY, *JOBS, "--dry-run"], 0),
    (["replay", "gen:leanmd", "-n", "8", "--efficiency"], 0),
    (["replay", "gen:text", "-n", "3", "-p", "gen.file=regions.weft"], 0),
    (["replay", "gen:text", "-n", "3", "-p", "gen.file=regions.weft", "-p", "cpu.region.solve=2"],
     0),
    (PHOLD, 0),
    ([*PHOLD, "--remote", "0.30000000000000004"], 0),
    ([*PHOLD, "--dry-run"], 0),
    (["bench", "queues", "--sched", "perturb", "--end", "5us"], 0),
    (["bench", "ties", "--instant", "--sched", "check-undo"], 0),
    ([*REPLAY, "--no-such-option"], 2),
    ([*REPLAY, "--topo", "torus:\xff"], 3),
    ([*REPLAY, "-o", "nowhere/x.json"], 3),
    (["replay", "gen:stencil3d", "-n", "4000000000"], 5),
    (["nonsense"], 2),
    ([], 2),
]
SCHEDULES = [
    ["--threads", "2"],
    ["--sched", "conservative"],
    ["--sched", "conservative", "--threads", "3"],
    ["--sched", "optimistic"],
    ["--sched", "optimistic", "--threads", "2", "-p", "engine.batch=3"],
    ["--sched", "perturb", "--threads", "2", "-p", "engine.perturb_seed=5"],
    ["--sched", "check-undo"],
]


def validate(document, what, done=None):
    for error in VALIDATOR.iter_errors(document):
        check(False, f"{what}: {error.json_path}: {error.message[:200]}", done)


def answer(done):
    """The bytes of what no schedule may change."""
    return done.stdout[done.stdout.index('"scenario"'):done.stdout.index('"run"')]


def check_schedules(args):
    expected = answer(run(*args, "--json"))
    for schedule in SCHEDULES:
        done = run(*args, *schedule, "--json")
        check(done.returncode == 0 and answer(done) == expected,
              f"{args} {schedule}: another answer", done)
    for processes in [1, 2, 3] if MPIEXEC else []:
        for schedule in [["--sched", "conservative"], ["--sched", "optimistic", "--threads", "2"]]:
            done = run(*args, *schedule, "--json", processes=processes)
            check(done.returncode == 0 and answer(done) == expected,
                  f"{args} {schedule} on {processes} processes: another answer", done)
            check(parse(done)["run"]["processes"] == processes, "wrong number of processes", done)


def check_failures():
    """Who waits for whom: exit code 4, one line, and a document that says the same."""
    for name, (text, status, words) in FAILURES.items():
        pathlib.Path(f"{name}.weft").write_text(text, encoding="utf-8")
        args = ["replay", "gen:text", "-n", "2", "-p", f"gen.file={name}.weft"]
        check_run(args, 4, words, stdout=rf"Status +{status}")
        done = check_run([*args, "--json"], 4, words)
        document = parse(done)
        validate(document, name, done)
        check(document["result"]["status"] == status, f"{name}: another status", done)
        for schedule in SCHEDULES:
            other = run(*args, *schedule, "--json")
            check(other.returncode == 4 and answer(other) == answer(done)
                  and other.stderr.endswith(done.stderr), f"{name} {schedule}: another answer",
                  other)
        pathlib.Path(f"{name}.weft").unlink()


def check_jobs():
    """Jobs on nodes of their own do not notice each other where nothing is shared."""
    alone = parse(run(*REPLAY, "--json"))["result"]
    document = parse(run(*REPLAY, *JOBS, "--json"))
    first, ring = document["result"]["jobs"][0], document["result"]["jobs"][1]
    check(first["time_ps"] == alone["predicted_time_ps"], "job 0 takes another time")
    check(first["ranks"]["finish_ps"] == alone["ranks"]["finish_ps"], "job 0: another end")
    once = parse(run("replay", "gen:ring", "-n", "8", "-p", "gen.bytes=1KiB", "--json"))["result"]
    check(ring["messages"] == 2 * once["messages"], "job 1 does not run twice")
    check(ring["time_ps"] == 2 * once["predicted_time_ps"], "job 1: another time")
    check(ring["ranks"]["finish_ps"]["max"] == ring["time_ps"] + 10**9, "job 1: another start")
    check(document["scenario"]["jobs"][2]["ranks_per_node"] == 3, "job 2 is not told")
    settings = [f"-p{key}={value}" for key, value in [
        ("job.1.source", "gen:ring"), ("job.1.ranks", 8), ("job.1.start", "1ms"),
        ("job.1.repeat", 2), ("job.1.placement", "random"), ("job.1.gen.bytes", "1KiB")]]
    keys, option = run(*REPLAY, *settings, "--json"), run(*REPLAY, *JOBS[:2], "--json")
    check(answer(keys) == answer(option), "--job and job.1.* differ", keys)


def check_parts():
    """Iterations and regions of a program, as it is and as a trace of it."""
    whole = ["replay", "gen:text", "-n", "3", "-p", "gen.file=regions.weft"]
    check_run(["gen", "text", "-n", "3", "-p", "gen.file=regions.weft", "-o", "t.weft"], 0, stdout=".")
    for parts in [[], ["--region", "solve"], ["--iterations", "1"],
                  ["--iterations", "0:1", "--repeat-iteration", "4"], ["--repeat", "3"]]:
        made = parse(run(*whole, *parts, "--json"))["result"]
        read = parse(run("replay", "t.weft", *parts, "--json"))["result"]
        check(made == read, f"{parts}: a trace gives another result")
    full = parse(run(*whole, "--json"))["result"]
    one = parse(run(*whole, "--iterations", "1", "--json"))["result"]
    eight = parse(run(*whole, "--iterations", "1", "--repeat-iteration", "8", "--json"))["result"]
    check(full["messages"] == 3 * one["messages"] and eight["messages"] == 8 * one["messages"],
          "an iteration has another number of messages")
    check(eight["ranks"]["compute_ps"]["max"] == 8 * one["ranks"]["compute_ps"]["max"],
          "an iteration is not repeated")
    check([i["at"] for i in full["iterations"]] == ["begin", "end"] * 3, "iterations are missing")
    check(full["regions"][0]["name"] == "solve" and full["regions"][0]["times"] == 9,
          "the region is not there")
    pathlib.Path("t.weft").unlink()


def check_efficiency():
    """The product of the parts is the whole, and the parts are what they are called."""
    done = run("replay", "gen:text", "-n", "3", "-p", "gen.file=regions.weft", "--efficiency",
               "--json")
    result = parse(done)["result"]
    ideal = parse(run("replay", "gen:text", "-n", "3", "-p", "gen.file=regions.weft", "--net",
                      "none", "--json"))["result"]
    parts, compute = result["efficiency"], result["ranks"]["compute_ps"]
    check(parts["ideal_time_ps"] == ideal["predicted_time_ps"], "another ideal time", done)
    check(abs(parts["load_balance_percent"] - 100 * compute["mean"] / compute["max"]) < 0.001,
          "another load balance", done)
    hardware = parse(run("replay", "gen:coll", "-n", "8", "--efficiency", "--json", "-p",
                         "mpi.allreduce=hardware", "-p", "gen.kind=allreduce", "-p",
                         "gen.compute=1us"))["result"]
    check(hardware["efficiency"]["ideal_time_ps"] < hardware["predicted_time_ps"] / 2,
          "collectives in hardware are not ideal", done)
    product = (parts["load_balance_percent"] * parts["serialisation_percent"]
               * parts["transfer_percent"] / 1e4)
    check(abs(product - parts["parallel_percent"]) < 0.01, "no product", done)
    check_run(["replay", "gen:text", "-n", "3", "-p", "gen.file=regions.weft", "--efficiency"], 0,
              stdout=r"Efficiency +66\.\d % = load balance 66\.7 % x serialisation 100\.0 % x tra")


def check_files():
    """A file holds what stdout would, and -f is needed to replace it."""
    shown = run(*REPLAY, "--json")
    check_run([*REPLAY, "-o", "a.json"], 0, stdout="^$")
    text = pathlib.Path("a.json").read_text(encoding="utf-8")
    validate(json.loads(text), "a.json")
    check(text[:text.index('"run"')] == shown.stdout[:shown.stdout.index('"run"')],
          "a.json differs from --json")
    check(stat.S_IMODE(pathlib.Path("a.json").stat().st_mode) & 0o400, "a.json is not readable")
    check_run([*REPLAY, "-o", "a.json"], 3, "exists")
    check_run([*REPLAY, "-f", "-o", "a.json", "--json"], 0, stdout='"schema"')
    check_run([*REPLAY, "-v", "-o", "a.txt"], 0, stdout="^$")
    check("Predicted time" in pathlib.Path("a.txt").read_text(encoding="utf-8"), "a.txt is odd")
    check({p.name for p in pathlib.Path().iterdir()} == {"a.json", "a.txt", "regions.weft"},
          "files left behind")


def check_text():
    check_run(REPLAY, 0, stdout=r"Predicted time +3\.\d+ ms\n")
    check_run(["replay", "gen:ring", "-n", "5", "--net", "latency", "--topo", "mesh:5"], 0,
              stdout=r"Message latency +160\.4 ns mean \(100\.4 ns \.\. 400\.4 ns\)\n")
    check_run([*REPLAY, "-p", "gen.iterations=0"], 0, stdout=r"Messages +0, 0 B\nRanks finish")
    check_run([*REPLAY, "-v"], 0, stdout=r"bandwidth +10GB/s\n")
    check_run(PHOLD, 0, stdout=r"Events +[0-9,]+, .*/s\n")
    done = check_run([*REPLAY, "--net", "loggp", "--topo", "torus:4x4x4"], 0,
                     "note: the network model 'loggp' does not use the topology")
    check("torus" not in done.stdout, "a topology that is not used is shown", done)
    check_run([*REPLAY, "--dry-run"], 0, stdout=r"Memory, about .*\n(.*\n)+.*L +1us")


def check_packets():
    """Trains change nothing that a result says, and links come out as a table."""
    results = []
    for trains in ["on", "off"]:
        done = run(*PACKETS, "-p", "net.stats=links", "-p", "net.stats_window=10us",
                   "-p", f"net.trains={trains}", "--json", "-q")
        results.append(parse(done)["result"])
    check(results[0] == results[1], "packets: another result without trains")
    links = results[0]["network"]["links"]
    check(sum(link["packets"] for link in links) == results[0]["network"]["packet_hops"],
          "packets: links do not add up")
    check(sum(results[0]["network"]["window_bytes"]) == results[0]["network"]["link_bytes"],
          "packets: windows do not add up")
    done = run(*PACKETS, "-p", "net.stats=links", "-o", "links.csv", "-q")
    check(done.returncode == 0, "links.csv", done)
    lines = pathlib.Path("links.csv").read_text(encoding="utf-8").splitlines()
    check(lines[0].split(",") == list(links[0]) and len(lines) == 1 + len(links),
          "links.csv: not the links of the document")


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    pathlib.Path("regions.weft").write_text(REGIONS, encoding="utf-8")
    for args, code in VALID:
        done = run(*args, "--json")
        check(done.returncode == code, f"{args}: exit code {done.returncode}", done)
        validate(parse(done), f"{args}", done)
    check_text()
    check_failures()
    check_jobs()
    check_parts()
    check_efficiency()
    check_files()
    check_schedules([*REPLAY, "-p", "gen.allreduce=true"])
    check_schedules([*REPLAY, *JOBS, "--efficiency", "--net", "latency", "--topo", "torus:8x8x8"])
    check_schedules(PHOLD)
    check_packets()
    finish()


main()
