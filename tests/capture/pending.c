/* SPDX-License-Identifier: Apache-2.0 */
/* Receives from anybody that wait for long, or without end; two ranks. */
#include <mpi.h>
#include <stdio.h>

enum { LONG = 20000, TOO_LONG = 140000, POLLS = 30000, TAG = 5 };

static int rank, data;

/* Ops that no message is needed for. */
static void fill(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    }
}

static MPI_Request from_anybody(void)
{
    MPI_Request request;

    MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    return request;
}

static void cancel(MPI_Request request)
{
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Complete long after it was posted. */
static void late(void)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (rank == 0) {
        request = from_anybody();
        fill(LONG);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Send(&data, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Asked for, and never sent: told apart from all others by the request's number. */
static void never(int n)
{
    MPI_Request request = from_anybody();
    int done = 0;

    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    fill(n);
    cancel(request);
}

/* It comes before it is cancelled, or behind that. */
static void raced(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int cancelled = 0;

    if (rank == 0) {
        request = from_anybody();
    } else {
        MPI_Send(&data, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        if (cancelled) {
            MPI_Recv(&data, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Two requests are asked about in turn, as a program does that waits for either. */
static void polled(void)
{
    MPI_Request both[2] = {from_anybody(), from_anybody()};
    int done;

    for (int i = 0; i < POLLS; i++) {
        MPI_Test(&both[i % 2], &done, MPI_STATUS_IGNORE);
    }
    cancel(both[1]);
    cancel(both[0]);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    int done;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    late();
    if (rank == 0) {
        never(LONG);
        MPI_Irecv(&data, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD, &request);
        cancel(request);
        polled();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    raced();
    /* The last, since a replay lets it have any message that comes. */
    if (rank == 0) {
        never(TOO_LONG);
    }
    request = from_anybody();
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (rank == 0) {
        printf("%s\n", done ? "wrong" : "done");
    }
    MPI_Finalize();
    return 0;
}
