# SPDX-License-Identifier: Apache-2.0
"""The result document: valid under its schema on every path, the same under every schedule."""
import base64
import json
import os
import pathlib
import re
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
    "unmatched": ("if rank == 0 { send 1 100 }", "failed", "ends with 1 message that no rank rec"),
    "mismatch": ("if rank == 0 { barrier } else { allreduce 8 }", "deadlock",
                 "rank 0 waits in barrier for rank 1, which called allreduce"),
    "sizes": ("if rank == 0 { bcast 1000 } else { bcast 10 }", "failed",
              "rank 1 expects 10 B of bcast on communicator 0 from rank 0, which calls it with "
              "other sizes and sends 1000 B"),
    "roots": ("bcast 8 root rank barrier", "failed",
              "ends with 2 messages that no rank received: rank 0 did not receive one of bcast "
              "with root 1 from rank 1"),
    "waiting_roots": ("bcast 8 root 1 - rank", "deadlock",
                      "rank 0 waits in bcast for rank 1, 1 more waits"),
    "ssend": ("ssend 1 - rank 8 recv 1 - rank 8", "deadlock",
              "rank 0 waits for rank 1 to receive its message with tag 0"),
}
# What a scenario leaves out without being asked to: overhead, an eager limit, contention.
LATENCY = ["--net", "latency", "--topo", "torus:2x2x2"]
PACKET = ["--net", "packet", "--topo", "torus:2x2x2"]
OVERHEAD, EAGER, CONTENTION = "CPU time: set node.o_send", "128 KiB .* set mpi.eager_max", "--net"
SMALL = ["-p", "gen.bytes=16KiB"]
WARNINGS = [
    ([*LATENCY], [OVERHEAD, EAGER, CONTENTION + " packet"]),
    ([*LATENCY, *SMALL], [OVERHEAD, CONTENTION + " packet"]),
    (["--net", "alphabeta", *SMALL], [OVERHEAD, CONTENTION + " loggp"]),
    ([*PACKET], [OVERHEAD, EAGER]),
    ([*PACKET, *SMALL, "-p", "node.o_send=0"], []),
    ([*PACKET, *SMALL, "-p", "node.o_recv=0"], []),
    ([*PACKET, "-p", "node.o_recv=1us", "-p", "mpi.eager_max=1MiB"], []),
    ([*PACKET, "-p", "node.o_recv=1us", "-p", "mpi.eager_max=18446744073709551615"], []),
    ([*PACKET, "-p", "node.copy_send=1GB/s", *SMALL], [OVERHEAD]),
    ([*PACKET[:2], "--topo", "dragonfly:2", *SMALL, "-p", "node.o_send=0"],
     ["set net.routing=usual, which is ugal_l$"]),
    ([*PACKET[:2], "--topo", "fattree:4x4", *SMALL, "-p", "node.o_send=0"],
     ["set net.routing=usual, which is adaptive$"]),
    ([*PACKET[:2], "--topo", "dragonfly:2", *SMALL, "-p", "node.o_send=0",
      "-p", "net.routing=minimal"], []),
    ([*PACKET[:2], "--topo", "dragonfly:2", *SMALL, "-p", "node.o_send=0",
      "-p", "net.routing=usual"], []),
    ([*PACKET, *SMALL, "-p", "node.o_send=0", "-p", "net.vc_bytes=1KiB", "-p", "net.n_vcs=2"],
     ["net.vc_bytes has no effect without net.buffers=credits$", "net.n_vcs has no effect"]),
    ([*PACKET, *SMALL, "-p", "node.o_send=0", "-p", "net.stats_window=1us",
      "-p", "net.resend_delay=1us"],
     ["net.resend_delay has no effect as long as net.fail is not given$",
      "net.stats_window has no effect as long as net.stats is off$"]),
    ([*PACKET, *SMALL, "-p", "node.o_send=0", "-p", "net.vc_bytes=1KiB",
      "-p", "net.buffers=credits"], []),
    ([*PACKET, *SMALL, "-p", "node.o_send=0", "-p", "node.nic_policy=stripe",
      "-p", "node.time_slice=1us", "-p", "node.noise_period=1ms"],
     ["node.time_slice has no effect as long as node.cores is unlimited$",
      "node.nic_policy has no effect as long as node.nics is 1$",
      "node.noise_period has no effect as long as node.noise is none$"]),
    (["--net", "loggp"], [EAGER]),
    (["--net", "loggp", *SMALL], []),
    (["--net", "loggp", *SMALL, "-p", "net.o=0"], []),
    (["--net", "loggp", "-p", "replay.policy=asap"], []),
    (["--net", "none"], []),
]
# What a collective is of depends on who was first, and must not change when the next one comes.
SEEN = """
if rank == 0 {
    recv any 8
    iallreduce 100 * seen_source
    allreduce 50 * seen_source
    recv any 8
    waitall
    reduce 10 * seen_source
} else {
    compute (rank - 1) * 1ms
    isend 0 8
    iallreduce 100
    allreduce 50
    waitall
    reduce 20
}
"""
VALUES = "region solve n = 10 * (rank + 1) { compute 1ms } region solve { compute 1ms }"
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
    ([*PACKETS, "-p", "net.fail=links:20@1us-20us,routers:2@15us"], 0),
    ([*PACKETS, "-p", "net.fail=links:20@1us", "-p", "net.fail_action=lose"], 4),
    ([*PACKETS, "-p", "net.fail=" + ",".join(f"links:1@{n}us-{n + 1}us" for n in range(10, 250, 2))], 0),
    ([*REPLAY, "--ranks-per-node", "7", "-p", "gen.allreduce=yes", "--threads", "2", "-p", "engine.fit=no"], 0),
    ([*REPLAY, "--sched", "optimistic", "--threads", "2", "-p", "engine.fit=no"], 0),
    ([*REPLAY, "--seed", "18446744073709551615"], 0),
    ([*REPLAY, "-p", "gen.bytes=0"], 0),
    ([*REPLAY, "-p", "gen.iterations=0"], 0),
    ([*REPLAY, "--dry-run"], 0),
    (["replay", "gen:stencil3d", "-n", "1"], 0),
    ([*REPLAY, "-p", "gen.markers=yes", "--iterations", "1:2", "--repeat-iteration", "2"], 0),
    ([*REPLAY, "--efficiency", "--placement", "random", "--repeat", "2", "--start", "1ms"], 0),
    ([*REPLAY, "--until", "1ms"], 0),
    ([*REPLAY, *JOBS, "--until", "1010us", "--record"], 0),
    ([*REPLAY, "-p", "changes=compute>=1us:3us,bytes=131072:64KiB", "-p", "loops=2"], 0),
    ([*REPLAY, *JOBS, "--efficiency"], 0),
    ([*REPLAY, *JOBS, "--record"], 0),
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
    ["--sched", "conservative", "--threads", "3", "-p", "engine.fit=no"],
    ["--sched", "optimistic"],
    ["--sched", "optimistic", "--threads", "2", "-p", "engine.batch=3",
     "-p", "engine.fit=no"],
    ["--sched", "perturb", "--threads", "2", "-p", "engine.perturb_seed=5"],
    ["--sched", "check-undo"],
]


