/* SPDX-License-Identifier: Apache-2.0 */
/* Computes and exchanges, and appends its rank to a file each time it is executed. Its
 * arguments are that file, how often one rank computes longer than the others, and that
 * rank; or that file and a word: crash, or uneven, which has it call a collective with different
 * sizes and handle the error. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 20, WORK = 100000 };

static double work(long times)
{
    volatile double sum = 0;

    for (long i = 0; i < times * WORK; i++) {
        sum += (double)i;
    }
    return sum;
}

static void uneven(int rank)
{
    int values[2] = {1, 2};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Bcast(values, rank == 0 ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0 && code == MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = fopen(argv[1], "a");
    (void)fprintf(file, "%d\n", rank);
    (void)fclose(file);
    if (argc == 3 && strcmp(argv[2], "crash") == 0 && rank == 0) {
        *(volatile int *)argv[argc] = 1; /* the null pointer at the end */
    }
    if (argc == 3 && strcmp(argv[2], "uneven") == 0) {
        uneven(rank);
    }
    for (int i = 0; i < TIMES; i++) {
        int slow = argc > 3 && rank == (int)strtol(argv[3], NULL, 10) && i == TIMES / 2;
        sum += work(slow ? strtol(argv[2], NULL, 10) : 1);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("ended with %g\n", all);
    }
    MPI_Finalize();
    return 0;
}
