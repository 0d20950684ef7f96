/* SPDX-License-Identifier: Apache-2.0 */
/* After all ranks have met, the last one ends the program early, as its argument says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void end_alone(const char *how)
{
    if (strcmp(how, "abort") == 0 || strcmp(how, "abort others") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 7);
    } else if (strcmp(how, "exit") == 0) {
        exit(3);
    } else if (strcmp(how, "crash") == 0) {
        *(volatile int *)8 = 1;
    }
}

/* What the others do meanwhile would take for ever. */
static void go_on(const char *how, int rank, int size)
{
    int flag = 0, word = 0;

    if (strcmp(how, "deadlock") == 0) {
        MPI_Recv(&word, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "shared memory") == 0) {
        MPI_Win win;
        void *memory;
        MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    }
    while (strcmp(how, "abort others") == 0 && !flag) {
        MPI_Iprobe(size - 1, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    while (strcmp(how, "forever") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size, code = 0, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d is here\n", rank);
    fflush(stdout);
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == size - 1) {
        end_alone(argv[1]);
        code = strcmp(argv[1], "return") == 0 ? 9 : 0;
    }
    go_on(argv[1], rank, size);
    MPI_Finalize();
    return code;
}
