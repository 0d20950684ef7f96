# SPDX-License-Identifier: Apache-2.0
"""Signals: wherever weft is, the first one ends it, with a code that names the signal, a partial
result or an error document, and no temporary file."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import time

import jsonschema

from weft_cli import SOURCE, WEFT, check, finish, parse, run

ENOUGH_TICKS = 5  # hundredths of a second of CPU: the process is well under way
# What loads for a very long time: distances in a chain of so many vertices.
CHAIN = "\n".join(f"{i} {i + 1}" for i in range(200000))
ENDLESS = ["replay", "gen:stencil3d", "-n", "64", "-p", "gen.iterations=100000000"]
SCHEMA = json.loads((SOURCE / "share/schema/weft-result-1.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SPEC = ["topo", "graph:chain.edges"]


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
    return sum(int(field) for field in fields.split()[11:13])


def validate(done):
    """The document on stdout, which its schema allows."""
    document = parse(done)
    errors = list(VALIDATOR.iter_errors(document))
    check(not errors, f"not valid: {[error.message for error in errors]}", done)
    return document


def interrupted(number, args, ticks=ENOUGH_TICKS, **options):
    """Sends the signal when the process is under way. The timeout is generous: nothing here ends
    by itself."""
    started = subprocess.Popen([WEFT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, **options)
    while started.poll() is None and cpu_ticks(started.pid) < ticks:
        time.sleep(0.01)
    started.send_signal(number)
    out, err = started.communicate(timeout=60)
    return subprocess.CompletedProcess(started.args, started.returncode, out, err)


def check_partial(number, *options):
    done = interrupted(number, [*ENDLESS, *options, "--json"])
    check(done.returncode == 128 + number, f"{options}: exit code {done.returncode}", done)
    result = validate(done).get("result", {})
    check(result.get("status") == "interrupted" and result.get("digest_partial") is True,
          f"{options}: not marked as partial", done)
    check("the result is partial" in done.stderr, f"{options}: not said to be partial", done)


def check_loading(number):
    done = interrupted(number, [*SPEC, "--json"])
    check(done.returncode == 128 + number, f"loading: exit code {done.returncode}", done)
    error = validate(done).get("error", {})
    check(error.get("status") == "interrupted" and error.get("exit_code") == 128 + number,
          "loading: no error document", done)
    check(done.stderr.count("\n") == 1, "loading: not one message", done)


def check_text():
    done = interrupted(signal.SIGINT, ENDLESS)
    check("(partial: " in done.stdout, "the text does not mark the digest", done)


def check_time_that_stands_still():
    pathlib.Path("spin.weft").write_text("while 1 { compute 0 }\n", encoding="utf-8")
    for scheduler in ("sequential", "conservative", "optimistic", "check-undo"):
        done = interrupted(signal.SIGTERM, ["replay", "gen:text", "-n", "2", "-p",
                                            "gen.file=spin.weft", "-p",
                                            "replay.stall_limit=0", "-p",
                                            "gen.max_rounds=1000000000000", "--sched",
                                            scheduler, "--json"],
                           ticks=60)  # its messages are estimated first, from 400,000 ops
        check(done.returncode == 143, f"{scheduler}: exit code {done.returncode}", done)
        check(parse(done).get("result", {}).get("status") == "interrupted",
              f"{scheduler}: no partial result", done)


def check_stall():
    """A rank whose time stands still fails, at the same event under every scheduler; ranks that act
    at one time do not."""
    digests = set()
    for scheduler in ("sequential", "conservative", "optimistic", "check-undo"):
        done = run("replay", "gen:text", "-n", "3", "-p", "gen.file=spin.weft", "-p",
                   "replay.stall_limit=5000", "--sched", scheduler, "--threads", "2", "-q", "--json")
        check(done.returncode == 4 and "rank 0 executes more and more operations" in done.stderr,
              f"{scheduler}: exit code {done.returncode}", done)
        result = parse(done).get("result", {})
        check(result.get("waiting", {}).get("count") == 3, f"{scheduler}: not all ranks", done)
        digests.add(result.get("digest"))
    check(len(digests) == 1, f"digests of a program that stands still: {digests}")
    done = run("replay", "gen:ring", "-n", "500", "--ranks-per-node", "500", "-p",
               "replay.stall_limit=50")
    check(done.returncode == 0, "ranks that start together are taken for a stall", done)
    done = run("replay", "gen:text", "-n", "1", "-p", "gen.file=spin.weft", "-p",
               "replay.stall_limit=5", "--net", "none")
    check(done.returncode == 4, "no limit without a network", done)


def check_ignored():
    """nohup works."""
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    started = subprocess.Popen([WEFT, *ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, preexec_fn=ignore)
    while cpu_ticks(started.pid) < ENOUGH_TICKS:
        time.sleep(0.01)
    started.send_signal(signal.SIGHUP)
    ticks = cpu_ticks(started.pid)
    while started.poll() is None and cpu_ticks(started.pid) < ticks + ENOUGH_TICKS:
        time.sleep(0.01)
    check(started.poll() is None, "SIGHUP ended a process that ignores it")
    started.send_signal(signal.SIGTERM)
    started.communicate(timeout=60)
    check(started.returncode == 143, f"then SIGTERM: exit code {started.returncode}")


def check_failed_writes():
    """A reader that is gone ends a command without words; a file that may not grow is an error like any other."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([WEFT, "help", "--markdown"], stdout=writer, stderr=subprocess.PIPE,
                          text=True, check=False)
    os.close(writer)
    check(done.returncode == 3 and done.stderr == "",
          f"a closed pipe: {done.returncode} {done.stderr}")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    done = run("replay", "gen:stencil3d", "-n", "64", "-o", "large.html", preexec_fn=limit)
    check(done.returncode == 3 and "weft: cannot write 'large.html'" in done.stderr,
          "a file that is too large", done)
    check(not list(pathlib.Path().glob("large.html*")), "a part of the file is left")


def check_crash():
    """A crash of weft itself is one line. Sanitizers print their own."""
    if "WEFT_TEST_ONE_IN" not in os.environ:
        # Short enough that no note tells of a long run.
        done = interrupted(signal.SIGSEGV, [*ENDLESS[:-1], "gen.iterations=2000000"])
        check(done.returncode == 70, f"crash: exit code {done.returncode}", done)
        check(done.stderr.startswith("weft: internal error: segmentation fault")
              and done.stderr.count("\n") == 1, "crash: not one message", done)


def check_temporaries():
    """What was begun is removed."""
    before = set(os.listdir())
    done = interrupted(signal.SIGTERM, ["gen", "stencil3d", "-n", "64", "-o", "trace.weft",
                                        "-p", "gen.iterations=100000000"])
    check(done.returncode == 143, f"gen: exit code {done.returncode}", done)
    check(set(os.listdir()) == before, f"left: {set(os.listdir()) - before}", done)


def main():
    pathlib.Path("chain.edges").write_text(CHAIN, encoding="utf-8")
    check_partial(signal.SIGINT)
    check_partial(signal.SIGTERM, "--sched", "conservative", "--threads", "2")
    check_partial(signal.SIGHUP, "--sched", "optimistic", "--threads", "2")
    check_loading(signal.SIGINT)
    check_loading(signal.SIGTERM)
    check_text()
    check_time_that_stands_still()
    check_stall()
    check_ignored()
    check_failed_writes()
    check_crash()
    check_temporaries()
    finish()


main()
