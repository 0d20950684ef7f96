/* SPDX-License-Identifier: Apache-2.0 */
/* One function that two others call, for stacks of calls. */
#include <mpi.h>

static int token;

__attribute__((noinline)) static void pass_on(int rank, int size)
{
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token++; /* or the call above would be a jump */
}

__attribute__((noinline)) static void solve(int rank, int size)
{
    for (int i = 0; i < 3; i++) {
        pass_on(rank, size);
    }
    token++;
}

__attribute__((noinline)) static void check_it(int rank, int size)
{
    pass_on(rank, size);
    MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    token++;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    solve(rank, size);
    check_it(rank, size);
    MPI_Finalize();
    return token < 0;
}
