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
    check(document([*args, "--threads", "2", "-p", "engine.fit=no"]) == base, "2 threads")
    check(document([*args, "--sched", "optimistic", "--threads", "2", "-p", "engine.fit=no"]) == base, "optimistic")
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


def check_compare():
    """A difference is judged by pairs of runs that drew the same numbers, or by all pairs."""
    cases = {"a": [], "more": ["-p", "net.o=1.5us"], "same_time": ["--sched", "conservative"],
             "seed": ["-p", "net.o=1.5us", "--seed", "2"],
             "slow": ["-p", "cpu.scale=1.2", "--seed", "2"]}
    for name, extra in cases.items():
        check_run([*REPLAY, "--runs", "39", *UNCERTAIN, *extra, "-f", "-o", f"{name}.json"], 0,
                  stdout="")
    check_run([*REPLAY, "-f", "-o", "plain.json"], 0)
    check_run([*FIXED, "--runs", "39", "-f", "-o", "fixed.json"], 0)
    check_run([*FIXED, "--runs", "39", "-f", "-o", "fixed2.json", "-p", "net.L=3us"], 0)
    for base, other, code, words in (
            ("a", "more", 1, r"larger than the uncertainty: .* \+.* drew the same numbers"),
            ("more", "a", 1, r"larger than the uncertainty: the difference is -.* \.\. -"),
            ("a", "seed", 1, r"within the uncertainty: .* -.* \+.* independent"),
            ("a", "slow", 1, r"larger than the uncertainty: .* independent"),
            ("a", "same_time", 0, r"equal$"),
            ("a", "plain", 1, r"the uncertainty of this result is not known; --runs"),
            ("plain", "a", 1, r"the uncertainty of the first result is not known; --runs"),
            ("fixed", "fixed2", 1, r"no uncertainty is known of either")):
        done = check_run(["compare", f"{base}.json", f"{other}.json"], code, stdout=words)
        check(done.stdout.count("uncertainty.times_ps") <= 1, "a line for each run", done)


    check_run(["explain", "a.json"], 0,
              stdout=r"In 90 % of 39 repeated runs with uncertain inputs it takes .* ms to .* ms\.")


def check_sweep():
    """A table with quantiles, and error bars."""
    pathlib.Path("study.yaml").write_text(
        "settings: {source: 'gen:text', gen.file: noisy.txt, ranks: 8, runs: 19, efficiency: yes,\n"
        "           uncertainty.net.o: 20%}\n"
        "grid: {net.o: [1us, 50us]}\n", encoding="utf-8")
    done = check_run(["sweep", "study.yaml", "-q", "--plot", "study.svg"], 0)
    head, *rows = [line.split(",") for line in done.stdout.splitlines()]
    for row in rows:
        seen = dict(zip(head, row))
        for name in "predicted_time_{}_ps", "efficiency.parallel_{}_percent":
            low, middle, high = (float(seen[name.format(q)]) for q in NAMES)
            check(0 < low < middle < high, f"{name}: {row}", done)
    picture = pathlib.Path("study.svg").read_text(encoding="utf-8")
    check("5 % to the 95 % quantile" in picture, "no word about the error bars")
    alone = json.loads(pathlib.Path("study", seen["file"]).read_text(encoding="utf-8"))["result"]
    check(alone["predicted_time_p95_ps"] == int(seen["predicted_time_p95_ps"]), "table and document")


def check_page():
    """The page has the numbers; the browser's test is that of all reports."""
    check_run([*REPLAY, "--runs", "19", *UNCERTAIN, "-f", "-o", "page.html"], 0)
    text = pathlib.Path("page.html").read_text(encoding="utf-8")
    check("runsSection" in text and '"predicted_time_p05_ps"' in text, "page")


def check_interrupt():
    """What is finished counts."""
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with subprocess.Popen([WEFT, *REPLAY, "--runs", "100000", "--json"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(0.5)
            process.send_signal(number)
            out, err = process.communicate(timeout=50)
        about = json.loads(out)["result"]["uncertainty"]
        check(process.returncode == code, f"exit code {process.returncode}: {err}")
        check(re.search(r"interrupted after \d+ of 100000 repeated runs", err), err)
        check(0 < about["completed"] < 100000, str(about["completed"]))


def main():
    pathlib.Path("noisy.txt").write_text(NOISY, encoding="utf-8")
    pathlib.Path("barrier.txt").write_text("barrier", encoding="utf-8")
    check_distribution()
    check_schedules()
    check_none()
    check_sources()
    check_compare()
    check_sweep()
    check_page()
    check_interrupt()
    check_run([*FIXED, "--runs", "1"], 2, stderr="--runs: one repeated run has no distribution")
    check_run([*FIXED, "--runs", "100001"], 2, stderr="too large; expected at most 100000")
    check_run([*FIXED, "--runs", "-3"], 2, stderr="--runs: '-3' is not a count")
    check_run(["traffic", "uniform", "--topo", "torus:2x2", "-p", "runs=5"], 2,
              stderr="runs does not apply")
    finish()


if __name__ == "__main__":
    main()
