#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The frame of the papers' experiments.

A script for each figure or table makes an Experiment: the set-up that the paper prints, what weft
does for each claim or number of the paper, whether the two agree, and why not. It writes a table
(CSV), pictures (SVG) and these rows (JSON).

As a program, this file runs all experiments and puts their rows into the README of each folder and
into docs/papers.md:

    examples/papers.py run [tracer/fig2 ...] [--quick | --short]
    examples/papers.py assemble [--check]

`run` keeps what it finds in examples/<paper>/results and assembles the pages.
"""
import argparse
import csv
import io
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import time

EXAMPLES = pathlib.Path(__file__).resolve().parent
ROOT = EXAMPLES.parent
sys.path.insert(0, str(ROOT / "tools"))
import interruption  # noqa: E402
PAPERS = {
    "tracer": "TraceR", "xsim": "xSim", "insee": "INSEE", "bigsim": "BigSim",
}
AGREES, DIFFERS, IMPOSSIBLE = "agrees", "differs", "not possible"
FORMS = ["quick", "short", "full"]


SPIN = "import time\nend = time.monotonic() + 0.5\nwhile time.monotonic() < end: pass\nprint(time.process_time() / 0.5)"
IDLE = 0.8  # of a core, which a process gets on an idle machine at least


def busy_cores(n):
    """Why several threads cannot be timed: other work takes a part of the cores. Empty if it does not."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE, text=True) for _ in range(n)]
    least = min(float(process.communicate()[0] or 0) for process in spinning)
    return "" if least > IDLE else (f"the machine was busy: one of {n} processes got {100 * least:.0f} % of a core, so that several threads "
                                    "were not timed")


def options_of(parser):
    """Adds the options that all scripts have, reads them and finds weft."""
    interruption.catch_signals()
    parser.add_argument("--weft", help="the program; else build/release/weft or that in PATH; "
                        "weftcc is next to it")
    parser.add_argument("--out", default=".", help="where the CSV, SVG and JSON files go")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", dest="form", action="store_const", const="quick",
                      help="the smallest form, for tests")
    form.add_argument("--short", dest="form", action="store_const", const="short",
                      help="smaller than the paper, about a minute at most")
    parser.add_argument("--threads", type=int,
                        help="the most threads (default: cores, at least 2; 1 if the full form finds them busy)")
    parser.set_defaults(form="full")
    given = parser.parse_args()
    built = ROOT / "build/release/weft"
    given.weft = given.weft or os.environ.get("WEFT") or (
        str(built) if built.exists() else shutil.which("weft"))
    if not given.weft:
        parser.error("there is no build/release/weft and no weft in PATH; see --weft")
    given.busy = ""
    if given.threads is None:
        given.threads = max(2, len(os.sched_getaffinity(0)))
        given.busy = busy_cores(given.threads) if given.form == "full" else ""
        given.threads = 1 if given.busy else given.threads
    if given.threads < 1:
        parser.error("--threads is at least 1")
    given.out = pathlib.Path(given.out)
    given.out.mkdir(parents=True, exist_ok=True)
    return given


