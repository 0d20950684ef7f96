/* SPDX-License-Identifier: Apache-2.0 */
/* Two ranks that mostly compute, or mostly send: balance compute|communicate [rounds].
 * Prints how many milliseconds that took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 16 };

static double work(double x, int n)
{
    for (int i = 0; i < n; i++) {
        x = x * 1.0000001 + 1e-9;
    }
    return x;
}

int main(int argc, char **argv)
{
    int computes = argc > 1 && strcmp(argv[1], "compute") == 0;
    static char out[LARGEST], in[LARGEST];
    int rounds = argc > 2 ? atoi(argv[2]) : computes ? 200 : 4000;
    double x = 1, sum = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        int bytes = computes ? 4096 : 1 << (i % 17);
        x = work(x, computes ? 1000000 : 100);
        MPI_Sendrecv(out, bytes, MPI_CHAR, 1 - rank, 1, in, bytes, MPI_CHAR, 1 - rank, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 10 == 0) {
            MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("%.3f\n", sum > 0 ? (MPI_Wtime() - begin) * 1e3 : -1);
    }
    MPI_Finalize();
    return 0;
}
