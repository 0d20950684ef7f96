/* SPDX-License-Identifier: Apache-2.0 */
/* The output of ranks, in pieces and at the end, and how ranks end: for tests of `weft run`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int deeper(int n)
{
    volatile char used[1024];

    used[0] = (char)n;
    return n > 0 ? deeper(n - 1) + used[0] : 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("first %d,", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    fprintf(stdout, " then %d", rank);
    putchar('\n');
    fflush(stdout);
    if (write(STDOUT_FILENO, "past stdio\n", 11) != 11) {
        return 1;
    }
    if (rank == 2) {
        if (strcmp(how, "abort") == 0) {
            MPI_Abort(MPI_COMM_WORLD, 7);
        } else if (strcmp(how, "exit") == 0) {
            exit(5);
        } else if (strcmp(how, "crash") == 0) {
            *(volatile int *)(size_t)16 = rank;
        } else if (strcmp(how, "return") == 0) {
            return 6;
        } else if (strcmp(how, "overflow") == 0) {
            printf("%d\n", deeper(20000));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("no end");
    return strcmp(how, "late") == 0 ? 256 * rank + (rank > 1) : 0;
}
