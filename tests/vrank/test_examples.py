# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/mpi say as virtual ranks what is known without MPI that they must say,
and the same as under MPICH. With the argument `all` that is run with 64 ranks too, which on a
machine of few processors takes minutes."""
import sys

import expected
import vrank

RANKS = (4, 16, 64, 1024)
# Under MPICH on a small machine more ranks than cores take long.
MPICH_RANKS = {"sort.c": (4, 16)}
# What these say does not depend on the number of ranks.
ALIKE = {"jacobi3d.c": ("20", "5"), "leanmd.c": ("3", "2", "40"), "ep.c": ("14",)}
# And this one's does.
OTHERS = {"mg.c": ("16", "2")}


def check(name, ranks, who, said):
    must = "".join(line + "\n" for line in expected.PROGRAMS[name](ranks))
    if said is not None and vrank.differs(must, said):
        vrank.complain(f"{name} with {ranks} {who}, expected and said",
                       vrank.differs(must, said))


def compare(name, args):
    """With one rank and with many, and under MPICH."""
    source = vrank.SOURCE / "examples/mpi" / name
    program, other = vrank.build(source), vrank.build(source, other=True)
    said = {n: vrank.under_weft(program, n, *args)[0] for n in (1, 4, 16, 64)}
    theirs = vrank.under_other(other, 4, *args)
    if theirs is not None and vrank.differs(theirs, said[4]):
        vrank.complain(f"{name}: MPICH and weft", vrank.differs(theirs, said[4]))
    if name in ALIKE and len(set(said.values())) != 1:
        vrank.complain(f"{name}: other numbers of ranks say something else", said)


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
    for name, args in {**ALIKE, **OTHERS}.items():
        compare(name, args)
    vrank.finish()


main()
