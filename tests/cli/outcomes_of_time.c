/* SPDX-License-Identifier: Apache-2.0 */
/* Waits whose outcome depends on time, polling and neighbour collectives, on a ring of ranks. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, periodic = 1, flag = 0, which, n, done[4];
    MPI_Request requests[4];
    MPI_Comm ring;
    char buffers[4][64];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_rank(ring, &rank);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(buffers[0], 64, MPI_BYTE, left, 0, ring, &requests[0]);
        MPI_Irecv(buffers[1], 64, MPI_BYTE, right, 1, ring, &requests[1]);
        MPI_Isend(buffers[2], 64, MPI_BYTE, right, 0, ring, &requests[2]);
        MPI_Isend(buffers[3], 64, MPI_BYTE, left, 1, ring, &requests[3]);
        if (i % 2 == 0) {
            for (int k = 0; k < 4; k++) {
                MPI_Waitany(4, requests, &which, MPI_STATUS_IGNORE);
            }
        } else {
            for (int k = 0; k < 4; k += n) {
                MPI_Waitsome(4, requests, &n, done, MPI_STATUSES_IGNORE);
            }
        }
        MPI_Neighbor_alltoall(buffers[0], 32, MPI_BYTE, buffers[2], 32, MPI_BYTE, ring);
        if (rank % 2 == 0) {
            MPI_Send(buffers[0], 8, MPI_BYTE, right, 2, ring);
        } else {
            for (flag = 0; !flag;) {
                MPI_Iprobe(left, 2, ring, &flag, MPI_STATUS_IGNORE);
            }
            MPI_Recv(buffers[1], 64, MPI_BYTE, left, 2, ring, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
