/* SPDX-License-Identifier: Apache-2.0 */
/* A master hands out tasks to two slaves that ask for them (INSEE, Fig. 4). In version A it receives
 * from slave 1 and slave 2 in turn, in version B from whoever asks first.
 * usage: masterslave A|B [tasks] [us of a task on slave 1] [us on slave 2] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/mark.h>

enum { TAG_ASK, TAG_TASK };

static int serve(int source, int answer)
{
    MPI_Status status;
    int ask;

    MPI_Recv(&ask, 1, MPI_INT, source, TAG_ASK, MPI_COMM_WORLD, &status);
    MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, TAG_TASK, MPI_COMM_WORLD);
    return status.MPI_SOURCE;
}

static void lead(int in_turn, int tasks)
{
    int done[3] = {0, 0, 0};

    for (int i = 0; i < tasks; i++) {
        done[serve(in_turn ? 1 + i % 2 : MPI_ANY_SOURCE, 1)]++;
    }
    for (int i = 0; i < 2; i++) { /* nothing is left */
        serve(in_turn ? 1 + i : MPI_ANY_SOURCE, 0);
    }
    printf("slave 1 did %d tasks, slave 2 %d\n", done[1], done[2]);
}

static void work(int rank, double us)
{
    int more;

    do {
        WEFT_COMPUTE(us * 1e-6);
        MPI_Send(&rank, 1, MPI_INT, 0, TAG_ASK, MPI_COMM_WORLD);
        MPI_Recv(&more, 1, MPI_INT, 0, TAG_TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } while (more);
}

int main(int argc, char **argv)
{
    int rank, size, tasks = argc > 2 ? atoi(argv[2]) : 8;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 3) {
        fprintf(stderr, "masterslave: a master and two slaves are 3 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        lead(argc > 1 && argv[1][0] == 'A', tasks);
    } else {
        work(rank, argc > 2 + rank ? atof(argv[2 + rank]) : 10);
    }
    MPI_Finalize();
    return 0;
}