def validate(document, what, done=None):
    for error in VALIDATOR.iter_errors(document):
        check(False, f"{what}: {error.json_path}: {error.message[:200]}", done)


def answer(done):
    """The bytes of what no schedule may change."""
    return done.stdout[done.stdout.index('"scenario"'):done.stdout.index('"run"')]


# Under sanitizers, which make every launch slow, one number of processes is enough.
WORLDS = (2,) if "WEFT_TEST_ONE_IN" in os.environ else (1, 2, 3)


def check_schedules(args, worlds=WORLDS):
    expected = answer(run(*args, "--json"))
    for schedule in SCHEDULES:
        done = run(*args, *schedule, "--json")
        check(done.returncode == 0 and answer(done) == expected,
              f"{args} {schedule}: another answer", done)
    for processes in worlds if MPIEXEC else []:
        for schedule in [["--sched", "conservative"], ["--sched", "optimistic", "--threads", "2",
                                                             "-p", "engine.fit=no"]]:
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


def check_until():
    """A run that stops at a time says so; a program that ended or blocked before is not stopped."""
    whole = parse(check_run([*REPLAY, "--json", "-q"], 0))["result"]
    for until, status in (("1ms", "stopped"), ("1000s", "completed")):
        found = parse(check_run([*REPLAY, "--until", until, "--json", "-q"], 0))["result"]
        check(found["status"] == status, f"until {until}: {found['status']}")
        if status == "completed":
            check(found == whole, "a time after the end changes nothing")
        else:
            check(found["time_reached_ps"] == 10 ** 9 and found["unfinished_ranks"] == 60
                  and "predicted_time_ps" not in found
                  and found["messages"] < whole["messages"], f"stopped: {found}")
    pathlib.Path("stuck.weft").write_text("compute 1us if rank == 0 { send 1 8 } else { recv 0 8 } "
                                          "recv 1 - rank 8 tag 5")
    stuck = ["replay", "gen:text", "-n", "2", "-p", "gen.file=stuck.weft", "-q"]
    check_run([*stuck, "--until", "1ms"], 4, "is deadlocked at")
    found = check_run([*stuck, "--until", "500ns"], 0)
    check("stopped at simulated time 500.0 ns (until), before 2 ranks ended" in found.stdout,
          "the text of a run that was stopped", found)
    pathlib.Path("stuck.weft").unlink()
    for words in (["--runs", "5"], ["--efficiency"], [*JOBS, "--alone"]):
        check_run([*REPLAY, "--until", "1ms", *words], 2, "--until: .* needs programs that run to")
    check_run(["traffic", "uniform", "--topo", "torus:4x4", "-p", "until=1us"], 2,
              "until does not apply to source")


