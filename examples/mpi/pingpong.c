/* SPDX-License-Identifier: Apache-2.0 */
/* A message goes there and back between ranks 0 and 1, again and again.
 * usage: pingpong [round trips] [bytes] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 1000,
                    bytes = argc > 2 ? atoi(argv[2]) : 8;
    char *buffer = calloc((size_t)bytes + 1, 1);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds && rank < 2 && size > 1; i++) {
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("%d round trips of %d bytes, %.3f us each\n", rounds, bytes,
               (MPI_Wtime() - begin) * 1e6 / rounds);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
