# SPDX-License-Identifier: Apache-2.0
"""What the programs of examples/mpi say at any number of ranks, computed without MPI: all that the
ranks have is in one place here."""
import math


def hello(ranks):
    return [f"hello from {ranks} of {ranks} ranks"]


def ring(ranks):
    return [f"token {3 * ranks * (ranks - 1) // 2} after 3 rounds of {ranks} ranks"]


def random(ranks, rounds=16):
    total = 0
    for i in range(rounds):
        factor, shift = 7919 * (i + 1) % ranks, 104729 * (i + 1) % ranks
        while factor == 0 or math.gcd(factor, ranks) != 1:
            factor += 1
        for source in range(ranks):
            rank = (factor * source + shift) % ranks
            total += (source * rounds + i) * (rank + 1) % 1000003 + source
    return [f"{rounds * ranks} messages, checksum {total}"]


def sides(ranks):
    """The factors of MPI_Dims_create: as near to each other as can be, the larger one first."""
    low = next(d for d in range(math.isqrt(ranks), 0, -1) if ranks % d == 0)
    return ranks // low, low


def relax(now):
    """One step on the whole plate; returns the new one and the largest change."""
    after, change = [now[0]], 0.0
    for i in range(1, len(now) - 1):
        above, row, below = now[i - 1], now[i], now[i + 1]
        fresh = [0.25 * (a + b + c + d)
                 for a, b, c, d in zip(above[1:-1], below[1:-1], row[:-2], row[2:])]
        change = max(change, max(abs(x - y) for x, y in zip(fresh, row[1:-1])))
        after.append([row[0], *fresh, row[-1]])
    return [*after, now[-1]], change


def plate(ranks, n=16, steps=50):
    """The heat after all steps: numbers of rows and columns of ranks, the last change, the warmest
    of the ranks' last corners, the first point. Below `steps` rows nothing has changed yet."""
    rows, cols = sides(ranks)
    deep = min(rows * n, steps + n)
    now = [[100.0] * (cols * n + 2)] + [[0.0] * (cols * n + 2) for _ in range(deep + 1)]
    change = 0.0
    for _ in range(steps):
        now, change = relax(now)
    corners = [now[i][k] for i in range(n, deep + 1, n) for k in range(n, cols * n + 1, n)]
    return rows, cols, change, max(corners), now[1][1]


def stencil_c(ranks):
    rows, cols, change, corner, first = plate(ranks)
    return [f"{rows} x {cols} ranks of 16 x 16 points, 50 steps",
            f"last change {change:.9f}, warmest corner {corner:.9f}, first point {first:.9f}"]


def stencil_f90(ranks):
    rows, cols, change, corner, first = plate(ranks)
    return [f"{rows} x {cols} ranks, 50 steps",
            f"change, corner, point:{change:14.9f}{corner:14.9f}{first:14.9f}"]


def cg(ranks):
    return [f"{64 * ranks} unknowns on {ranks} ranks: solved, x[1] = {7 % 11 - 5:.6f}"]


def fft(ranks):
    n = max(64, ranks)
    return [f"{n} x {n}: 2 waves, the highest 1.000000"]


def sort(ranks, n=1000):
    total, mask = 0, 2**32 - 1
    for rank in range(ranks):
        state = (2463534242 + 977 * rank) & mask
        for _ in range(n):
            state ^= state << 13 & mask
            state ^= state >> 17
            state ^= state << 5 & mask
            total += state
    return [f"{n * ranks} numbers on {ranks} ranks: sorted, checksum {total & mask}"]


def master(ranks, limit=50000):
    prime = bytearray([0, 0]) + bytearray([1]) * (limit - 2)
    for i in range(2, math.isqrt(limit) + 1):
        if prime[i]:
            prime[i * i::i] = bytes(len(range(i * i, limit, i)))
    return [f"{sum(prime)} primes below {limit}, found by {ranks - 1} workers"]


def globals_(ranks):
    return [f"0 variables of {ranks} ranks are wrong"]


PROGRAMS = {"hello.c": hello, "ring.c": ring, "random.c": random, "stencil.c": stencil_c,
            "stencil.f90": stencil_f90, "cg.c": cg, "fft.c": fft, "sort.c": sort,
            "master.c": master, "globals.c": globals_}