class Experiment:
    """One figure or table. `place` is where it is in the paper, `setup` what the paper prints of
    its set-up, `ours` what is different here."""

    def __init__(self, paper, name, title, *, place, setup, ours=""):
        self.facts = {"paper": paper, "name": name, "title": title, "place": place,
                      "setup": " ".join(setup.split()), "ours": " ".join(ours.split())}
        self.rows, self.files = [], []
        self.given = None
        self.begin = time.monotonic()

    def options(self, parser=None):
        self.given = options_of(parser or argparse.ArgumentParser(
            description=f"{PAPERS[self.facts['paper']]}, {self.facts['place']}: "
                        f"{self.facts['title']}"))
        return self.given

    def pick(self, quick, full, short=None):
        """A value by the size of the run; the short form is the full one unless it differs."""
        return {"quick": quick, "short": full if short is None else short,
                "full": full}[self.given.form]

    # ---- running weft ----

    def run(self, *words, **more):
        """What a command writes; ends the script if the command fails."""
        done = interruption.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL, **more)
        if done.returncode != 0:
            sys.exit(f"{' '.join(done.args)}: exit code {done.returncode}\n{done.stderr}")
        return done

    def weft(self, verb, *words, params=None, **more):
        """The document of `weft verb words`, with parameters as -p."""
        settings = [w for name, value in (params or {}).items() for w in ("-p", f"{name}={value}")]
        tail = list(words)
        at = tail.index("--") if "--" in tail else len(tail)
        tail[at:at] = settings
        with interruption.directory() as where:
            path = pathlib.Path(where) / "result.json"
            tail[at:at] = ["-q", "--json", "-o", path] if verb != "topo" else ["--json"]
            done = self.run(self.given.weft, verb, *tail, **more)
            return json.loads(path.read_text(encoding="utf-8") if path.exists() else done.stdout)

    def build(self, name, where, folder="mpi"):
        """A program of a folder of the examples, built with weftcc."""
        compiler = pathlib.Path(self.given.weft).resolve().parent / "weftcc"
        program = pathlib.Path(where) / name
        self.run(compiler, "-O2", "-w", f"-I{ROOT / 'include'}", EXAMPLES / folder / f"{name}.c",
                 "-o", program, "-lm")
        return program

    # ---- what comes out ----

    def row(self, what, paper, weft, agrees, reason=""):
        """`agrees` is a truth, or one of AGREES, DIFFERS and IMPOSSIBLE. All but agreement needs
        a reason."""
        verdict = agrees if isinstance(agrees, str) else AGREES if agrees else DIFFERS
        if verdict != AGREES and not reason:
            raise ValueError(f"{what}: {verdict} without a reason")
        self.rows.append({"what": what, "paper": paper, "weft": weft, "verdict": verdict,
                          "reason": " ".join(reason.split())})

    def csv(self, header, rows, suffix=""):
        name = f"{self.facts['name']}{suffix}.csv"
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        interruption.write_text(self.given.out / name, text.getvalue())
        self.files.append(name)

    def picture(self, figure, suffix=""):
        name = f"{self.facts['name']}{suffix}.svg"
        interruption.write_text(self.given.out / name, figure.svg())
        self.files.append(name)

    def finish(self):
        """Prints the rows and writes them for the pages."""
        document = {**self.facts, "form": self.given.form,
                    "seconds": round(time.monotonic() - self.begin, 1),
                    "files": self.files, "rows": self.rows}
        interruption.write_text(self.given.out / f"{self.facts['name']}.json",
                                json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        print(f"{PAPERS[self.facts['paper']]}, {self.facts['place']}: {self.facts['title']}")
        for r in self.rows:
            print(f"  {r['verdict']:12} {r['what']}\n    paper: {r['paper']}\n    weft:  {r['weft']}")
            if r["reason"]:
                print(f"    why:   {r['reason']}")


def signed(value, reference):
    """The difference in percent, with its sign."""
    return f"{100 * (value / reference - 1):+.1f} %"


def number(value, digits=3):
    """A number as a person writes it: 3 digits, thousands separated."""
    if value == 0:
        return "0"
    if abs(value) >= 10 ** digits:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def powers_of_two(first, last, step=1):
    return [2 ** e for e in range(first.bit_length() - 1, last.bit_length(), step)]


BARRIER_US = 1.0  # an assumption: what a barrier of p cores costs is this times log2(p)


def on_cores(run, cores):
    """Seconds on so many cores, predicted from the counts of a sequential or conservative run: the
    events of a window are spread over the cores, and a barrier ends it. Windows have their mean
    size."""
    windows, events = max(1, run["windows"]), run["events_committed"]
    each = run["cpu_seconds"] / max(1, events)
    steps = max(1, events / windows / cores)
    barrier = BARRIER_US * 1e-6 * math.log2(cores) if cores > 1 else 0
    return windows * (steps * each + barrier)


BUSY = 1.15  # a run on one thread takes this times its CPU time, or more, on a busy machine


def busy_words(runs):
    """Why wall-clock times say nothing: how much of a core the longest run on one thread got. Empty
    if the machine was idle, or if no run took long enough to tell."""
    longest = max(runs, key=lambda run: run["cpu_seconds"])
    ratio = longest["wall_seconds"] / max(1e-9, longest["cpu_seconds"])
    if longest["cpu_seconds"] < 0.2 or ratio < BUSY:
        return ""
    return (f"the machine was busy: a run on one thread got {100 / ratio:.0f} % of a core, so that times of the clock "
            "say nothing")


# ---- the pages ----

BEGIN, END = "<!-- rows: written by examples/papers.py -->", "<!-- end of rows -->"


def order_of(path):
    """Figures by number, then tables."""
    name = path.stem
    digits = "".join(c for c in name.split("-")[0] if c.isdigit())
    return not name.startswith("fig"), int(digits or 0), name


def results_of(paper):
    found = sorted((EXAMPLES / paper / "results").glob("*.json"), key=order_of)
    return [json.loads(path.read_text(encoding="utf-8")) for path in found]


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def line_of(*cells):
    return "| " + " | ".join(cell(c) for c in cells) + " |"


def form_of(result):
    return "" if result["form"] == "full" else f" ({result['form']} form)"


def readme_of(paper):
    """The generated part of a folder's README."""
    out = []
    for result in results_of(paper):
        out += ["", f"### {result['place']}: {result['title']}{form_of(result)}", "",
                f"*Paper:* {result['setup']}", ""]
        if result["ours"]:
            out += [f"*Here:* {result['ours']}", ""]
        out += [f"Run it: `examples/{paper}/{result['name']}.py`; it took {result['seconds']:g} s.",
                "", "| | paper | weft | agrees? | reason |", "|---|---|---|---|---|"]
        out += [line_of(r["what"], r["paper"], r["weft"], r["verdict"], r["reason"])
                for r in result["rows"]]
        pictures = [f for f in result["files"] if f.endswith(".svg")]
        out += [""] + [f"![{result['place']}](results/{p})" for p in pictures]
    return out


def page_rows():
    """The generated part of docs/papers.md."""
    out = []
    count = {}
    for paper, title in PAPERS.items():
        out += ["", f"## {title}", "", "| | | paper | weft | agrees? | why not |",
                "|---|---|---|---|---|---|"]
        for result in results_of(paper):
            place = f"[{result['place']}](../examples/{paper}/README.md)"
            for r in result["rows"]:
                out.append(line_of(place + form_of(result), r["what"], r["paper"], r["weft"],
                                   r["verdict"], r["reason"]))
                count[r["verdict"]] = count.get(r["verdict"], 0) + 1
    total = ", ".join(f"{n} {verdict}" for verdict, n in sorted(count.items()))
    return ["", f"{sum(count.values())} rows: {total}.", *out]


def put_into(path, lines, check):
    """Replaces what is between the marks; returns whether the page had it already."""
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{path}: the marks '{BEGIN}' and '{END}' are missing")
    new = before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after
    if new != text and not check:
        interruption.write_text(path, new)
    return new == text


def assemble(check=False):
    pages = {EXAMPLES / paper / "README.md": readme_of(paper) for paper in PAPERS}
    pages[ROOT / "docs/papers.md"] = page_rows()
    stale = [path for path, lines in pages.items() if not put_into(path, lines, check)]
    if check and stale:
        sys.exit("not what examples/papers.py assemble writes: " + ", ".join(map(str, stale)))


# ---- running all of them ----

def scripts():
    """All experiments as paper/name: the scripts that are called after a figure or table."""
    found = [path for paper in PAPERS for pattern in ("fig*.py", "table*.py")
             for path in (EXAMPLES / paper).glob(pattern)]
    return sorted((f"{path.parent.name}/{path.stem}" for path in found),
                  key=lambda name: (list(PAPERS).index(name.split("/")[0]),
                                    order_of(pathlib.Path(name))))


def seconds_before(names, form):
    """How long each experiment took when it was last run in this form; None if it was not."""
    found = []
    for name in names:
        paper, _, script = name.partition("/")
        path = EXAMPLES / paper / "results" / f"{script}.json"
        result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        found.append(result.get("seconds") if result.get("form") == form else None)
    return found


def left_words(took, done, so_far):
    """The time that is left, from what the experiments took before: those that were not run before
    take the mean of the others, and all take as much more or less as those that are done."""
    known = [s for s in took if s is not None]
    if not known:
        return "time left unknown"
    guess = [s if s is not None else sum(known) / len(known) for s in took]
    before = sum(guess[:done])
    pace = so_far / before if before > 30 else 1
    return f"about {pace * sum(guess[done:]) / 60:.0f} min left"


def run_all(given):
    chosen = [name for name in scripts()
              if not given.names or any(name.startswith(n) for n in given.names)]
    failed = []
    begin = time.monotonic()
    took = seconds_before(chosen, given.form)
    for i, name in enumerate(chosen):
        paper, _, script = name.partition("/")
        so_far = time.monotonic() - begin
        print(f"[{i + 1}/{len(chosen)}] {name}, {so_far:.0f} s so far, {left_words(took, i, so_far)}", flush=True)
        out = given.out / paper if given.out else EXAMPLES / paper / "results"
        command = [sys.executable, "-B", EXAMPLES / paper / f"{script}.py", "--out", out]
        command += [f"--{given.form}"] if given.form != "full" else []
        command += ["--weft", given.weft] if given.weft else []
        if interruption.run(command).returncode != 0:
            failed.append(name)
    if not given.out:
        assemble()
    print(f"{len(chosen)} experiments in {time.monotonic() - begin:.0f} s"
          + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run experiments and write the pages")
    run.add_argument("names", nargs="*", help="experiments: tracer, xsim/fig12 (default: all)")
    run.add_argument("--weft", help="the program")
    run.add_argument("--out", type=pathlib.Path, help="keep the results here, and write no pages")
    for form in FORMS[:2]:
        run.add_argument(f"--{form}", dest="form", action="store_const", const=form)
    run.set_defaults(form="full")
    pages = verbs.add_parser("assemble", help="write the pages from the results")
    pages.add_argument("--check", action="store_true", help="only say whether they are up to date")
    given = parser.parse_args()
    interruption.catch_signals()
    if given.verb == "assemble":
        assemble(given.check)
        return 0
    return run_all(given)


if __name__ == "__main__":
    sys.exit(main())
