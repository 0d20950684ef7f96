# SPDX-License-Identifier: Apache-2.0
"""What the tests of weft capture share: programs built for each MPI, runs with and without
recording, and what a trace must be like."""
import collections
import csv
import json
import os
import shutil
import subprocess

WEFT = os.environ["WEFT"]
HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(os.environ["WEFT_SOURCE_DIR"], "include")
MPIS = [mpi for mpi in ("mpich", "openmpi")
        if shutil.which(f"mpicc.{mpi}") and shutil.which(f"mpirun.{mpi}") and os.path.exists(
            os.path.join(os.environ["WEFT_BUILD_DIR"], f"libweft-capture-{mpi}.so"))]
SECONDS = 120
# Ranks that wait leave the processor to others: there may be fewer of them than ranks.
YIELDING = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
# What a library says of a program that leaves receives behind has times in it.
ENVIRONMENT = dict(os.environ, UCX_LOG_LEVEL="error", **YIELDING)


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False,
                          **{"env": ENVIRONMENT, **more})


def libraries(mpi):
    """Where the MPI's own libraries are: another may be the distribution's choice."""
    if mpi != "openmpi":
        return []
    return ["-L" + run(["mpicc.openmpi", "--showme:libdirs"]).stdout.split()[0]]


def build(source, mpi, *flags):
    """The program of a source here, for one MPI."""
    fortran, plus = source.endswith(".F90"), source.endswith(".cpp")
    name = "_".join([source.split(".")[0], mpi, *(f.lstrip("-").replace("=", "_") for f in flags)])
    compiler = ("mpifort." if fortran else "mpicxx." if plus else "mpicc.") + mpi
    done = run([compiler, "-O1", "-w", *(["-fallow-argument-mismatch"] if fortran else []),
                f"-I{INCLUDE}", *flags, os.path.join(HERE, source), "-o", name,
                *libraries(mpi)])
    assert done.returncode == 0, done.stderr
    return "./" + name


def launch(mpi, ranks, *command):
    return [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []),
            "-n", str(ranks), *command]


def capture(directory, command, *options):
    return run([WEFT, "capture", "-f", "-o", directory, *options, "--", *command])


def info(trace):
    done = run([WEFT, "info", trace, "--json", "--per-rank"])
    return json.loads(done.stdout), done


def replay(trace):
    """Both policies come to the end; returns the time that was predicted."""
    for policy in ("causal", "timed"):
        done = run([WEFT, "replay", trace, "-q", "--json", "-p", f"replay.policy={policy}"])
        assert done.returncode == 0, f"{trace}, {policy}: {done.stderr}"
    return json.loads(done.stdout)["result"]


def rows(trace):
    path = trace + ".csv"
    done = run([WEFT, "convert", "-f", trace, path])
    assert done.returncode == 0, done.stderr
    with open(path, encoding="utf-8") as file:
        yield from csv.DictReader(file)


NOBODY, ANYBODY = "none", "any"


class Messages:
    """Who sent what to whom on the communicator of all, and who received what."""

    def __init__(self):
        self.sent = collections.defaultdict(list)
        self.received = collections.defaultdict(list)
        self.made = {}

    def send(self, rank, row):
        if row["peer"] != NOBODY:
            self.sent[rank, row["peer"], row["tag"]].append(int(row["bytes"]))

    def receive(self, rank, peer, tag, row, room):
        if row["recorded"] in ("1", "true"):
            peer, tag = row["matched_peer"], row["matched_tag"]
        assert ANYBODY not in (peer, tag) and tag != "-1", row
        if peer != NOBODY:
            self.received[peer, rank, tag].append(int(row[room]))

    def start(self, rank, row):
        many = row["requests"].split() if row["requests"] else None
        first, count = int(row["request"] or 0), int(row["count"] or 1)
        for number in many or range(first, first + count):
            made = self.made[rank, int(number)]
            if made["kind"] == "recv_init":
                self.receive(rank, made["peer"], made["tag"], made, "bytes")
            else:
                self.send(rank, made)

    def add(self, row):
        rank, kind = row["rank"], row["kind"]
        if kind in ("start", "startall"):
            self.start(rank, row)
        if row["comm"] != "0":
            return
        if kind in ("send", "ssend", "bsend", "rsend", "isend", "issend", "ibsend", "irsend",
                    "sendrecv"):
            self.send(rank, row)
        if kind in ("recv", "irecv"):
            self.receive(rank, row["peer"], row["tag"], row, "bytes")
        if kind == "sendrecv":
            self.receive(rank, row["recv_peer"], row["recv_tag"], row, "recv_bytes")
        if kind.endswith("_init"):
            self.made[rank, int(row["request"])] = row


def check_messages(trace):
    """Each message that was sent was received, in order, with room for it."""
    messages = Messages()
    for row in rows(trace):
        messages.add(row)
    assert messages.sent, trace
    assert messages.sent.keys() == messages.received.keys(), (
        messages.sent.keys() ^ messages.received.keys())
    for pair, lengths in messages.sent.items():
        room = messages.received[pair]
        assert len(lengths) == len(room), f"{trace}: {pair}: {len(lengths)} sent, {len(room)} not"
        assert all(a <= b for a, b in zip(lengths, room)), f"{trace}: {pair}"
    return sum(map(len, messages.sent.values()))


def check_unchanged(mpi, ranks, directory, command, *options):
    """Output and status are those of the program by itself."""
    alone = run(launch(mpi, ranks, *command))
    recorded = capture(directory, launch(mpi, ranks, *command), *options)
    assert recorded.returncode == alone.returncode, (recorded.returncode, recorded.stderr)
    assert recorded.stdout == alone.stdout, (recorded.stdout, alone.stdout)
    return recorded
