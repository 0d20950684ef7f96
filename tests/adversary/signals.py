# SPDX-License-Identifier: Apache-2.0
"""Random signals at random times: weft ends, soon, with the right code, and leaves nothing behind.
And random pauses (SIGSTOP, SIGCONT), which change nothing."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import time

WEFT = os.environ["WEFT"]
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "")
# A promise to people, not to tests: later ends are counted; only those that never come fail.
SOON, NEVER = 2, 60
ENDING = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def commands(folder):
    """Commands that would take minutes, and files that they write."""
    study = folder / "study.yaml"
    study.write_text("settings: {source: gen:stencil3d, ranks: 64, network: packet,\n"
                     "  topology: 'torus:4x4x4', gen.iterations: 3000}\n"
                     "grid: {net.link_latency: [10ns, 20ns, 30ns, 40ns]}\n")
    workload = folder / "endless.txt"
    workload.write_text("while 1 {\n  compute 0\n}\n")
    chain = folder / "chain.txt"
    chain.write_text("".join(f"{i} {i + 1}\n" for i in range(60000)))
    stencil = ["gen:stencil3d", "-n", "512", "-p", "gen.iterations=100000"]
    packet = ["--net", "packet", "--topo", "torus:8x8x8"]
    result, trace = str(folder / "result.json"), str(folder / "trace.weft")
    return [
        ["replay", *stencil, *packet, "--json"],
        ["replay", *stencil, *packet, "-o", result, "--sched", "optimistic", "--threads", "2",
         "-p", "engine.fit=no"],
        ["replay", *stencil, "-o", result, "--sched", "conservative", "--threads", "2",
         "-p", "engine.fit=no"],
        ["replay", *stencil, "--record", "-o", str(folder / "result.html")],
        ["replay", "gen:stencil2d", "-n", "1", "-p", "gen.compute=0", "-p",
         "gen.iterations=4000000000", "-p", "replay.stall_limit=0", "--json"],
        ["replay", "gen:text", "-n", "2", "-p", f"gen.file={workload}", "-p",
         "replay.stall_limit=0", "--json"],
        ["topo", f"graph:{chain}", "--json"],
        ["replay", "gen:ring", "-n", "4", "--net", "packet", "--topo", f"graph:{chain}", "--json"],
        ["bench", "phold", "--lps", "20000", "--end", "10ms", "--json"],
        ["traffic", "uniform", "--topo", "torus:16x16", "--load", "0.1:0.9:0.01", "--cycles",
         "100000", "-o", str(folder / "curve.csv")],
        ["gen", "stencil3d", "-n", "4096", "-p", "gen.iterations=3000", "-o", trace],
        ["gen", "stencil3d", "-n", "64", "-p", "gen.iterations=30000", "-o",
         str(folder / "trace.ti")],
        ["gen", "random", "-n", "2000", "-p", "gen.messages=2000", "--parts", "4", "-o", trace],
        ["sweep", str(study), "-o", str(folder / "points")],
        ["topo", "torus:60x60x60", "--json"],
        ["info", "gen:stencil3d", "-n", "4096", "-p", "gen.iterations=5000", "--json"],
    ]


def hear_everything():
    """A shell ignores SIGINT for what it runs in the background, nohup ignores SIGHUP; weft would
    not hear those before its own handlers are there."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def interrupt(rng, command, folder):
    """Starts weft, sends signals; returns the process's end and the seconds that it took."""
    number = rng.choice(list(ENDING))
    delay = rng.choice([0, 0.002, 0.01, 0.05]) + rng.random() * rng.choice([0.02, 0.2, 0.6])
    process = subprocess.Popen([WEFT, *command], stdin=subprocess.DEVNULL, cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=hear_everything, env={**os.environ, "TMPDIR": str(folder)})
    time.sleep(delay)
    if rng.random() < 0.2:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.03)
        process.send_signal(signal.SIGCONT)
    begin = time.monotonic()
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=NEVER)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return number, None, b"", b"", NEVER
    return number, process.returncode, out, err, time.monotonic() - begin


def wrong_file(path):
    """What is wrong with a file that is left, or None."""
    if ".tmp" in path.name or path.name.startswith("weft-"):
        return f"a temporary is left: {path.name}"
    if path.suffix == ".json" and path.is_file():
        try:
            json.loads(path.read_text())
        except ValueError as error:
            return f"{path.name}: {error}"
    return None


def check(number, code, out, err, folder, before):
    if code is None:
        return "does not end"
    # Before its handlers are there, weft ends as every program does.
    if code not in (0, 4, ENDING[number], -number):
        return f"exit code {code} after signal {number}: {err[-300:]!r}"
    if out.startswith(b"{"):
        try:
            json.loads(out)
        except ValueError as error:
            return f"exit code {code} and half a document: {error}"
    for path in folder.rglob("*"):
        wrong = wrong_file(path) if path not in before else None
        if wrong:
            return f"{wrong} after signal {number}, exit code {code}"
    return None


def strike(rng):
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        command = rng.choice(commands(folder))
        before = set(folder.rglob("*"))
        number, code, out, err, took = interrupt(rng, command, folder)
        wrong = check(number, code, out, err, folder, before)
        outcome = f"within {SOON} s" if took <= SOON else "later"
        return outcome, f"{wrong}\n  command: weft {shlex.join(command)}" if wrong else None


def document_of(command, rng):
    """What a run says, if it is stopped now and then; without rng, if it is not."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(rng.choice([1, 3]) if rng else 0):
        time.sleep(rng.random() * 0.15)
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(rng.random() * 0.1)
        os.killpg(process.pid, signal.SIGCONT)
    try:
        out, _err = process.communicate(timeout=NEVER)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "does not end"
    try:
        document = json.loads(out)
    except ValueError:
        return f"exit code {process.returncode}, no document"
    document.pop("run", None)
    return document


def pause(rng):
    scheduler = ["--sched", rng.choice(["conservative", "optimistic"]), "--threads",
                 rng.choice(["1", "2"]), "-p", "engine.fit=no"]
    launcher = [MPIEXEC, "-n", "2"] if MPIEXEC and rng.random() < 0.5 else []
    command = [WEFT, *rng.choice([
        ["bench", "phold", "--lps", "2000", "--end", "20us"],
        ["replay", "gen:stencil3d", "-n", "64", "-p", "gen.iterations=20", "-p", "gen.bytes=8kB",
         "--net", "packet", "--topo", "torus:4x4x4", "-p", "net.trains=no"]]), "--json", "-q"]
    if document_of(command, None) == document_of([*launcher, *command, *scheduler], rng):
        return "same", None
    full = shlex.join([*launcher, *command, *scheduler])
    return "", f"another result after a pause\n  command: {full}"


def run(kind, cases, log):
    for number, rng in cases:
        outcome, wrong = pause(rng) if kind == "pauses" else strike(rng)
        log.count(kind, "failed" if wrong else outcome)
        if wrong:
            log.failed(kind, number, wrong)
