# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who types fast: each mistake gets one line that names the remedy."""
from minutes import check, finish, says, weft

MISTAKES = (
    ("explian r.json", "did you mean 'explain'"),
    ("replay gen:stencil -n 8", "did you mean 'stencil2d'"),
    ("replay gen:ring -n 8 --machine frontir", "did you mean 'frontier'"),
    ("replay gen:ring -n 8 --topology torus:4x4", "did you mean '--topo'"),
    ("replay gen:ring -n 8 --topo tours:4x4", "did you mean 'torus'"),
    ("replay gen:ring -n eight", "expected a whole number"),
    ("replay gen:ring -n 8 -p net.bandwith=1GB/s", "did you mean 'net.bandwidth'"),
    ("replay gen:ring -n 8 -p net.bandwidth=1GBs", "such as 25GB/s"),
    ("replay nosuch.weft", "No such file"),
    ("compare run.json", "a result document is missing"),
    ("coll time allredcue -n 8", "did you mean 'allreduce'"),
    ("topo dragonfly", "dragonfly:<h>"),
    ("machine show fronteir", "did you mean 'frontier'"),
    ("traffic unifrom --topo torus:4x4 --load 0.3", "did you mean 'uniform'"),
    ("capture mpirun -n 2 ./app", "the program comes after '--'"),
    ("replay gen:ring -n 4 -o run.docx", ".html"),
    ("run -np 4 ./a.out", "did you mean '-n'"),
    ("replay gen:ring -n 8 -p bandwidth=10GB/s", "did you mean 'net.bandwidth'"),
    ("replay gen:ring -n 8 -p net.latency=5us", "there are L, "),
    ("replay gen:ring -n 1e3", "expected a whole number such as 42"),
    ("replay gen:ring", "the number of ranks is missing: -n <count>"),
    ("replay gen:ring -n 8 --machine", "needs an argument: <name|file>"),
    ("replay gen:ring -n 8 --net packet --topo fat-tree:4x4", "did you mean 'fattree'"),
    ("traffic uniform --topo torus:4x4 --load 30%", "as in 0.05:0.9:0.05"),
    ("coll time alltoal -n 8", "did you mean 'alltoall'"),
    ("export run.json", "did you mean 'report'"),
    ("machine h100", "expected list, show or check"),
    ("sweep run.json", "cannot read 'run.json': No such file"),
)


def main():
    for command, words in MISTAKES:
        args = command.split()
        done = says(args, words, code=3 if "No such" in words or "frontier" in words or "torus" in words or "fattree" in words or "uniform" in words or
                    "dragonfly:" in words else 2)
        check(done.stderr.startswith("weft: ") and done.stderr.count("\n") == 1 and done.stdout == "", command, done)
    weft("replay", "gen:ring", "-n", "4", "-q", "-o", "run.json")
    says(["replay", "run.json"], "is a result of weft, not a trace", code=3)
    says(["replay", "gen:ring", "-n", "4", "-q", "-o", "run.json"], "exists", code=3)
    finish()


main()
