/* SPDX-License-Identifier: Apache-2.0 */
/* Receives from a named rank that are cancelled, epochs of windows without fences, reductions
 * by each way to reduce, and calls for large counts; two ranks. */
#include <mpi.h>
#include <stdio.h>

enum { LONG = 20000, TAG = 7 };

static int rank, other, data[8];

/* Cancelled at once, or when it is in the file already; then what it was for is sent. */
static void cancelled(int n)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (rank == 0) {
        MPI_Irecv(data, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, &request);
        for (int i = 0; i < n; i++) {
            MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        }
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Irecv(data, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
    }
}

/* Cancelled in vain: it has come. */
static void too_late(void)
{
    MPI_Request request;
    int found = 0;

    if (rank == 1) {
        MPI_Send(data, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(data, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!found) {
        MPI_Iprobe(other, TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(data, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void locked(MPI_Win window)
{
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window);
    MPI_Put(&rank, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    MPI_Win_flush(other, window);
    MPI_Win_flush_local(other, window);
    MPI_Win_unlock(other, window);
    MPI_Win_lock_all(0, window);
    MPI_Put(&rank, 1, MPI_INT, other, 1, 1, MPI_INT, window);
    MPI_Accumulate(&rank, 1, MPI_INT, other, 2, 1, MPI_INT, MPI_REPLACE, window);
    MPI_Win_unlock_all(window);
}

static void exposed(MPI_Win window)
{
    MPI_Group all, one;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &one);
    MPI_Win_post(one, 0, window);
    MPI_Win_start(one, 0, window);
    MPI_Put(&rank, 1, MPI_INT, other, 3, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

static void add(void *in, void *out, int *n, MPI_Datatype *type)
{
    for (int i = 0; i < *n; i++) {
        ((int *)out)[i] += ((int *)in)[i];
    }
}

static void reduce(void)
{
    int pair[2] = {rank, rank}, counts[2] = {1, 1}, out[4] = {0};
    MPI_Op own;

    MPI_Op_create(add, 1, &own);
    MPI_Allreduce(pair, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(pair, out, 1, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);
    MPI_Scan(pair, out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Reduce_scatter(pair, out, counts, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    MPI_Allreduce(pair, out, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    MPI_Exscan(pair, out, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(pair, out, 1, MPI_INT, own, MPI_COMM_WORLD);
    MPI_Op_free(&own);
}

/* Where there are none, the ones that there are: the trace is the same. */
static void large(void)
{
#if MPI_VERSION >= 4 && !defined(OMPI_MAJOR_VERSION)
    MPI_Count six = 6;
    if (rank == 0) {
        MPI_Send_c(data, six, MPI_INT, other, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv_c(data, six, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast_c(data, six, MPI_INT, 0, MPI_COMM_WORLD);
#else
    if (rank == 0) {
        MPI_Send(data, 6, MPI_INT, other, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(data, 6, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(data, 6, MPI_INT, 0, MPI_COMM_WORLD);
#endif
}

int main(int argc, char **argv)
{
    static int memory[8];
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    cancelled(0);
    cancelled(LONG);
    too_late();
    reduce();
    large();
    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    locked(window);
    MPI_Barrier(MPI_COMM_WORLD);
    exposed(window);
    MPI_Win_free(&window);
    if (rank == 0) {
        printf("%d %d %d\n", memory[0], memory[1], memory[3]);
    }
    MPI_Finalize();
    return 0;
}
