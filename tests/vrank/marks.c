/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, iterations, WEFT_COMPUTE(), and receives from any source, so that the recorder has
 * ops to hold. */
#include <mpi.h>
#include <stdio.h>
#include <weft/mark.h>

enum { STEPS = 5 };

static void exchange(int rank, int size, MPI_Comm comm)
{
    MPI_Request requests[3];
    int out = rank, in[2] = {0, 0}, index;

    MPI_Irecv(&in[0], 1, MPI_INT, (rank + size - 1) % size, 1, comm, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &requests[1]);
    MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 1, comm);
    MPI_Isend(&out, 1, MPI_INT, (rank + 2) % size, 2, comm, &requests[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm half;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int again = 0; again < 2; again++) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        int own;
        MPI_Comm_rank(half, &own);
        MPI_Comm_size(half, &size);
        weft_region_begin("solve");
        for (int i = 0; i < STEPS; i++) {
            weft_iteration_begin();
            WEFT_COMPUTE(1e-6 * (rank % 3 + 1));
            exchange(own, size, half);
            weft_iteration_end();
        }
        weft_region_end("solve");
        MPI_Comm_free(&half);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
