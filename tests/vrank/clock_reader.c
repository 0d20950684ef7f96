/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clock very often, but does not poll it: it does something else in between. */
#include <mpi.h>

int main(int argc, char **argv)
{
    enum { CALLS = 3000 };
    double sum = 0;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < CALLS; i++) {
        double begin = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        sum += MPI_Wtime() - begin;
    }
    MPI_Finalize();
    return sum < 0;
}
