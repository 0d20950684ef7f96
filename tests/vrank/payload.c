/* SPDX-License-Identifier: Apache-2.0 */
/* Large and small data in all kinds of calls, for --no-payload: small data arrives, large data
 * only takes its time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 18 };

/* Writes where it must not: to a message that is on its way, which is somewhere between what
 * was allocated before and after it. */
static void spoil(int rank)
{
    enum { N = 5000 };
    char *before = malloc(N), pattern[N];

    memset(pattern, 0x5a, N);
    MPI_Send(pattern, N, MPI_CHAR, rank, 0, MPI_COMM_WORLD);
    char *after = malloc(N);
    for (char *at = before; before < after && at < after - 64; at++) {
        if (memcmp(at, pattern, 64) == 0) {
            at[32] = 0;
            break;
        }
    }
    MPI_Recv(pattern, N, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf(memchr(pattern, 0, N) == NULL ? "not found\n" : "spoilt\n");
    free(before);
    free(after);
}

/* On a ring of all ranks. */
static void neighborhood(const char *out, char *in, int size)
{
    MPI_Comm ring;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (const int[]){1}, 0, &ring);
    MPI_Neighbor_alltoall(out, LARGE / 2, MPI_CHAR, in, LARGE / 2, MPI_CHAR, ring);
    MPI_Neighbor_allgather(out, LARGE / 2, MPI_CHAR, in, LARGE / 2, MPI_CHAR, ring);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    int rank, size, count, small;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = malloc((size_t)LARGE * size), *in = malloc((size_t)LARGE * size);
    memset(out, rank + 1, (size_t)LARGE * size);
    memset(in, 0, (size_t)LARGE * size);
    for (int i = 0; i < 8; i++) {
        MPI_Send(out, LARGE, MPI_CHAR, (rank + 1) % size, i, MPI_COMM_WORLD);
    }
    small = rank;
    if (argc > 1) {
        spoil(rank);
    }
    for (int i = 7; i >= 0; i--) {
        MPI_Recv(in, LARGE, MPI_CHAR, (rank + size - 1) % size, i, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        if (count != LARGE) {
            printf("rank %d got %d bytes\n", rank, count);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &small, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, LARGE, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    MPI_Alltoall(out, LARGE, MPI_CHAR, in, LARGE, MPI_CHAR, MPI_COMM_WORLD);
    neighborhood(out, in, size);
    MPI_Bcast(out, LARGE, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Scan(out, in, LARGE, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %d, last %d\n", small, in[LARGE - 1]);
    }
    MPI_Finalize();
    return 0;
}
