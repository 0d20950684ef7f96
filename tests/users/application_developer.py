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


def main():
    pathlib.Path("app.c").write_text(PROGRAM, encoding="ascii")
    weftcc, trace = BUILD / "weftcc", ["gen", "stencil2d", "-n", "16", "-o", "app.weft"]
    if weftcc.exists() and "WEFT_NO_PROGRAMS" not in os.environ:
        subprocess.run([weftcc, "app.c", "-o", "app"], check=True)
        # The first run writes a trace; then the same program on a machine that is not there.
        trace = ["run", "-n", "16", "-q", "--trace", "app.weft", "./app"]
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
