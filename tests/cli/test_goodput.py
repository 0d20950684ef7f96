# SPDX-License-Identifier: Apache-2.0
"""weft goodput: runs by hand from lists of failures, agreement with the formulas of Young and Daly
within their assumptions, laws, spares, steps, and every mistake."""
import math
import pathlib

from weft_cli import check, check_run, finish, parse, run

SHARES = ("goodput_percent", "lost_percent", "checkpoint_percent", "down_percent", "waiting_percent")


def goodput(*args):
    done = check_run(["goodput", *args, "--json"], 0)
    document = parse(done)
    for point in [document["result"]["chosen"], *document["result"]["intervals"]]:
        total = sum(point[name] for name in SHARES)
        check(abs(total - 100) < 1e-3, f"shares add up to {total}", done)
    return document["result"]


def listed(times):
    pathlib.Path("times.txt").write_text("# failures\n" + "".join(f"{t}\n" for t in times), encoding="utf-8")
    return "rack:times=times.txt"


def shares(times, *more):
    """Percent of 1,000 s: useful, lost, checkpoints, down, waiting."""
    fail = listed(times) + (",repair=100s" if "--spares" in more else "")
    found = goodput("--fail", fail, "--time", "1000s", "--interval", "90s", "--checkpoint-cost", "10s",
                    "--runs", "1", *more)["chosen"]
    return [round(found[name] * 10, 3) for name in SHARES]


def check_by_hand():
    # A failure at 250 s: two cycles of 100 s are kept, 50 s of work lost; work goes on at 270 s for 7 cycles
    # and 30 s. Useful: 180 + 630 + 30.
    check(shares(["250s"], "--restart", "20s") == [840, 50, 90, 20, 0], shares(["250s"], "--restart", "20s"))
    # In a checkpoint: 90 s of work are lost, and what was written of it is in vain.
    check(shares(["195s"], "--restart", "5s") == [90 + 720, 90, 10 + 5 + 80, 5, 0], "in a checkpoint")
    # During the restart: it begins again.
    found = shares(["200s", "210s"], "--restart", "20s", "--detect", "5s")
    check(found[3] == 35 and found[1] == 0, f"failure during restart: {found}")
    # A checkpoint that takes 50 s more to be written cannot be used at 240 s.
    check(shares(["240s"], "--checkpoint-write", "50s")[1] == 90 + 40, shares(["240s"], "--checkpoint-write", "50s"))
    # No spare: the job waits for 100 s. One spare: only the second failure within 100 s waits.
    check(shares(["250s"], "--spares", "0")[4] == 100, "no spare")
    check(shares(["250s"], "--spares", "1")[4] == 0, "a spare")
    found = shares(["250s", "300s"], "--spares", "1")
    check(found[4] == 50, f"both nodes are away from 300 s to 350 s: {found}")
    # Work that ends: 300 s of it, with three checkpoints, and none after the end.
    found = goodput("--fail", listed(["5000s"]), "--work", "300s", "--interval", "90s", "--checkpoint-cost", "10s",
                    "--runs", "1")["chosen"]
    check(found["wall_seconds"] == 330 and found["failures"] == 0, f"work: {found}")


def check_formulas():
    """Exponential failures, synchronous checkpoints, no waiting: tolerance 0.5 % of the time, over
    intervals from an eighth of Young's to eight times it, and the best interval within a step of the scan."""
    for mtbf, cost, restart in (("5y", "5s", "5min"), ("1y", "30s", "0"), ("20y", "10min", "30min")):
        result = goodput("--fail", f"gpu:count=16384,mtbf={mtbf}", "--time", "400d", "--checkpoint-cost", cost,
                         "--restart", restart, "--runs", "30")
        for point in result["intervals"]:
            check(abs(point["goodput_percent"] - point["daly_model_percent"]) < 0.5, f"{mtbf}, {cost}: {point}")
        daly, best = result["daly_interval_seconds"], result["best_interval_seconds"]
        check(1 / 1.5 < best / daly < 1.5, f"{mtbf}, {cost}: best {best}, Daly {daly}")
        young = math.sqrt(2 * result["mtbf_seconds"] * {"5s": 5, "30s": 30, "10min": 600}[cost])
        check(abs(result["young_interval_seconds"] - young) < 1e-3, "Young's formula")


def check_laws():
    common = ["--time", "1y", "--checkpoint-cost", "1min", "--runs", "10"]
    # A Weibull distribution of shape 1 is exponential; the mean of others is the same once parts have aged.
    for law in ("law=weibull,shape=1", "law=weibull,shape=0.7,age=20y", "law=weibull,shape=3,age=20y"):
        found = goodput("--fail", f"n:count=1000,mtbf=2y,{law}", *common)["chosen"]["failures"]
        check(abs(found - 500) < 25, f"{law}: {found} failures, expected 500")
    young = goodput("--fail", "n:count=1000,mtbf=2y,law=weibull,shape=0.7", *common)["chosen"]["failures"]
    check(young > 600, f"young parts: {young}")
    # Classes add up.
    both = goodput("--fail", "a:count=500,mtbf=2y", "--fail", "b:count=500,mtbf=2y", *common)
    check(abs(both["mtbf_seconds"] - 2 * 365 * 86400 / 1000) < 1, f"two classes: {both['mtbf_seconds']}")
    again = [run("goodput", "--fail", "a:count=500,mtbf=2y", *common, *more).stdout
             for more in ([], [], ["--seed", "2"])]
    check(again[0] == again[1] != again[2], "seeds")


