# SPDX-License-Identifier: Apache-2.0
"""Predictions with error bars (--runs): what is drawn, what is said, the same on any number of
threads and processes."""
import json
import pathlib
import re
import signal
import subprocess
import time

import jsonschema

from weft_cli import MPIEXEC, SOURCE, WEFT, check, check_run, finish, parse, run

SCHEMA = json.loads((SOURCE / "share/schema/weft-result-1.json").read_text(encoding="utf-8"))
NOISY = """\
loop i 0..20 {
    compute 1ms + random(200, 1000 * rank + i) * 1us
    barrier
}
"""
REPLAY = ["replay", "gen:text", "-n", "8", "-q", "-p", "gen.file=noisy.txt"]
FIXED = ["replay", "gen:stencil3d", "-n", "8", "-q"]
UNCERTAIN = ["-p", "uncertainty.net.L=10%", "-p", "uncertainty.net.bandwidth=5%"]
NAMES = ["p05", "p50", "p95"]


def document(args, **options):
    """The document without what differs from run to run."""
    done = run(*args, "--json", **options)
    found = parse(done)
    check(done.returncode == 0, f"{args}: exit code {done.returncode}", done)
    errors = list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(found))
    check(not errors, f"{args}: {errors[:1]}", done)
    found.pop("run", None)
    return found


def quantiles(section, name, unit="ps"):
    return [section.get(f"{name}_{q}_{unit}") for q in NAMES]


def check_distribution():
    """Quantiles are those of the listed times; the prediction and its digest stay."""
    plain = document([*REPLAY, "--efficiency"])
    seen = document([*REPLAY, "--efficiency", "--runs", "39", *UNCERTAIN])
    result, about = seen["result"], seen["result"]["uncertainty"]
    times = sorted(about["times_ps"])
    check(quantiles(result, "predicted_time") == [times[1], times[19], times[37]], "quantiles")
    check(times[0] < result["predicted_time_ps"] < times[-1], "the prediction is among them")
    for name in ("predicted_time_ps", "digest", "messages", "ranks"):
        check(result[name] == plain["result"][name], f"{name} changed")
    check(about["runs"] == about["completed"] == 39 and about["failed"] == 0, str(about))
    check(about["settings"] == 2 and about["compute"]["varied_spans"] == 160, str(about))
    check(seen["scenario"]["runs"] == 39 and
          seen["scenario"]["uncertainty"] == {"net.L": 10, "net.bandwidth": 5}, "scenario")
    check([r["rank"] for r in about["ranks"]] == list(range(8)), "ranks")
    ends = [quantiles(rank, "finish") for rank in about["ranks"]]
    check(all(a < b < c for a, b, c in ends), f"ends of ranks: {ends}")
    check(max(e[1] for e in ends) <= result["predicted_time_p50_ps"], "the last rank ends last")
    for name in ("parallel", "load_balance", "serialisation", "transfer"):
        low, middle, high = quantiles(result["efficiency"], name, "percent")
        check(0 < low <= middle <= high <= 100, f"{name}: {low} {middle} {high}")
        check(low < result["efficiency"][f"{name}_percent"] < high or name == "load_balance",
              f"{name}: {low} {high}")
    other = document([*REPLAY, "--runs", "39", *UNCERTAIN, "--seed", "2"])
    check(other["result"]["uncertainty"]["times_ps"] != about["times_ps"], "another seed")


def check_schedules():
    """Threads, processes and schedulers change nothing."""
    args = [*REPLAY, "--runs", "21", *UNCERTAIN, "--efficiency"]
    base = document([*args, "--threads", "1"])
    check(document([*args, "--threads", "2"]) == base, "2 threads")
    check(document([*args, "--sched", "optimistic", "--threads", "2"]) == base, "optimistic")
    for processes in (2, 3) if MPIEXEC else ():
        check(document(args, processes=processes) == base, f"{processes} processes")


