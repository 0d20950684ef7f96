#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An adversary: random scenarios, programs, signals and damaged files against weft.

usage: adversary.py [--seed N] [--time SECONDS | --count N] [--only KIND] [--case N]

The environment is that of script tests (cmake/WeftTesting.cmake); without it, build/release.

Each kind draws its case number N from (seed, kind, N) alone, so that `--seed S --only K --case N`
repeats one. Without --time and --count it does a little of each kind, as the test suite does.
Prints the seed, every failure with what repeats it, and at the end how many cases of each kind
were tried. Exit code 1 if one failed. While the file that TORTURE_PAUSE names exists, it waits.
"""
import argparse
import os
import pathlib
import random
import re
import sys
import time


def set_environment():
    source = pathlib.Path(__file__).resolve().parents[2]
    build = source / "build" / "release"
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        sys.exit("adversary.py: there is no build/release; 'make torture' builds it")
    launcher = re.search(r"^MPIEXEC_EXECUTABLE:\w+=(.*)$", cache.read_text(), re.M)
    os.environ.update(WEFT=str(build / "weft"), WEFT_SOURCE_DIR=str(source),
                      WEFT_BUILD_DIR=str(build), WEFT_MPIEXEC=launcher[1] if launcher else "",
                      OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                      OMPI_MCA_rmaps_base_oversubscribe="1")


if "WEFT" not in os.environ:
    set_environment()

import damage  # noqa: E402
import formats  # noqa: E402
import peers  # noqa: E402
import programs  # noqa: E402
import scenarios  # noqa: E402
import signals  # noqa: E402

SLICE, NEWS = 60, 5000
# The kind, its module, and how many cases the test suite does.
KINDS = {
    "scenarios": (scenarios, 200),
    "processes": (scenarios, 3),
    "programs": (programs, 12),
    "signals": (signals, 6),
    "pauses": (signals, 2),
    "damage": (damage, 50),
    "formats": (formats, 10),
    "peers": (peers, 3),
}


def arguments():
    parser = argparse.ArgumentParser(description="An adversary for weft")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time", type=float, help="seconds, divided among the kinds")
    parser.add_argument("--count", type=int, help="cases of each kind")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--case", type=int, help="repeat this case of the kind --only")
    return parser.parse_args()


def pause():
    path = os.environ.get("TORTURE_PAUSE")
    while path and os.path.exists(path):
        time.sleep(2)


class Log:
    """Counts cases and failures."""

    def __init__(self, seed):
        self.seed, self.cases, self.failures, self.notes = seed, {}, 0, {}

    def failed(self, kind, number, what):
        self.failures += 1
        print(f"FAILED {what}\n  again: adversary.py --seed {self.seed} --only {kind} "
              f"--case {number}", flush=True)

    def count(self, kind, outcome):
        outcomes = self.cases.setdefault(kind, {})
        outcomes[outcome] = outcomes.get(outcome, 0) + 1

    def note(self, what, n):
        """Counts something else that is worth knowing."""
        self.notes[what] = self.notes.get(what, 0) + n

    def print(self):
        for kind, outcomes in self.cases.items():
            total = sum(outcomes.values())
            parts = ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items()))
            print(f"{kind}: {total} ({parts})")
        for what, n in self.notes.items():
            print(f"{what}: {n}")
        print(f"seed {self.seed}: {self.failures} failed", flush=True)


class Cases:
    """The cases of a kind, in order, through any number of rounds."""

    def __init__(self, seed, kind):
        self.seed, self.kind, self.next = seed, kind, 0

    def one(self, number):
        return number, random.Random(f"{self.seed}/{self.kind}/{number}")

    def some(self, count, until):
        """So many cases, or those that begin before a time."""
        while count > 0 and time.monotonic() < until:
            pause()
            self.next += 1
            count -= 1
            if self.next % NEWS == 0:
                print(f"{self.kind}: {self.next}", flush=True)
            yield self.one(self.next - 1)


def play(kinds, options, log):
    """All kinds: once, or in turn for a minute each until the time is over."""
    cases = {kind: Cases(options.seed, kind) for kind in kinds}
    forever = float("inf")
    end = time.monotonic() + options.time if options.time else None
    rest = set(kinds)
    while rest:
        for kind in [k for k in kinds if k in rest]:
            module, few = KINDS[kind]
            if options.case is not None:
                some = iter([cases[kind].one(options.case)])
            elif end:
                share = min(SLICE, options.time / len(kinds))
                some = cases[kind].some(forever, min(end, time.monotonic() + share))
            else:
                some = cases[kind].some(options.count or few, forever)
            reason = module.run(kind, some, log)
            if reason:
                print(f"{kind}: left out: {reason}")
            if reason or not end or time.monotonic() >= end:
                rest.discard(kind)


def main():
    options = arguments()
    log = Log(options.seed)
    print(f"seed {options.seed}", flush=True)
    play([options.only] if options.only else list(KINDS), options, log)
    log.print()
    return 1 if log.failures else 0


if __name__ == "__main__":
    sys.exit(main())
