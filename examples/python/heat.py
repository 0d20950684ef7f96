# SPDX-License-Identifier: Apache-2.0
"""Heat in a rod, with mpi4py: each rank has a part, and exchanges its ends with its neighbours.

    python3 heat.py [cells of a rank] [steps]

Prints the heat in the rod, which stays the same.
"""
import sys
from array import array

from mpi4py import MPI


def step(old, left, right):
    """A quarter of the difference flows to each side; nothing flows through the ends of the rod."""
    around = [old[0] if left is None else left, *old, old[-1] if right is None else right]
    return array("d", (around[i] + 0.25 * (around[i - 1] - 2 * around[i] + around[i + 1])
                       for i in range(1, len(old) + 1)))


def main():
    world = MPI.COMM_WORLD
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    before = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    after = world.rank + 1 if world.rank + 1 < world.size else MPI.PROC_NULL
    heat = array("d", [float(world.rank)] * cells)
    for _ in range(steps):
        left, right = array("d", [0.0]), array("d", [0.0])
        world.Sendrecv(heat[-1:], after, recvbuf=left, source=before)
        world.Sendrecv(heat[:1], before, recvbuf=right, source=after)
        heat = step(heat, left[0] if before != MPI.PROC_NULL else None,
                    right[0] if after != MPI.PROC_NULL else None)
    total = world.allreduce(sum(heat))
    if world.rank == 0:
        print(f"{world.size} ranks, {cells} cells each, {steps} steps: heat {total:.6f}")


main()
