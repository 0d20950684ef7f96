# SPDX-License-Identifier: Apache-2.0
"""weft tune: what it prunes, how it ranks, its tables, and its errors."""
import csv
import itertools

from weft_cli import check, check_run, finish, parse

MODEL = ["tune", "gen:llm", "-n", "8", "--machine", "h100-rail", "-p", "gen.model=llama3-8b", "-p", "gen.batch=32",
         "-p", "gen.micro=1", "-p", "gen.chunks=1", "-j", "1"]


def step(*settings, net="loggp"):
    words = [word for setting in settings for word in ("-p", setting)]
    return parse(check_run(["replay", "gen:llm", *MODEL[2:-2], "--net", net, *words, "--json", "-q"], 0))["result"]


def main():
    out = check_run([*MODEL, "--net", "loggp", "--table", "all.csv", "-q"], 0).stdout
    with open("all.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    times = [int(row["predicted_time_ps"]) for row in rows]
    check(times == sorted(times) and len(rows) > 3, f"{times}")
    best = rows[0]
    for row in (best, rows[-1]):  # each is what a replay says
        alone = step(*(f"gen.{key}={row['gen.' + key]}" for key in ("tensor", "pipeline", "recompute")))
        check(alone["predicted_time_ps"] == int(row["predicted_time_ps"]), f"{row}: {alone['predicted_time_ps']}")
    for row in rows:
        check(int(row["training.memory.total_bytes"]) <= 80e9, f"{row} does not fit")
    check(f"{len(rows)} ranked, 0 simulated in detail" in out, out)
    check("The best with another value" in out and "tensor " in out, out)
    # What was not ranked because it computes for longer is not better than the ten that are shown.
    few = ["gen.layers=8", "gen.recompute=none"]
    out = check_run([*MODEL[:10], *(word for setting in (*few, "gen.chunks=1") for word in ("-p", setting)), "--net", "loggp", "--table", "wide.csv",
                     "-q"], 0).stdout
    with open("wide.csv", encoding="utf-8") as file:
        ranked = {tuple(int(row[f"gen.{name}"]) for name in ("tensor", "pipeline", "micro")): int(row["predicted_time_ps"]) for row in csv.DictReader(file)}
    check("0 compute for longer" not in out and len(ranked) >= 10, out)
    slow = [key for key in itertools.product((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8, 16))
            if 8 % (key[0] * key[1]) == 0 and 32 % (8 // (key[0] * key[1]) * key[2]) == 0 and key not in ranked]
    for tensor, pipeline, micro in slow[::max(len(slow) // 5, 1)]:
        got = step(f"gen.tensor={tensor}", f"gen.pipeline={pipeline}", f"gen.micro={micro}", *few)
        check(got["training"]["memory"]["total_bytes"] > 80e9 or got["predicted_time_ps"] >= sorted(ranked.values())[9], f"{tensor} {pipeline} {micro}")
    # No configuration that recomputes less fits.
    for row in rows:
        if row["gen.recompute"] != "none":
            less = step(f"gen.tensor={row['gen.tensor']}", f"gen.pipeline={row['gen.pipeline']}", "gen.recompute=none")
            check(less["training"]["memory"]["total_bytes"] > 80e9, f"{row} recomputes needlessly")
            break
    # In detail: the network of the machine, whichever wins there.
    document = parse(check_run([*MODEL, "-p", "gen.recompute=none", "--top", "2", "--json", "-q"], 0))
    check(len(document["points"]) >= 2, f"{document.keys()}")
    two = check_run([*MODEL, "-p", "gen.recompute=none", "--net", "loggp", "--vary", "gen.zero=1,3", "-q"], 0).stdout
    check("zero" in two, two)
    check_run(["tune", "gen:llm", "-n", "8", "--machine", "h100-rail"], 2, stderr="gen.batch is missing")
    check_run(["tune", "gen:llm", "--machine", "h100-rail", "-p", "gen.batch=8"], 2, stderr="ranks is missing: -n")
    check_run(["tune", "gen:ring", "-n", "8", "-p", "gen.batch=8"], 2, stderr="only gen:llm can be divided")
    check_run([*MODEL, "--vary", "gen.zero"], 2, stderr="expected <parameter>=<value>")
    check_run([*MODEL, "--table", "all.txt"], 2, stderr="must end in .csv or .json")
    check_run([*MODEL, "-p", "cpu.memory=2GB", "-q"], 3, stderr="nothing fits: .* need more memory than a device has")
    check_run([*MODEL, "--vary", "gen.nonsense=1,2", "-q"], 2, stderr="no combination is possible: .*nonsense")
    check_run([*MODEL, "--fast", "logpg", "-q"], 2, stderr="logpg")
    finish()


main()
