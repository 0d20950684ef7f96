# SPDX-License-Identifier: Apache-2.0
"""Help: complete, on stdout, exit code 0, 80 columns. That its examples work is tested by
test_manual.py."""
import re

from weft_cli import SOURCE, check, check_run, finish, run

VERBS = ["replay", "run", "report", "explain", "compare", "sweep", "traffic", "machine", "topo", "coll",
         "capture", "calibrate", "gen", "info", "convert", "cut", "import-codes", "bench", "help"]
TOPICS = ["net", "net.loggp", "net.alphabeta", "net.latency", "gen.stencil3d", "topo.torus",
          "cpu", "engine", "bench.phold", "bench.queues", "bench.ties", "loggp"]


def check_page(args, *words):
    done = check_run(args, 0)
    what = f"weft {' '.join(args)}"
    check(done.stdout.endswith("\n"), f"{what}: no newline at the end", done)
    for line in done.stdout.splitlines():
        check(len(line) <= 80, f"{what}: a line of {len(line)} columns: {line}")
        check(line == line.rstrip(), f"{what}: white space at the end of a line: {line!r}")
    for word in words:
        check(word in done.stdout, f"{what}: no '{word}'", done)
    return done.stdout


def check_verb(verb):
    text = check_page([verb, "--help"], "usage: weft " + verb, "Examples:", "Options:", "--help")
    # Parameters of the same name follow.
    own = f"\n{verb}: " in run("help", verb).stdout
    check(run("help", verb).stdout.startswith(text) and own == (verb in ("replay", "run", "traffic")),
          f"'weft help {verb}' differs from --help")
    check(run(verb, "-h").stdout == text, f"'weft {verb} -h' differs from --help")


def main():
    version = (SOURCE / "VERSION").read_text(encoding="utf-8").strip()
    check_run(["--version"], 0, stdout=rf"^weft {re.escape(version)} \(commit \S+, MPI: (yes, .+|no)\)\n$")

    summary = check_page([], "weft replay", "weft capture", "weft sweep", "weft help")
    check(summary.count("\n") == 10, f"weft alone prints {summary.count(chr(10))} lines")

    overview = check_page(["help"], *VERBS, *(t for t in TOPICS if "." in t), "engine")
    check(run("--help").stdout == overview, "'weft --help' differs from 'weft help'")
    for verb in VERBS:
        check_verb(verb)
    for topic in TOPICS:
        check_page(["help", topic])
    for verb in ("gen", "convert", "cut", "extrapolate"):
        check_page([verb, "--help"], "Formats that are written:", *(f"\n  {end} " for end in (".weft", ".csv", ".ti", ".goal", ".otf2")))
    check_page(["help", "net.loggp"], "-p net.L=<time>", "default: 1us")
    check_page(["help", "engine"], "-p engine.batch=<count>", "sequential, conservative, optimistic")
    check_page(["bench", "phold", "--help"], "--lps <count>", "--start-events <count>", "--remote",
               "--end <time>", "--sched", "--threads")

    page = SOURCE / "docs" / "reference" / "weft.md"
    check(page.read_text(encoding="utf-8") == run("help", "--markdown").stdout,
          "docs/reference/weft.md is out of date; run: weft help --markdown >docs/reference/weft.md")
    finish()


main()
