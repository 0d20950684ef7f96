/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: waits and tests of all kinds, persistent, cancelled, freed and general ones. */
#include "report.h"

static int rank, size, left, right;

static void sets(void)
{
    int in[6], out[6], index, flag, n, seen = 0, indices[6];
    MPI_Request requests[12];
    MPI_Status statuses[12], status;

    for (int i = 0; i < 6; i++) {
        out[i] = 10 * rank + i;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 6; i++) {
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[6 + i]);
    }
    MPI_Waitall(6, requests + 6, statuses);
    for (int i = 0; i < 2; i++) {
        MPI_Waitany(6, requests, &index, &status);
        seen |= status.MPI_TAG == index && in[index] == 10 * left + index ? 1 << index : 0;
    }
    for (flag = 0; !flag;) {
        MPI_Testany(6, requests, &index, &flag, &status);
    }
    seen |= 1 << index;
    MPI_Waitsome(6, requests, &n, indices, statuses);
    for (int i = 0; i < n; i++) {
        seen |= statuses[i].MPI_TAG == indices[i] ? 1 << indices[i] : 0;
    }
    while (n != MPI_UNDEFINED) {
        MPI_Testsome(6, requests, &n, indices, statuses);
        for (int i = 0; n != MPI_UNDEFINED && i < n; i++) {
            seen |= 1 << indices[i];
        }
    }
    say("sets: seen %d", seen);
    say_ints("received", in, 6);
    MPI_Waitany(6, requests, &index, &status);
    say("nothing left: %d", index == MPI_UNDEFINED);
    MPI_Testall(6, requests, &flag, statuses);
    say("all of nothing: %d", flag);
    MPI_Test(&requests[0], &flag, &status);
    say("null: %d source %d", flag, status.MPI_SOURCE == MPI_ANY_SOURCE);
}

/* Receives of few tags, of any tag, and longer than buffers of the library, waited for from the last to the first; the
 * oldest message goes to a receive that is cancelled too late, or waits alone. */
static void reversed(void)
{
    enum { N = 40, LONG = 20000 };
    static int in[N][LONG], out[N][LONG];
    MPI_Request requests[N], sends[N];
    MPI_Status status;
    int flag;

    for (int i = 0; i < N; i++) {
        int any = i % 10 == 9, n = i % 4 == 0 ? LONG : 1;
        out[i][0] = 1000 * rank + i;
        out[i][n - 1] = 1000 * rank + i;
        MPI_Irecv(in[i], LONG, MPI_INT, left, any ? MPI_ANY_TAG : 90 + i % 2, MPI_COMM_WORLD,
                  &requests[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Isend(out[i], i % 4 == 0 ? LONG : 1, MPI_INT, right, 90 + i % 2, MPI_COMM_WORLD,
                  &sends[i]);
    }
    for (int i = N - 1; i > 0; i--) {
        MPI_Wait(&requests[i], &status);
        say("reversed %d: %d %d, tag %d", i, in[i][0], in[i][i % 4 == 0 ? LONG - 1 : 0],
            status.MPI_TAG);
    }
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    say("the first: %d, cancelled %d", in[0][0], flag);
    MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
}

static void with_nobody(void)
{
    int in[3] = {-1, -1, -1}, index, flag;
    MPI_Request requests[3];
    MPI_Status statuses[3], status;

    MPI_Irecv(&in[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitany(2, requests, &index, &status);
    say("some: %d", index < 2);
    MPI_Send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, statuses);
    MPI_Testall(3, requests, &flag, statuses);
    say("then: %d %d", in[0], flag);
}

static void persistent(void)
{
    int in = -1, out = 0, flag;
    MPI_Request requests[4];
    MPI_Status status;

    MPI_Recv_init(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 4; i++) {
        out = 100 * rank + i;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        say("started: %d %d", in, requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Wait(&requests[0], &status);
    MPI_Test(&requests[1], &flag, &status);
    say("not started: %d", flag);
    MPI_Ssend_init(&out, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &requests[2]);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &requests[3]);
    MPI_Start(&requests[2]);
    MPI_Start(&requests[3]);
    MPI_Wait(&requests[3], &status);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    say("any source: %d from %d", in, status.MPI_SOURCE);
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(&requests[i]);
    }
    say("freed: %d", requests[3] == MPI_REQUEST_NULL);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], &status);
    say("from nobody: %d", in);
    MPI_Request_free(&requests[0]);
}

static void cancelled(void)
{
    int in = -7, flag;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&in, 1, MPI_INT, left, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    say("cancelled: %d", flag);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody sends before */
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 77, &in, 1, MPI_INT, left, 77, MPI_COMM_WORLD,
                 &status);
    MPI_Test_cancelled(&status, &flag);
    say("the message goes to the next: %d %d", in, flag);
    MPI_Irecv(&in, 1, MPI_INT, left, 78, MPI_COMM_WORLD, &request);
    MPI_Send(&size, 1, MPI_INT, right, 78, MPI_COMM_WORLD);
    for (flag = 0; !flag;) {
        MPI_Request_get_status(request, &flag, &status);
    }
    say("looked at: %d from %d, still there %d", in, status.MPI_SOURCE,
        request != MPI_REQUEST_NULL);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    say("too late: %d %d", flag, status.MPI_TAG);
    MPI_Isend(&rank, 1, MPI_INT, right, 79, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(&in, 1, MPI_INT, left, 79, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("freed send: %d", in);
}

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    return MPI_SUCCESS;
}

static void general(void)
{
    int state = 5, flag, count;
    MPI_Request request;
    MPI_Status status;

    MPI_Grequest_start(query, release, cancel, &state, &request);
    MPI_Test(&request, &flag, &status);
    say("general: %d", flag);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("complete: %d elements, tag %d, released %d", count, status.MPI_TAG, state);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    sets();
    reversed();
    with_nobody();
    persistent();
    cancelled();
    general();
    say_all();
    return 0;
}
