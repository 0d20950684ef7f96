# SPDX-License-Identifier: Apache-2.0
"""tools/cluster: one program goes through calibrate, capture and replay on four hosts, and nothing
is left behind. Skipped where clusters cannot be made, mostly for lack of root."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from captured import MPIS, SECONDS, WEFT, capture, check_messages, info, replay, run

SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
TOOL = [sys.executable, "-B", str(SOURCE / "tools/cluster")]
NAME = f"test-{os.getpid()}"
IMPOSSIBLE = 77


def cluster(verb, *words):
    return run([*TOOL, verb, "--name", NAME, *map(str, words)])


def on_cluster(ranks, *words):
    return [*TOOL, "run", "--name", NAME, "-n", str(ranks), "--", *words]


def build_ring(mpi):
    program = f"./ring_{mpi}"
    done = run([f"mpicc.{mpi}", "-O1", "-w", str(SOURCE / "examples/mpi/ring.c"), "-o", program,
                "-lm"])
    assert done.returncode == 0, done.stderr
    return program


def left_behind():
    """Namespaces, files and processes of the cluster."""
    places = [line for line in run(["ip", "netns", "list"]).stdout.splitlines()
              if f".{NAME}." in line]
    files = list(pathlib.Path("/run/weft-cluster").glob(NAME))
    return places + files + run(["pgrep", "-f", f"weft-cluster/{NAME}/"]).stdout.split()


def test_description(spec):
    document = json.loads(cluster("status", "--json").stdout)
    assert document["topology"] == spec, document
    assert len({host["address"] for host in document["hosts"]}) == 4, document
    assert cluster("up", "star", "--hosts", "2", "--rate", "1gbit").returncode == 1


def test_hosts(mpi):
    """Every rank has a host of its own, with a name of its own."""
    done = run([*TOOL, "run", "--name", NAME, "-n", "4", "--mpi", mpi, "--", "hostname"])
    assert sorted(done.stdout.split()) == [f"{NAME}-{k}" for k in range(4)], done


def test_exit_code(mpi):
    done = run([*TOOL, "run", "--name", NAME, "-n", "1", "--mpi", mpi, "--", "sh", "-c", "exit 3"])
    assert done.returncode == 3, done


def test_prediction(mpi, spec):
    program, machine, trace = build_ring(mpi), f"{mpi}.yaml", f"trace_{mpi}"
    done = run([WEFT, "calibrate", "-f", "-o", machine, "--mpi", mpi, "--time", "1s", "--max-bytes",
                "4KiB", "--topology", spec, "--", *on_cluster(4)])
    assert done.returncode == 0, done.stderr
    done = capture(trace, on_cluster(4, program))
    assert done.returncode == 0 and done.stdout, done
    document, _ = info(trace)
    assert document["ranks"] == 4 and all(rank["whole"] for rank in document["per_rank"])
    assert check_messages(trace) > 0
    replay(trace)
    done = run([WEFT, "replay", trace, "--machine", machine, "-q", "--json"])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["predicted_time_ps"] > 0


def test_interrupt(mpi):
    """A signal to `run` ends the program on all hosts."""
    with subprocess.Popen([*TOOL, "run", "--name", NAME, "-n", "4", "--mpi", mpi, "--", "sh", "-c",
                           f": >{os.getcwd()}/running; exec sleep 100"]) as child:
        until = time.monotonic() + SECONDS
        while not os.path.exists("running") and time.monotonic() < until:
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        assert child.wait() == 128 + signal.SIGTERM
    assert run(["pgrep", "-f", f"weft-cluster/{NAME}/"]).stdout == ""
    assert not list(pathlib.Path("/run/weft-cluster").glob(f"{NAME}/run-*"))


def main():
    spec = "ring:4"
    done = cluster("up", spec, "--rate", "1gbit")
    if done.returncode == IMPOSSIBLE or not MPIS:
        print(done.stderr, end="")
        cluster("down")
        return IMPOSSIBLE
    try:
        assert done.returncode == 0 and f"--topo {spec}" in done.stdout, done
        test_description(spec)
        for mpi in MPIS:
            test_hosts(mpi)
        test_exit_code(MPIS[0])
        test_prediction(MPIS[-1], spec)
        test_interrupt(MPIS[-1])
    finally:
        done = cluster("down")
    assert done.returncode == 0, done.stderr
    assert not left_behind(), left_behind()
    return 0


if __name__ == "__main__":
    sys.exit(main())
