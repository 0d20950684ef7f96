# SPDX-License-Identifier: Apache-2.0
"""A program that runs is executed once, whatever is asked about it: the ideal network, what-if
and corrected compute times come from the record of that execution."""
import json
import os
import pathlib
import subprocess

import vrank

HERE = pathlib.Path(__file__).parent
RANKS = 4
TEMPORARY = pathlib.Path("temporary")
ENVIRONMENT = {**os.environ, "TMPDIR": str(TEMPORARY.absolute())}
NETWORK = ("--net", "latency", "--topo", "torus:2x2")


def run(program, *options, args=(), fails=False):
    """The document of a run, after a check that the program was executed once."""
    pathlib.Path("ranks.txt").unlink(missing_ok=True)
    command = [vrank.WEFT, "run", "-n", str(RANKS), "-q", "-f", "-o", "result.json", *NETWORK,
               *options, "--", program, "ranks.txt", *args]
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=120,
                          stdin=subprocess.DEVNULL, env=ENVIRONMENT)
    if (done.returncode != 0) != fails:
        vrank.complain(" ".join(command), done.stdout, done.stderr)
        return None
    if fails:
        return done.stderr
    ran = pathlib.Path("ranks.txt").read_text(encoding="utf-8").split()
    if sorted(ran) != [str(rank) for rank in range(RANKS)]:
        vrank.complain(f"{' '.join(command)}: these ranks ran", ran)
    if done.stdout.count("ended with") != 1:
        vrank.complain(f"{' '.join(command)}: it printed", done.stdout)
    return json.loads(pathlib.Path("result.json").read_text(encoding="utf-8"))


def check_efficiency(program):
    """With measured times too, no run is faster than the same run on the ideal network."""
    for options in ((), ("-p", "run.robust=off"), ("--sched", "optimistic"),
                    ("--trace", "once.weft")):
        document = run(program, "--efficiency", *options)
        efficiency = document["result"]["efficiency"] if document is not None else {}
        if not 0 < efficiency.get("transfer_percent", 101) <= 100:
            vrank.complain(f"transfer efficiency with {options}", efficiency)
    once = json.loads(subprocess.run([vrank.WEFT, "replay", "once.weft", "-q", "--json",
                                      "--efficiency", *NETWORK], text=True,
                                     capture_output=True, check=True).stdout)
    if document["robust"]["corrected_spans"] == 0:
        if once["result"] != document["result"]:
            vrank.complain("the trace and the record differ", once["result"],
                           document["result"])


def check_what_if(program):
    document = run(program, "--what-if", "--compute", "none")
    found = [(item["change"], item["from"]) for item in document["what_if"]]
    if found != [("latency", "run"), ("bandwidth", "run"), ("compute", "run")]:
        vrank.complain("what-if of a program that runs", document["what_if"])


def check_runs(program):
    """Error bars: repeated runs are replays of the record, as if of the user's trace."""
    options = ("--runs", "19", "-p", "uncertainty.net.bandwidth=20%")
    document = run(program, *options, "--trace", "once.weft")
    result, about = document["result"], document["result"]["uncertainty"]
    # Twenty spans of a rank compute. On a busy machine one or another has a time that is no measure; together
    # they are nearly all of the time.
    if not result["predicted_time_p05_ps"] < result["predicted_time_p50_ps"] or \
            about["completed"] != 19 or about["compute"]["spans"] < 20 * RANKS or \
            about["compute"]["varied_time_percent"] < 90:
        vrank.complain("error bars of a program", about)
    again = json.loads(subprocess.run([vrank.WEFT, "replay", "once.weft", "-q", "--json",
                                       *options, *NETWORK], text=True, capture_output=True,
                                      check=True).stdout)
    if document["robust"]["corrected_spans"] == 0 and \
            again["result"]["uncertainty"] != about:
        vrank.complain("error bars of the trace and of the record differ")


def check_robust(program):
    """A rank that computes 50 times as long once decides the prediction: that is a warning,
    and the time stays as the program took it."""
    words = "few compute spans decide the prediction"
    document = run(program, args=("50", "2"))
    said = [line for line in document.get("warnings", []) if line.startswith(words)]
    if len(said) != 1 or "rank 2:" not in said[0]:
        vrank.complain("no warning about a slow rank", document.get("warnings"),
                       document.get("robust"))
    raw = run(program, "-p", "run.robust=off", args=("50", "2"))
    given = run(program, "--compute", "none", args=("50", "2"))
    for other in (raw, given):
        if "robust" in other or any(line.startswith(words)
                                    for line in other.get("warnings", [])):
            vrank.complain("times that are not corrected are judged", other.get("robust"))
    robust = document["robust"]
    if robust["spans"] < 20 * RANKS or robust["places"] < 1 or robust["outliers"] < 1:
        vrank.complain("the section robust", robust)


def check_uneven(program):
    """A collective with different sizes, an error that the program handles, ends neither the run
    nor the replays of its record."""
    for options in (("--what-if",), ("--efficiency",), ("-p", "mpi.bcast=ideal"),
                    ("-p", "mpi.bcast=hardware"), ("-p", "mpi.eager_max=0")):
        run(program, "--compute", "none", *options, args=("uneven",))


def main():
    TEMPORARY.mkdir(exist_ok=True)
    program = vrank.build(HERE / "once.c")
    if program is not None:
        check_efficiency(program)
        check_what_if(program)
        check_runs(program)
        check_robust(program)
        check_uneven(program)
        run(program, args=("crash",), fails=True)
        run(program, "--efficiency", args=("crash",), fails=True)
    left = [path.name for path in TEMPORARY.iterdir()]
    if left:
        vrank.complain("temporary files are left", left)
    vrank.finish()


main()