def check_llama():
    """Llama 3: 466 interruptions in 54 days on 16,384 GPUs, and more than 90 % useful time, with the
    assumptions of docs/models/failures.md."""
    result = goodput("--fail", "gpu:count=16384,mtbf=1898d", "--time", "54d", "--checkpoint-size", "5.7TB",
                     "--checkpoint-rate", "2TB/s", "--restart", "10min", "--runs", "50")
    chosen = result["chosen"]
    check(abs(chosen["failures"] - 466) < 15, f"Llama 3: {chosen['failures']} failures")
    check(90 < chosen["goodput_percent"] < 95, f"Llama 3: {chosen['goodput_percent']} %")


def check_steps():
    check_run(["replay", "gen:llm", "-n", "4", "--machine", "h100-rail", "--net", "loggp", "-p", "gen.model=llama3-8b",
               "-p", "gen.layers=2", "-p", "gen.tensor=4", "-p", "gen.batch=4", "-o", "step.json", "-f"], 0)
    common = ["--fail", "gpu:count=4096,mtbf=1y", "--checkpoint-cost", "1s"]
    done = check_run(["goodput", *common, "--steps", "1000000", "--step", "step.json"], 0)
    check("tokens per second" in done.stdout and "per day" in done.stdout, "no steps", done)
    result = goodput(*common, "--steps", "5000", "--step", "7s")
    for point in result["intervals"]:
        check(point["interval_seconds"] % 7 == 0, f"an interval of parts of steps: {point}")
    check(result["chosen"]["wall_seconds"] > 35000, "5,000 steps of 7 s")


FAIL = ["--fail", "gpu:count=100,mtbf=1y"]
GOOD = [*FAIL, "--time", "1d", "--checkpoint-cost", "1s"]
ERRORS = [
    ([], 2, "nothing fails; give --fail, as in --fail gpu:count=16384,mtbf=5y"),
    (["--fail", "gpu"], 2, "--fail gpu: 'gpu' is no key=value"),
    (["--fail", "gpu:mtbf=5"], 3, "--fail gpu:mtbf=5: '5' is not a time"),
    (["--fail", "gpu:mtbf=-5y"], 3, "'-5y' is not a time; expected a number and us, ms, s, min, h, d or y"),
    (["--fail", "gpu:count=5"], 2, "mtbf, the mean time between failures of a part, must be given and above 0"),
    (["--fail", "gpu:mtbf=0,count=5"], 2, "must be given and above 0"),
    (["--fail", "gpu:mtfb=5y"], 2, "unknown member 'mtfb'; expected count, mtbf, law, shape, age, repair or times"),
    (["--fail", "gpu:mtbf=5y,law=weibul"], 2, "unknown law 'weibul'; did you mean 'weibull'"),
    (["--fail", "gpu:mtbf=5y,law=list"], 2, "a list needs times=<file>"),
    (["--fail", "gpu:mtbf=5y,law=weibull,shape=0"], 2, "expected a shape from 0.1 to 100"),
    (["--fail", "gpu:times=none.txt"], 3, "none.txt"),
    (["--fail", "gpu:times=back.txt"], 3, "back.txt:2: '4h' is before the line above it"),
    (["--fail", "gpu:times=words.txt"], 3, "words.txt:1: 'five' is not a time"),
    ([*FAIL, "--checkpoint-cost", "1s"], 2, "give one of --time .wall time., --work"),
    ([*GOOD, "--work", "1d"], 2, "give one of --time"),
    ([*FAIL, "--time", "1d"], 2, "a checkpoint must take some time: --checkpoint-cost, or"),
    ([*FAIL, "--time", "1d", "--checkpoint-size", "1TB"], 2, "--checkpoint-size needs --checkpoint-rate"),
    ([*FAIL, "--time", "101y", "--checkpoint-cost", "1s"], 2, "--time: 101y is too long; expected at most 100y"),
    ([*GOOD, "--interval", "often"], 2, "--interval: 'often' is not a time"),
    ([*GOOD, "--step", "none.json"], 3, "none.json"),
    ([*GOOD, "--step", "0"], 3, "--step: 0 has no time of a step"),
    ([*FAIL, "--steps", "10", "--checkpoint-cost", "1s"], 2, "--steps needs --step"),
    (["--fail", "x:count=16000000,mtbf=1s", "--time", "1y", "--checkpoint-cost", "1s"], 5, "more than 16777216 failures"),
    (["--fail", "x:mtbf=1s", "--work", "1h", "--checkpoint-cost", "1min"], 4,
     "the job makes no progress: after 100 times the time of its work"),
]


def check_errors():
    pathlib.Path("back.txt").write_text("5h\n4h\n", encoding="utf-8")
    pathlib.Path("words.txt").write_text("five\n", encoding="utf-8")
    for args, code, words in ERRORS:
        check_run(["goodput", *args], code, stderr=words)


check_by_hand()
check_formulas()
check_laws()
check_llama()
check_steps()
check_errors()
finish()
