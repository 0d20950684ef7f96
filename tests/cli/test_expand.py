# SPDX-License-Identifier: Apache-2.0
"""weft convert --expand-collectives: the messages of a trace take as long as its collectives, by
the rules of both implementations, and nonblocking ones reach their end."""
import csv
import pathlib

from weft_cli import check, check_run, finish, parse, sample

KINDS = ("barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv",
         "allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter",
         "reduce_scatter_block", "scan", "exscan", "neighbor_allgather", "neighbor_alltoall")
NETS = (["--net", "loggp"], ["--net", "latency", "--topo", "torus:4x4"])
# Ranks, bytes, root: short and long, and not only powers of two.
SHAPES = ((2, 8, 1), (5, 100, 3), (7, 300000, 0), (8, 70000, 6), (12, 5000, 2))
KINDS = sample(KINDS, 4)


def predicted(trace, *words):
    """Picoseconds on each network."""
    return [parse(check_run(["replay", trace, *net, *words, "--json"], 0))
            ["result"]["predicted_time_ps"] for net in NETS]


def expand(trace, out, *words, stderr=""):
    check_run(["convert", trace, out, "-f", "--expand-collectives", *words], 0, stderr=stderr)
    with open_csv(out) as lines:
        kinds = {row["kind"] for row in csv.DictReader(lines)}
    check(kinds <= {"compute", "isend", "irecv", "waitall", "send", "recv", "wait", "call", "init",
                    "finalize", "region_begin", "region_end", "iteration_begin",
                    "iteration_end"}, f"{trace}: messages and nothing else: {kinds}")


def open_csv(trace):
    check_run(["convert", trace, "ops.csv", "-f"], 0, stderr="not in a .csv")
    return open("ops.csv", encoding="utf-8")


def test_times():
    """Every kind, by both rules; a setting that the expansion and the replay share."""
    for i, kind in enumerate(KINDS):
        for k, (ranks, size, root) in enumerate(SHAPES):
            rules = ("mpich", "openmpi")[(i + k) % 2:] if k > 1 else ("mpich", "openmpi")
            check_run(["gen", "coll", "-n", str(ranks), "-o", "c.weft", "-f",
                       "-p", f"gen.kind={kind}", "-p", f"gen.bytes={size}",
                       "-p", f"gen.root={root}", "-p", "gen.iterations=2",
                       "-p", "gen.compute=3us"], 0)
            for rule in rules:
                word = ("-p", f"mpi.rules={rule}")
                expand("c.weft", "x.weft", *word)
                check(predicted("x.weft") == predicted("c.weft", *word),
                      f"{kind} of {size} bytes on {ranks} ranks by the rules of {rule}")


def test_settings():
    check_run(["gen", "coll", "-n", "6", "-o", "c.weft", "-f", "-p", "gen.kind=allreduce",
               "-p", "gen.bytes=60000"], 0)
    times = set()
    for words in ([], ["-p", "mpi.allreduce=ring"], ["-p", "mpi.allreduce=reduce_bcast"]):
        expand("c.weft", "x.weft", *words)
        check(predicted("x.weft") == predicted("c.weft", *words), f"an algorithm: {words}")
        times.add(tuple(predicted("x.weft")))
    check(len(times) == 3, f"three algorithms, three times: {times}")
    out = ["convert", "c.weft", "y.weft"]
    check_run([*out, "--expand-collectives", "-p", "mpi.rules=lam"], 2, stderr="mpi.rules")
    check_run([*out, "--expand-collectives", "-p", "mpi.bcast=ideal"], 2,
              stderr="mpi.bcast: no algorithm 'ideal' with messages")
    check_run([*out, "--expand-collectives", "-p", "mpi.eager_max=1"], 2, stderr="mpi.eager_max")
    check_run([*out, "-p", "mpi.rules=openmpi"], 2, stderr="with --expand-collectives")
    check(not pathlib.Path("y.weft").exists(), "nothing is written")


def test_communicators():
    for rule in ("mpich", "openmpi"):
        for program, ranks in (("fft", 12), ("cg", 8)):
            word = ("-p", f"mpi.rules={rule}")
            check_run(["gen", program, "-n", str(ranks), "-o", "g.weft", "-f"], 0)
            expand("g.weft", "x.weft", *word)
            check(predicted("x.weft") == predicted("g.weft", *word), f"{program} by {rule}")


def test_nonblocking():
    """They end whatever the ranks do; where there is one round the time is that of the data."""
    for kind in KINDS:
        check_run(["gen", "coll", "-n", "7", "-o", "c.weft", "-f", "-p", f"gen.kind={kind}",
                   "-p", "gen.nonblocking=true", "-p", "gen.compute=1ms", "-p", "gen.root=2",
                   "-p", "gen.bytes=4000", "-p", "gen.iterations=3"], 0)
        for rule in ("mpich", "openmpi"):
            expand("c.weft", "x.weft", "-p", f"mpi.rules={rule}", stderr="()")
            before, after = predicted("c.weft", "-p", f"mpi.rules={rule}"), predicted("x.weft")
            # All computing is in both, and what cannot overlap comes behind it.
            check(all(3 * 10**9 <= a <= b + 3 * 10**8 for a, b in zip(after, before)),
                  f"{kind} by {rule}: {before} {after}")
    check_run(["gen", "training", "-n", "6", "-o", "t.weft", "-f"], 0)
    expand("t.weft", "x.weft", stderr="nonblocking collectives that overlap with computing")
    check_run(["replay", "x.weft", "--net", "loggp"], 0)


def main():
    test_times()
    test_settings()
    test_communicators()
    test_nonblocking()
    finish()


main()
