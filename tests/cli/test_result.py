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
    check({p.name for p in pathlib.Path().iterdir()} == {"a.json", "a.txt"}, "files left behind")


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
    for args, code in VALID:
        done = run(*args, "--json")
        check(done.returncode == code, f"{args}: exit code {done.returncode}", done)
        validate(parse(done), f"{args}", done)
    check_text()
    check_files()
    check_schedules([*REPLAY, "-p", "gen.allreduce=true"])
    check_schedules(PHOLD)
    check_packets()
    finish()


main()