def check_none():
    """Where nothing is uncertain there is no interval of width 0."""
    for extra, words in (([], "no setting has an uncertainty"),
                         (["--net", "packet", "--topo", "torus:2x2x2",
                           "-p", "uncertainty.mpi.local_latency=5%"], "nothing that was drawn"),
                         (["-p", "uncertainty.net.L=0%"], "no setting has an uncertainty")):
        result = document([*FIXED, *extra, "--runs", "19"])["result"]
        check(words in result["uncertainty"].get("none", ""), f"{extra}: {result['uncertainty']}")
        check("predicted_time_p05_ps" not in result and
              "times_ps" not in result["uncertainty"], f"{extra}: an interval")
        check_run([*FIXED, *extra, "--runs", "19"], 0, stdout=r"  uncertain +none: ")
    warned = document([*FIXED, *UNCERTAIN])
    check("uncertainty.net.L has no effect without --runs" in warned["warnings"], "no warning")
    check("uncertainty" not in warned["scenario"] and "uncertainty" not in warned["result"], "no runs")


def check_sources():
    """Task graphs and several jobs; noise of the nodes; few runs; many ranks."""
    graph = document(["replay", "gen:leanmd", "-n", "4", "-q", "--runs", "5", *UNCERTAIN])
    check("tasks" in graph["result"]["uncertainty"]["compute"]["kept"], "task graph")
    check(any("smallest and largest" in words for words in graph["warnings"]), "few runs")
    jobs = document([*FIXED, "--job", "gen:ring,ranks=4,start=1us", "--runs", "19", *UNCERTAIN])
    check(all(len(set(quantiles(job, "time"))) == 3 for job in jobs["result"]["jobs"]), "jobs")
    check([r["job"] for r in jobs["result"]["uncertainty"]["ranks"]] == [0] * 8 + [1] * 4, "ranks")
    noise = document([*FIXED, "-p", "node.noise=exponential", "-p", "node.noise_period=1ms",
                      "--runs", "19"])
    check(noise["result"]["uncertainty"]["noise"] is True and
          len(set(noise["result"]["uncertainty"]["times_ps"])) > 9, "noise")
    many = document(["replay", "gen:text", "-n", "3000", "-q", "-p", "gen.file=barrier.txt", "--runs", "2",
                     *UNCERTAIN])
    ranks = [rank["rank"] for rank in many["result"]["uncertainty"]["ranks"]]
    check(len(ranks) == 1024 and ranks[0] == 0 and ranks[-1] == 2999, f"{len(ranks)} ranks")
    causal = document([*REPLAY, "-p", "replay.policy=causal", "--runs", "5"])
    check("no compute times" in causal["result"]["uncertainty"]["compute"]["kept"], "causal")


def check_interrupt():
    """What is finished counts."""
    for signals in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([WEFT, *REPLAY, "--runs", "100000", "--json"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(0.5)
            process.send_signal(signals)
            out, err = process.communicate(timeout=50)
        about = json.loads(out)["result"]["uncertainty"]
        check(process.returncode == 130, f"exit code {process.returncode}: {err}")
        check(re.search(r"interrupted after \d+ of 100000 repeated runs", err), err)
        check(0 < about["completed"] < 100000, str(about["completed"]))


def main():
    pathlib.Path("noisy.txt").write_text(NOISY, encoding="utf-8")
    pathlib.Path("barrier.txt").write_text("barrier", encoding="utf-8")
    check_distribution()
    check_schedules()
    check_none()
    check_sources()
    check_interrupt()
    check_run([*FIXED, "--runs", "1"], 2, stderr="--runs: one repeated run has no distribution")
    check_run([*FIXED, "--runs", "100001"], 2, stderr="too large; expected at most 100000")
    check_run([*FIXED, "--runs", "-3"], 2, stderr="--runs: '-3' is not a count")
    check_run(["traffic", "uniform", "--topo", "torus:2x2", "-p", "runs=5"], 2,
              stderr="runs does not apply")
    finish()


if __name__ == "__main__":
    main()
