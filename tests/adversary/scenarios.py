# SPDX-License-Identifier: Apache-2.0
"""Random scenarios under random schedules: threads by the driver scenarios.c, processes by weft."""
import json
import os
import pathlib
import select
import shlex
import subprocess
import tempfile

import scenario

WEFT = os.environ["WEFT"]
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "")
DRIVER = pathlib.Path(os.environ["WEFT_BUILD_DIR"]) / "tests" / "adversary_scenarios"
SECONDS = 300
HANGS = 3600  # the driver ends much earlier, unless it waits for something


def ask(*command):
    return subprocess.run([WEFT, *command], capture_output=True, text=True, check=True).stdout


def words(settings):
    return [f"{key}={value}" for key, value in settings.items()]


class Driver:
    """The driver, started again when it has ended."""

    def __init__(self):
        self.process = None

    def answer(self, line):
        """What the driver says of a scenario, or how it ended."""
        if self.process is None:
            self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], HANGS)[0]:
            self.process.kill()
        said = self.process.stdout.readline().strip()
        if said.startswith(("same", "differ")):
            return said
        rest = self.process.communicate()[0][-2000:]
        code, self.process = self.process.returncode, None
        return said if said == "slow" else f"ended with {code}: {said}\n{rest}"

    def close(self):
        if self.process is not None:
            self.process.communicate()
            self.process = None


def run_threads(kind, cases, log, drawn):
    driver = Driver()
    for number, rng in cases:
        settings = drawn.scenario(rng)
        line = words(settings)
        line += [word for word in ("record", "what-if") if rng.random() < 0.1]
        for _ in range(rng.choice([1, 2, 3])):
            line += ["|", *words(drawn.execution(rng, settings))]
        said = driver.answer("\t".join(line))
        if said.startswith("same"):
            log.count(kind, f"code {said.split()[1]}")
            log.note(f"{kind} in lock step", int(said.split()[3]))
        elif said == "slow":
            log.count(kind, "too slow")
        else:
            log.count(kind, "failed")
            text = drawn.folder / "program.txt"
            program = text.read_text() if "source=gen:text" in line else ""
            log.failed(kind, number, f"{said}\n  scenario: {' '.join(map(shlex.quote, line))}\n"
                       f"{program}")
    driver.close()


def command_of(settings, schedule):
    """The settings as a command of weft."""
    verb, source = "replay", settings["source"]
    for other in ("traffic", "bench"):
        if source.startswith(other + ":"):
            verb, source = other, source.removeprefix(other + ":")
    options = {"ranks": "-n", "network": "--net", "topology": "--topo", "seed": "--seed",
               "ranks_per_node": "--ranks-per-node", "placement": "--placement"}
    command = [WEFT, verb, source, "--json", "-q"]
    for key, value in {**settings, **schedule}.items():
        if key != "source" and (key in options or "." in key):
            command += [options[key], value] if key in options else ["-p", f"{key}={value}"]
    return command


def document_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS,
                          stdin=subprocess.DEVNULL)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return done.returncode, {}, done.stderr
    document.pop("run", None)
    return done.returncode, document, done.stderr


def run_processes(kind, cases, log, drawn):
    if not MPIEXEC:
        return "there is no MPI launcher"
    for number, rng in cases:
        settings, processes = drawn.scenario(rng), rng.choice([2, 2, 3])
        first = document_of(command_of(settings, {}))
        schedule = drawn.schedule(rng, most_threads=2)
        command = [MPIEXEC, "-n", str(processes), *command_of(settings, schedule)]
        try:
            other = document_of(command)
        except subprocess.TimeoutExpired:
            other = (None, {}, "does not end")
        same = first[:2] == other[:2]
        log.count(kind, f"code {first[0]}" if same else "failed")
        if not same:
            sections = [k for k in {**first[1], **other[1]} if first[1].get(k) != other[1].get(k)]
            log.failed(kind, number, f"codes {first[0]} and {other[0]}, sections {sections}: "
                       f"{other[2][-500:]}\n  command: {shlex.join(command)}")
    return None


def make_traces(folder):
    """Small traces of different formats and programs."""
    for name, words in {"stencil3d": ["-n", "8", "-p", "gen.allreduce=true"], "coll": ["-n", "6"],
                        "cg": ["-n", "4"], "masterworker": ["-n", "5", "-p", "gen.tasks=9"],
                        "leanmd": ["-n", "4", "-p", "gen.cells=3x3x3"]}.items():
        for ending, more in {".weft": [], ".parts.weft": ["--parts", "2"], ".ti": []}.items():
            few = ["-p", "gen.iterations=1"] if name in ("stencil3d", "coll") else []
            subprocess.run([WEFT, "gen", name, *words, *few, *more, "-o",
                            folder / (name + ending)], capture_output=True, check=False)


def run(kind, cases, log):
    if kind != "processes" and not DRIVER.exists():
        return f"{DRIVER} is not built"
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        make_traces(folder)
        drawn = scenario.Scenarios(ask("help", "--markdown"), ask("coll", "list"), folder)
        play = run_processes if kind == "processes" else run_threads
        return play(kind, cases, log, drawn)