def check_losses():
    """A run that ends because of a failure of the network names it."""
    ring = ["replay", "gen:ring", "-n", "16", "--net", "packet", "--topo", "torus:4x4", "-p",
            "gen.bytes=64KiB"]
    for more, words, failures in (
            (["-p", "net.fail=router:5@1us"],
             "15 more wait; node 4 cannot reach node 5 from 1.000 us on: router:5@1us",
             "router:5@1us; 0 packets re-sent, 2,014 lost"),
            (["-p", "net.fail=link:4-5@1us", "-p", "net.fail_action=lose"],
             "3 packets were lost, the first from node 4 to node 5 at 1.000 us: link:4-5@1us",
             "link:4-5@1us; 0 packets re-sent, 3 lost")):
        check_run([*ring, *more], 4, words, stdout=rf"Failures +{failures}")


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


def check_many_jobs():
    """As many jobs as one likes, each with its own numbers, regions and iterations."""
    for n in (16, 40, 100):
        jobs = [f"--job=gen:ring,ranks=2,gen.bytes={i}KiB,start={i}us" for i in range(1, n)]
        whole = ["replay", "gen:ring", "-n", "2", "-p", "gen.bytes=1KiB", "--net", "packet",
                 "--topo", f"star:{2 * n}", *jobs]
        result = parse(run(*whole, "--json"))["result"]
        check(len(result["jobs"]) == n, f"{n} jobs: some are missing")
        check(result["messages"] == n * result["jobs"][0]["messages"], f"{n} jobs: other messages")
        for i, job in enumerate(result["jobs"][1:], 1):
            check(job["bytes"] == i * result["jobs"][0]["bytes"]
                  and job["ranks"]["finish_ps"]["max"] == job["time_ps"] + i * 10**6,
                  f"{n} jobs: job {i} has other numbers")
    check_schedules([*whole, "--efficiency"], worlds=[2])
    alone = parse(run(*whole, "--alone", "--json"))["result"]["jobs"]
    check(all(job["slowdown"] == 1 for job in alone), "jobs on a crossbar disturb each other")
    both = ["replay", "gen:text", "-n", "2", "-p", "gen.file=regions.weft",
            *["--job=gen:text,ranks=2,gen.file=regions.weft"] * 39]
    result = parse(run(*both, "--json"))["result"]
    check([region["job"] for region in result["regions"][::len(result["regions"]) // 40]]
          == list(range(40)), "40 jobs: other regions")
    check([mark["job"] for mark in result["iterations"][::6]] == list(range(40)),
          "40 jobs: other iterations")


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


def check_marks():
    """Stamps by hand: rank r computes (r + 1) ms in the region and 1 us after it, on a network
    without latency, so that allreduce and barrier end with the slowest."""
    whole = ["replay", "gen:text", "-n", "3", "-p", "gen.file=regions.weft", "--net", "none"]
    result = parse(run(*whole, "--json"))["result"]
    step, ms = 3 * 10**9 + 10**6, 10**9
    region = result["regions"][0]
    check(region["first_entry_ps"] == 0 and region["last_exit_ps"] == 2 * step + 3 * ms
          and region["total_ps"] == 9 * 3 * ms, "another region")
    for i, mark in enumerate(result["iterations"]):
        at = step * (i // 2 + i % 2)
        check(mark["number"] == i // 2 and mark["time_ps"] == {"min": at, "mean": at, "max": at},
              f"mark {i}: another time")
    check_run(whole, 0, stdout=r"solve +0 ps to 9\.002 ms, 9 times")
    # The same program twice: each job has its own.
    both = [*whole, "--job", "gen:text,ranks=3,start=1s,repeat=2,gen.file=regions.weft"]
    pair = parse(run(*both, "--json"))["result"]
    check([{**r, "job": None} for r in pair["regions"][:1]] == [{**region, "job": None}],
          "job 0 has another region")
    check(pair["regions"][1]["job"] == 1 and pair["regions"][1]["times"] == 18
          and pair["regions"][1]["first_entry_ps"] == 10**12, "job 1 has another region")
    check(len(pair["iterations"]) == 6 + 12 and pair["iterations"][6]["job"] == 1
          and pair["iterations"][6]["time_ps"]["min"] == 10**12, "job 1 has other iterations")
    check_schedules(both, worlds=[2])
    # Of many iterations the first and the last.
    pathlib.Path("many.weft").write_text("repeat 5000 { iteration { compute 1us } }",
                                         encoding="utf-8")
    many = parse(run("replay", "gen:text", "-n", "2", "-p", "gen.file=many.weft", "--json"))
    marks = many["result"]["iterations"]
    check([mark["number"] for mark in marks[::2]] == [*range(1024), 4999]
          and marks[-1]["time_ps"]["max"] == 5000 * 10**6, "other iterations are listed")
    check_run(["replay", "gen:text", "-n", "2", "-p", "gen.file=many.weft"], 0,
              stdout=r"Iterations +5,000, 1\.000 us each")
    pathlib.Path("many.weft").unlink()


def check_tasks():
    """Packets of task graphs are counted as those of ranks, and the same under each schedule."""
    args = ["replay", "gen:leanmd", "-n", "27", "--net", "packet", "--topo", "torus:3x3x3",
            "-p", "net.stats=links", "-p", "gen.steps=1", "-p", "gen.cells=4x4x4"]
    results = [parse(run(*args, "-p", f"net.trains={trains}", "-p",
                         f"replay.granularity={granularity}", "--json"))["result"]
               for trains in ["on", "off"] for granularity in ["single", "multi"]]
    check(all(result == results[0] for result in results), "tasks: another result")
    network = results[0]["network"]
    check(sum(link["packets"] for link in network["links"]) == network["packet_hops"]
          == sum(i * n for i, n in enumerate(network["packets_by_hops"])),
          "tasks: links do not add up")
    latencies = sum(bucket["messages"] for bucket in network["latency_ps"]["histogram"])
    check(0 < latencies <= results[0]["messages"], "tasks: no latencies")
    check_schedules(args, worlds=[2])
    for setting in "mpi.eager_max=4", "node.registration=1us", "node.nic_policy=stripe":
        note = f"note: {setting.split('=')[0]} has no effect on a program of tasks"
        check_run(["replay", "gen:leanmd", "-n", "4", "-p", setting], 0, note, stdout=".")
    done = run("replay", "gen:leanmd", "-n", "4", "-p", "mpi.local_latency=1us",
               "-p", "node.copy_recv=1GB/s")
    check("note" not in done.stderr, "a note on what has an effect", done)


def check_texts():
    """What a program has seen, and the value of a region."""
    for name, text in [("seen", SEEN), ("values", VALUES)]:
        pathlib.Path(f"{name}.weft").write_text(text, encoding="utf-8")
    for bytes_ in ["0", "1GiB"]:
        check_schedules(["replay", "gen:text", "-n", "3", "-p", "gen.file=seen.weft", "-p",
                         f"mpi.eager_max={bytes_}"], worlds=())
    done = run("replay", "gen:text", "-n", "3", "-p", "gen.file=values.weft", "-p",
               "cpu.region.solve=2us*n + 1us", "--json")
    compute = parse(done)["result"]["ranks"]["compute_ps"]
    check(compute == {"min": 22 * 10**6, "mean": 42 * 10**6, "max": 62 * 10**6},
          "the value of a region is not n", done)
    for name in ["seen", "values"]:
        pathlib.Path(f"{name}.weft").unlink()


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
    check_run([*REPLAY, "-f", "-o", "a.json", "--json"], 0, stdout="^$")
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


def check_node_costs():
    """On the critical path, delays of interfaces are latency and no queueing, and copies are CPU
    time of their side."""
    args = ["replay", "gen:ring", "-n", "4", "-p", "gen.bytes=1KiB", "--record", "--json", "--net"]
    for net in ["latency", "--topo", "ring:4"], ["packet", "--topo", "ring:4"], ["loggp"]:
        for more in [], ["-p", "mpi.eager_max=0"]:
            shares = [parse(run(*args, *net, *more, "-p", f"node.injection_delay={time}", "-p",
                                f"node.ejection_delay={time}"))["critical_path"]["shares"]
                      for time in ("0", "1us")]
            check(shares[1]["latency_ps"] == shares[0]["latency_ps"] + 4 * 2000000 and
                  len({share.get("queue_ps") for share in shares}) == 1, f"{net} {more}: {shares}")
    for name, side in ("copy_send", "send"), ("copy_recv", "receive"):
        shares = parse(run(*args, "latency", "--topo", "ring:4", "-p",
                           f"node.{name}=1GB/s"))["critical_path"]["shares"]
        check(shares[f"{side}_overhead_ps"] == 4 * 1024000 and
              len([share for share in shares if "overhead" in share]) == 1, f"{name}: {shares}")


def check_warnings():
    """What is left out, in the document and in the text."""
    for args, expected in WARNINGS:
        command = ["replay", "gen:stencil3d", "-n", "8", *args, "-q"]
        found = parse(run(*command, "--json")).get("warnings", [])
        check(len(found) == len(expected) and
              all(re.search(*pair) for pair in zip(expected, found)), f"{args}: {found}")
        lines = re.findall("^Warning +(.*)$", run(*command).stdout, re.MULTILINE)
        check(lines == found, f"{args}: {lines}")
    pathlib.Path("alone.weft").write_text("compute 1ms", encoding="utf-8")
    alone = parse(run("replay", "gen:text", "-n", "8", "-p", "gen.file=alone.weft",
                      *PACKET, "--json"))
    check("result" in alone and "warnings" not in alone, "a program without messages")
    pathlib.Path("some.yaml").write_text("network: {model: latency}\ntopology: torus:2x2x2\n"
                                         "node: {o_send: 0}\n", encoding="utf-8")
    machine = parse(run(*REPLAY[:2], "-n", "8", "--machine", "some.yaml", *SMALL, "--json"))
    check([CONTENTION in words for words in machine["warnings"]] == [True], "a machine")
    tasks = parse(run("replay", "gen:leanmd", "-n", "8", "-p", "gen.cells=3x3x3", *PACKET, "--json"))
    check([OVERHEAD in words for words in tasks["warnings"]] == [True], "tasks")


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
    check_run([*PACKETS, "-o", "no-links.csv"], 0, "note: a .csv holds the links")
    done = run(*PACKETS, "-p", "net.stats=links", "-o", "links.csv", "-q")
    check(done.returncode == 0, "links.csv", done)
    lines = pathlib.Path("links.csv").read_text(encoding="utf-8").splitlines()
    numbers = [name for name, value in links[0].items() if isinstance(value, (int, float))]
    check(lines[0].split(",") == numbers and len(lines) == 1 + len(links),
          "links.csv: not the links of the document")


def check_classes():
    """The use of link classes adds up to that of all links."""
    for model in ("packet", "router"):
        args = ["replay", "gen:random", "-n", "36", "--net", model, "--topo", "dragonfly:2,p=1",
                "-p", "gen.messages=4"]
        done = run(*args, "-p", "net.stats=classes", "--json", "-q")
        check(done.returncode == 0, f"{model}: exit code {done.returncode}", done)
        network = parse(done)["result"]["network"]
        classes = network["link_classes"]
        check([c["class"] for c in classes] == ["terminal", "local", "global"], f"{classes}")
        check([c["links"] for c in classes] == [72, 108, 72], f"{classes}")
        check(sum(c["packets"] for c in classes) == network["packet_hops"], f"{network}")
        check(sum(c["bytes"] for c in classes) == network["link_bytes"], f"{network}")
        busiest = network["hot_links"][0]
        check(max(c["max_busy_percent"] for c in classes) == busiest["busy_percent"],
              f"{network}")
        check(busiest["class"] in ("terminal", "local", "global"), f"{busiest}")
        check_run([*args, "-p", "net.stats=classes"], 0,
                  stdout=r"\nLink classes +busy: terminal [0-9.]+ % \(max [0-9.]+\), local ")
        # What was set, as it was used; without statistics only that.
        done = run(*args, "-p", "net.links=global:latency=1500ps,bandwidth=2GB/s", "--json", "-q")
        classes = parse(done)["result"]["network"]["link_classes"]
        latency = 2000 if model == "router" else 1500
        check(classes == [{"class": "terminal"}, {"class": "local"},
                          {"class": "global", "latency_ps": latency, "bandwidth": "2GB/s"}],
              f"{classes}")
        done = run(*args, "-p", "net.links.local.latency=9ns", "-p", "net.stats=links",
                   "-o", "classes.csv", "-q")
        lines = pathlib.Path("classes.csv").read_text(encoding="utf-8").splitlines()
        check(lines[0].startswith("vertex,port,to,class,packets,"), lines[0])
        check({line.split(",")[3] for line in lines[1:]} == {"terminal", "local", "global"},
              f"{lines[1]}", done)


def check_what_if_of_classes():
    """Half the latency and twice the bandwidth are also those of the classes."""
    args = ["replay", "gen:random", "-n", "16", "--net", "latency", "--topo", "torus:4x4",
            "-p", "gen.messages=8", "-q", "--json"]
    links = "net.links=x:latency={},delay={},y:bandwidth={}"
    whole = parse(run(*args, "-p", links.format("300ns", "40ns", "1GB/s"), "--what-if"))
    changed = {item["change"]: item["time_ps"] for item in whole["what_if"]}
    for change, values, other in [
            ("latency", ("150ns", "20ns", "1GB/s"), "net.link_latency=50ns"),
            ("bandwidth", ("300ns", "40ns", "2GB/s"), "net.bandwidth=20GB/s")]:
        found = parse(run(*args, "-p", links.format(*values), "-p", other))
        time = found["result"]["predicted_time_ps"]
        check(time == changed[change] < whole["result"]["predicted_time_ps"],
              f"{change}: {time}, what if: {changed}")


def spans_of(text):
    """What a rank did, with the length of each thing."""
    return [(kind, int(length)) for kind, length in re.findall(r"([a-z-])([0-9]+)", text)]


def check_recording(kinds, *more):
    """Looking at a run does not change it, and what is seen adds up to what is told."""
    program = [*PACKETS, "-p", "gen.allreduce=true", *more, "--json"]
    plain, seen = parse(run(*program)), parse(run(*program, "--record"))
    few = parse(run(*program, "--record", "--record-limit", "10"))["recording"]
    check("recording" not in plain and plain["result"] == seen["result"], "another result")
    validate(seen, f"a recording, {more}")
    recording, ranks = seen["recording"], seen["result"]["ranks"]
    for row in recording["rows"]:
        check(len(base64.b64decode(row["shares"])) == recording["bins"] * len(kinds), "shares")
    for rank, (text, row) in enumerate(zip(recording["spans"], recording["rows"])):
        spans = spans_of(text)
        check(sum(length for _, length in spans) == row["finish_ps"], f"rank {rank}: its end")
        for kind, name in kinds.items():
            check(sum(length for what, length in spans if what == kind) == row[name],
                  f"rank {rank}: {name}")
    for name in kinds.values():
        values = [row[name] for row in recording["rows"]]
        check([min(values), max(values)] == [ranks[name]["min"], ranks[name]["max"]], name)
    sent = [[int(word) for word in message.split()] for text in recording["messages"]
            for message in text.split(";") if message]
    matrix = [[int(word) for word in text.split()] for text in recording["matrix"]["bytes"]]
    check(sum(map(sum, matrix)) == seen["result"]["bytes"] == sum(each[3] for each in sent),
          "bytes of the matrix and of all messages")
    check(len(sent) == seen["result"]["messages"] == recording["n_messages"], "messages")
    check(max(each[2] for each in sent) == seen["result"]["message_latency_ps"]["max"], "latency")
    check("spans" not in few and "messages" not in few and few["rows"] == recording["rows"] and
          few["n_messages"] == recording["n_messages"], "a recording of few")


def check_memory():
    """The memory of whoever started the run is not counted as its own."""
    ballast = b"x" * (256 << 20)
    document = parse(run(*REPLAY, "--json", "-q"))
    peak = document["run"]["peak_rss_bytes"]
    check(1 << 20 < peak < len(ballast) // 2, f"peak memory of a small run: {peak} bytes")


def check_threads():
    """Small models run on one thread, which the result says; too many threads are a note."""
    base = [*REPLAY, "--sched", "conservative", "--json"]
    one, two = (parse(run(*base, "--threads", "2", *more))
                for more in ([], ["-p", "engine.fit=no"]))
    check(one["run"]["threads"] == 1 and "too small" in one["run"]["threads_reason"],
          f"a small model on two threads: {one['run']}")
    check(two["run"]["threads"] == 2 and "threads_reason" not in two["run"],
          f"all threads are asked for: {two['run']}")
    check(one["result"] == two["result"], "threads change the result")
    one, two = (parse(run(*REPLAY, "--json", "--threads", "2", *more))["run"]
                for more in ([], ["-p", "engine.fit=no", "-p", "engine.trial=20"]))
    check(one["scheduler"] == "conservative" and one["threads"] == 1 and "partition" not in one, f"auto: {one}")
    check(two["threads"] == 2 and two["partition"] in ("block", "spread", "spread8", "spread32"), f"two threads after a trial: {two}")
    check(parse(run(*REPLAY, "--json"))["run"]["scheduler"] == "sequential", "auto on one thread")
    cores = len(os.sched_getaffinity(0))
    done = run(*base, "--threads", str(cores + 1), "-p", "engine.fit=no")
    check(done.returncode == 0 and done.stderr.count("\n") == 1
          and f"share {cores} core" in done.stderr.replace("shares", "share"), "no note", done)
    sparse = ["replay", "gen:random", "-n", "1024", "-p", "gen.messages=200", "--net", "latency", "--topo", "mesh:32x32",
              "--sched", "conservative", "--threads", "2"]
    if cores > 1:
        alone, all_threads = (parse(run(*sparse, "--json", "-q", *more)) for more in ([], ["-p", "engine.fit=no"]))
        check(all_threads["run"]["threads"] == 2 and "windows_alone" not in all_threads["run"],
              f"windows with few events on all threads: {all_threads['run']}")
        check(alone["run"]["threads"] == 2 or "too often" in alone["run"]["threads_reason"],
              f"windows with few events: {alone['run']}")
        check(alone["result"] == all_threads["result"], "fewer threads change the result")
    large = ["replay", "gen:stencil3d", "-n", "2048", "-p", "gen.iterations=1", "--net", "loggp",
             "--sched", "optimistic", "--json"]
    done = run(*large, "--threads", str(cores + 1))
    document = parse(done)
    check(f"of {cores + 1} threads at most {cores} are used" in done.stderr, "no note", done)
    check(document["run"]["threads"] == cores and
          "no cores for more" in document["run"]["threads_reason"],
          f"more threads than cores: {document['run']}")


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    pathlib.Path("regions.weft").write_text(REGIONS, encoding="utf-8")
    for args, code in VALID:
        done = run(*args, "--json")
        check(done.returncode == code, f"{args}: exit code {done.returncode}", done)
        validate(parse(done), f"{args}", done)
    check_text()
    check_failures()
    check_until()
    check_losses()
    check_jobs()
    check_many_jobs()
    check_parts()
    check_texts()
    check_marks()
    check_tasks()
    check_efficiency()
    check_files()
    # equivalence/matrix runs the like of these with all numbers of processes.
    check_schedules([*REPLAY, "-p", "gen.allreduce=true"], worlds=[2])
    check_schedules([*REPLAY, *JOBS, "--efficiency", "--net", "latency", "--topo", "torus:8x8x8"])
    check_schedules(PHOLD, worlds=WORLDS[-1:])
    check_node_costs()
    check_warnings()
    check_threads()
    check_packets()
    check_classes()
    check_what_if_of_classes()
    kinds = {"c": "compute_ps", "o": "overhead_ps", "s": "send_wait_ps", "r": "receive_wait_ps",
             "k": "collective_wait_ps"}
    check_recording(kinds)
    check_recording({**kinds, "w": "core_wait_ps"}, "--ranks-per-node", "4", "-p", "node.cores=2",
                    "-p", "node.o_send=1us", "-p", "node.o_recv=1us", "-p", "mpi.eager_max=4KiB")
    check_memory()
    finish()


main()
