# SPDX-License-Identifier: Apache-2.0
"""For each area of MPI there is a program that prints what it observes. It must print the same under
MPICH, which validates the program, and under every scheduler, with the same digest. What MPICH 4.0
does wrong or differently is in programs that check themselves and are not run under it."""
import pathlib
import re
import sys

import vrank

HERE = pathlib.Path(__file__).parent
RANKS = (1, 4, 6)
ALONE = {"persistent_collectives", "partitioned", "sessions", "mpi4", "module_f08", "tools", "lengths"}
OPTIONS = (
    ("--sched", "conservative", "--threads", "2"),
    ("--sched", "optimistic", "--threads", "2", "--net", "loggp"),
    ("--sched", "check-undo"),
)


def check(name, ranks, program, other):
    said, digest = vrank.under_weft(program, ranks)
    if said is None:
        return
    if name in ALONE and re.search(r"\b[1-9]\d* wrong\b", said):
        vrank.complain(f"{name} with {ranks} ranks", said)
    theirs = vrank.under_other(other, ranks)
    if theirs is not None:
        difference = vrank.differs(theirs, said)
        if difference:
            vrank.complain(f"{name} with {ranks} ranks is not the same under MPICH", difference)
    for options in OPTIONS:
        again, its_digest = vrank.under_weft(program, ranks, options=options)
        if again is None:
            continue
        difference = vrank.differs(said, again)
        if difference:
            vrank.complain(f"{name} with {ranks} ranks, {' '.join(options)}", difference)
        if its_digest != digest:
            vrank.complain(f"{name} with {ranks} ranks, {' '.join(options)}: digest "
                           f"{its_digest}, elsewhere {digest}")


def main():
    for name in sys.argv[1:]:
        source = next(HERE.glob(f"{name}.[cf]*"))
        program = vrank.build(source)
        other = vrank.build(source, other=True) if name not in ALONE else None
        if program is not None:
            for ranks in RANKS[:2] if name in ALONE else RANKS:
                check(name, ranks, program, other)
    vrank.finish()


main()
