# SPDX-License-Identifier: Apache-2.0
"""What a message costs does not grow with what else the program does: instructions are counted, not time.

usage: test_growth.py [ROW...]

Each row is a program in the workload language with a number `x` that the test multiplies. The cost is that of two
more rounds, so that set-up does not count. Without valgrind the test is skipped.
"""
import pathlib
import re
import shutil
import subprocess
import sys

from weft_cli import WEFT

# The cost of a message may grow by this much; with a search among x it grew by more in every row.
MOST = 1.1
SKIPPED = 77

# Rank 0 asks the last x ranks in turn.
ASK = """
param x = 1 param rounds = 1
if rank == 0 {
    repeat rounds * (size / x) { loop i size - x..size { send i 8 recv i 8 } }
} else if rank >= size - x {
    repeat rounds * (size / x) { recv 0 8 send 0 8 }
}
"""
# Two ranks have x operations in progress at a time: long messages; and messages received in another order.
LONG = """
param x = 1 param rounds = 1
repeat rounds * (4096 / x) { loop i 0..x { irecv 1 - rank 100000 tag i isend 1 - rank 100000 tag i } waitall }
"""
REVERSED = """
param x = 1 param rounds = 1
repeat rounds * (4096 / x) {
    loop i 0..x { isend 1 - rank 8 tag i }
    compute 10ms
    loop i 0..x { irecv 1 - rank 8 tag x - 1 - i }
    waitall
}
"""
PAIR = ["-n", "2", "--net", "loggp", "-p", "mpi.eager_max=1KiB"]
TREE = ["-n", "2048", "--topo", "fattree:32x64"]

# name: the program, the two values of x, and what it runs on.
ROWS = {
    "peers, valiant": (ASK, (64, 4096), ["-n", "4097", "--net", "packet", "--topo", "dragonfly:6",
                                              "-p", "net.routing=valiant"]),
    "peers, router": (ASK, (31, 1984), [*TREE, "--net", "router"]),
    "peers, dcqcn": (ASK, (31, 1984), [*TREE, "--net", "packet", "-p", "net.transport=dcqcn"]),
    "peers, pull": (ASK, (31, 1984), [*TREE, "--net", "packet", "-p", "net.transport=pull"]),
    "long messages in progress": (LONG, (64, 2048), PAIR),
    "received in reverse order": (REVERSED, (64, 2048), PAIR),
}


def instructions(text, options, x, rounds):
    pathlib.Path("program.weft").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", WEFT, "replay", "gen:text",
         "-p", "gen.file=program.weft", "-p", f"gen.set=x={x},rounds={rounds}", "--sched", "sequential", *options],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(re.search(r"I +refs: +([\d,]+)", done.stderr)[1].replace(",", ""))


def growth(text, values, options):
    """How many times as much a round costs at the second value as at the first, which has as many messages."""
    few, many = (instructions(text, options, x, 3) - instructions(text, options, x, 1) for x in values)
    return many / few


def main():
    if shutil.which("valgrind") is None:
        print("valgrind is not installed")
        return SKIPPED
    wrong = 0
    for name in sys.argv[1:] or ROWS:
        factor = growth(*ROWS[name])
        print(f"{name}: {factor:.2f}")
        wrong += factor > MOST
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
