# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/mpi say the same as virtual ranks as they do under MPICH, and go on
saying it at numbers of ranks that a small machine does not run."""
import vrank

RANKS = (4, 16, 64, 1024)
# Under MPICH on a small machine more ranks than cores take long.
MPICH_RANKS = {"stencil.c": (4, 16), "master.c": (4, 16), "sort.c": (4, 16)}
NAMES = ("hello.c", "ring.c", "random.c", "stencil.c", "stencil.f90", "cg.c", "fft.c", "sort.c",
         "master.c", "globals.c")
# What must be among the words at any number of ranks.
SURE = {"hello.c": "hello from {n} of {n} ranks", "cg.c": ": solved", "sort.c": ": sorted",
        "fft.c": ": 2 waves, the highest 1.000000", "globals.c": "0 variables of {n} ranks",
        "ring.c": "token {ring} after 3 rounds", "master.c": "5133 primes below 50000"}


def main():
    for name in NAMES:
        source = vrank.SOURCE / "examples/mpi" / name
        program = vrank.build(source)
        other = vrank.build(source, other=True)
        if program is None:
            continue
        for ranks in RANKS:
            options = ("--sched", "conservative", "--threads", "2") if ranks == 64 else ()
            said, _ = vrank.under_weft(program, ranks, options=options)
            if said is None:
                continue
            few = ranks in MPICH_RANKS.get(name, (4,))
            theirs = vrank.under_other(other, ranks) if few else None
            if theirs is not None and vrank.differs(theirs, said):
                vrank.complain(f"{name} with {ranks} ranks", vrank.differs(theirs, said))
            sure = SURE.get(name, "").format(n=ranks, ring=3 * ranks * (ranks - 1) // 2)
            if sure not in said:
                vrank.complain(f"{name} with {ranks} ranks does not say {sure!r}", said)
    vrank.finish()


main()
