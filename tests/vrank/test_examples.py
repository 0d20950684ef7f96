# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/mpi say as virtual ranks what is known without MPI that they must say,
and the same as under MPICH. With the argument `all` that is run with 64 ranks too, which on a
machine of few processors takes minutes."""
import sys

import expected
import vrank

RANKS = (4, 16, 64, 1024)
# Under MPICH on a small machine more ranks than cores take long.
MPICH_RANKS = {"stencil.c": (4, 16), "master.c": (4, 16), "sort.c": (4, 16)}


def check(name, ranks, who, said):
    must = "".join(line + "\n" for line in expected.PROGRAMS[name](ranks))
    if said is not None and vrank.differs(must, said):
        vrank.complain(f"{name} with {ranks} {who}, expected and said",
                       vrank.differs(must, said))


def main():
    everything = sys.argv[1:] == ["all"]
    for name in expected.PROGRAMS:
        source = vrank.SOURCE / "examples/mpi" / name
        program = vrank.build(source)
        other = vrank.build(source, other=True)
        for ranks in RANKS if program is not None else ():
            options = ("--sched", "conservative", "--threads", "2") if ranks == 64 else ()
            check(name, ranks, "virtual ranks", vrank.under_weft(program, ranks,
                                                                 options=options)[0])
            few = RANKS[:3] if everything else MPICH_RANKS.get(name, RANKS[:1])
            if ranks in few:
                check(name, ranks, "ranks under MPICH", vrank.under_other(other, ranks))
    vrank.finish()


main()
