# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who has an MPI program and wonders about another machine."""
import os
import pathlib
import subprocess

from minutes import BUILD, check, document, finish, page, says, weft

PROGRAM = """#include <mpi.h>
int main(int argc, char **argv)
{
    double mine = 1, sum = 0, edge[1000] = {0}, other[1000];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(edge, 1000, MPI_DOUBLE, (rank + 1) % size, 0, other, 1000, MPI_DOUBLE, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum != size;
}
"""

# A farm: whoever is ready gets the next column; an odd number of ranks, teams of two sizes.
FARM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, tasks, half;
    double grid[64][64] = {{0}}, column[64], best;
    MPI_Comm team;
    MPI_Datatype stripe;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tasks = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Type_vector(64, 1, 64, MPI_DOUBLE, &stripe);
    MPI_Type_commit(&stripe);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &team);
    MPI_Comm_size(team, &half);
    if (rank == 0) {
        for (int sent = 0, back = 0; back < tasks + size - 1;) {
            MPI_Status from;
            MPI_Recv(column, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &from);
            back++;
            MPI_Send(grid, 1, stripe, from.MPI_SOURCE, sent++ < tasks ? 2 : 3, MPI_COMM_WORLD);
        }
    } else {
        for (MPI_Status got = {0}; got.MPI_TAG != 3;) {
            MPI_Send(column, 64, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(column, 64, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &got);
        }
    }
    best = rank;
    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_MAX, team);
    if (rank == 0) printf("%d tasks, best %g, team of %d\\n", tasks, best, half);
    MPI_Comm_free(&team);
    MPI_Type_free(&stripe);
    MPI_Finalize();
    return 0;
}
"""
# What he has under his desk.
LAB = """name: lab
summary: six PCs under a desk
topology: star:6
network: {model: packet, bandwidth: 2.5Gbit/s, link_latency: 1us}
node: {o_send: 3us, o_recv: 3us}
ranks_per_node: 4
"""


def own_program(weftcc):
    """An irregular program on a machine of his own, and on more ranks than the machine has room for."""
    pathlib.Path("farm.c").write_text(FARM, encoding="ascii")
    pathlib.Path("lab.yaml").write_text(LAB, encoding="ascii")
    subprocess.run([weftcc, "farm.c", "-o", "farm"], check=True)
    done = says(["run", "-n", "13", "--compute", "none", "--machine", "lab.yaml", "--trace", "farm.weft", "./farm", "40"],
                "40 tasks, best 12, team of 7", "4 nodes used, up to 4 ranks on each")
    weft("replay", "farm.weft", "--machine", "lab.yaml", "-q", "-o", "farm.json")
    says(["explain", "farm.json"], "What would save time, at most")
    says(["table", "farm.weft", "--machine", "gige,lab.yaml,frontier", "-q", "--plot", "farm.png"], "lab.yaml", "frontier")
    weft("replay", "farm.weft", "--machine", "lab.yaml", "-q", "-o", "farm.html")
    page("farm.html", "lab.yaml", "Critical path")
    done = weft("run", "-n", "40", "--compute", "none", "--machine", "lab.yaml", "./farm", code=3)
    check("40 ranks, 4 on a node, need 10 nodes, but star:6 has only 6" in done.stderr, "no room", done)


def main():
    pathlib.Path("app.c").write_text(PROGRAM, encoding="ascii")
    weftcc, trace = BUILD / "weftcc", ["gen", "stencil2d", "-n", "16", "-o", "app.weft"]
    if weftcc.exists() and "WEFT_NO_PROGRAMS" not in os.environ:
        subprocess.run([weftcc, "app.c", "-o", "app"], check=True)
        # The first run writes a trace; then the same program on a machine that is not there.
        trace = ["run", "-n", "16", "-q", "--trace", "app.weft", "./app"]
        own_program(weftcc)
    weft(*trace)
    says(["info", "app.weft"], "16")
    done = weft("replay", "app.weft", "--machine", "frontier", "-o", "one.json")
    check(done.stderr == "" or "note" in done.stderr, "surprises", done)
    # All ranks are on one node: nothing may say that a network would help.
    done = says(["explain", "one.json"], "2 nodes used")
    check("unknown" not in done.stdout and "What would save time, at most" in done.stdout, "no answer", done)
    weft("replay", "app.weft", "--machine", "gige", "-q", "-o", "gige.json")
    done = says(["compare", "gige.json", "one.json"], "faster", code=1)
    check("frontier, was gige" in done.stdout, "the machine is not named", done)
    weft("replay", "app.weft", "--machine", "frontier", "-q", "-o", "one.html")
    page("one.html", "predicted time", "frontier")
    check(document("one.json")["result"]["status"] == "completed", "not completed")
    finish()


main()
