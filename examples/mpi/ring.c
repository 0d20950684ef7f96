/* SPDX-License-Identifier: Apache-2.0 */
/* A token goes around a ring of all ranks; each adds its number. usage: ring [rounds] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 3;
    long token = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds && size > 1; i++) {
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_LONG, 1, i, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_LONG, size - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, (rank + 1) % size, i, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("token %ld after %d rounds of %d ranks\n", token, rounds, size);
    }
    MPI_Finalize();
    return 0;
}
