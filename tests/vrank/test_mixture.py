# SPDX-License-Identifier: Apache-2.0
"""Random programs over splits, null communicators, mixed collectives, point-to-point and one-sided
communication (mixture.c): the same checksums under MPICH, and the same digest under every scheduler.
With arguments (first seed, last seed, steps) it tries those, for as long as one likes."""
import pathlib
import sys

import vrank

HERE = pathlib.Path(__file__).parent
OPTIONS = (
    ("--sched", "conservative", "--threads", "2"),
    ("--sched", "optimistic", "--threads", "2"),
    ("--sched", "check-undo"),
)
UNDER_MPICH = 3  # ranks: with more of them than cores it is slow


def check(program, other, seed, ranks, steps):
    args = (str(seed), str(steps))
    what = f"mixture {seed} {steps} with {ranks} ranks"
    said, digest = vrank.under_weft(program, ranks, *args)
    if said is None:
        return
    theirs = vrank.under_other(other, ranks, *args) if ranks <= UNDER_MPICH else None
    difference = theirs is not None and vrank.differs(theirs, said)
    if difference:
        vrank.complain(f"{what} is not the same under MPICH", difference)
    again, its_digest = vrank.under_weft(program, ranks, *args, options=OPTIONS[seed % 3])
    if again is not None and (again != said or its_digest != digest):
        vrank.complain(f"{what}, {' '.join(OPTIONS[seed % 3])}", vrank.differs(said, again),
                       digest, its_digest)


def main():
    program = vrank.build(HERE / "mixture.c")
    other = vrank.build(HERE / "mixture.c", other=True)
    if program is not None and len(sys.argv) == 4:
        first, last, steps = (int(word) for word in sys.argv[1:])
        for seed in range(first, last + 1):
            check(program, other, seed, 2 + seed % 11, steps)
    elif program is not None:
        for seed, ranks in ((1, 7), (2, 3), (3, 16), (4, 24)):
            check(program, other, seed, ranks, 120)
    vrank.finish()


main()
