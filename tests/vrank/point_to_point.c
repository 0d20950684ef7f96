/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives of all kinds. */
#include "report.h"

static int rank, size, left, right;

static void modes(void)
{
    int in[4] = {0}, out = 100 * rank;
    char room[1024];
    void *buffer;
    int bytes;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say("send: %d from %d tag %d", in[0], status.MPI_SOURCE, status.MPI_TAG);
    MPI_Irecv(&in[1], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(&out, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&in[2], 1, MPI_INT, left, 3, MPI_COMM_WORLD, &request);
    MPI_Ssend(&out, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_attach(room, sizeof(room));
    MPI_Bsend(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
    MPI_Recv(&in[3], 1, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &bytes);
    say_ints("modes", in, 4);
    say("buffer %d %d", buffer == room, bytes);
}

static void order(void)
{
    int got[12];
    MPI_Request requests[12];

    /* Messages of one sender stay in order, also with wildcards among the receives. */
    for (int i = 0; i < 12; i++) {
        MPI_Irecv(&got[i], 1, MPI_INT, left, i % 3 == 0 ? MPI_ANY_TAG : 7, MPI_COMM_WORLD,
                  &requests[i]);
    }
    for (int i = 0; i < 12; i++) {
        int value = 1000 * rank + i;
        MPI_Send(&value, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    }
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    say_ints("order", got, 12);
}

static void shapes(void)
{
    double a[8], b[8];
    int count;
    MPI_Status status;

    for (int i = 0; i < 8; i++) {
        a[i] = rank + i / 8.0;
        b[i] = -1;
    }
    MPI_Sendrecv(a, 5, MPI_DOUBLE, right, 1, b, 8, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    say("sendrecv: %d of %d, %g %g %g", count, status.MPI_SOURCE, b[0], b[4], b[5]);
    MPI_Sendrecv_replace(a, 8, MPI_DOUBLE, right, 2, left, 2, MPI_COMM_WORLD, &status);
    say("replace: %g %g from %d", a[0], a[7], status.MPI_SOURCE);
    MPI_Recv(a, 8, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    say("nobody: %d %d %d", status.MPI_SOURCE == MPI_PROC_NULL, status.MPI_TAG == MPI_ANY_TAG,
        count);
    MPI_Send(a, 8, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Sendrecv(a, 1, MPI_DOUBLE, rank == size - 1 ? MPI_PROC_NULL : rank + 1, 3, b, 1,
                 MPI_DOUBLE, rank == 0 ? MPI_PROC_NULL : rank - 1, 3, MPI_COMM_WORLD, &status);
    say("line: %g", b[0]);
    MPI_Sendrecv(NULL, 0, MPI_INT, right, 9, NULL, 0, MPI_INT, left, 9, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("empty: %d tag %d", count, status.MPI_TAG);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 4, &count, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &status);
    say("self: %d", count);
}

static void probes(void)
{
    int n = 3 + rank, list[64], flag = 0, count;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;

    for (int i = 0; i < n; i++) {
        list[i] = 10 * rank + i;
    }
    MPI_Isend(list, n, MPI_INT, right, 40 + rank, MPI_COMM_WORLD, &request);
    MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("probe: %d tag %d", count, status.MPI_TAG);
    while (!flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &flag, &status);
    }
    MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Iprobe(left, status.MPI_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say("matched: nothing else %d", flag);
    int in[64];
    MPI_Mrecv(in, 64, MPI_INT, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    say("mrecv: %d of them, last %d, null %d", count, in[count - 1],
        message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(list, 2, MPI_INT, right, 50, MPI_COMM_WORLD, &request);
    for (flag = 0; !flag;) {
        MPI_Improbe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &flag, &message, &status);
    }
    MPI_Request again;
    MPI_Imrecv(in, 64, MPI_INT, &message, &again);
    MPI_Wait(&again, &status);
    say("imrecv: %d from %d", in[1], status.MPI_SOURCE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    say("mprobe of nobody: %d", message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(in, 1, MPI_INT, &message, &status);
}

/* Long messages, which take another way in most libraries. */
static void long_ones(void)
{
    enum { N = 100000 };
    int *a = malloc(N * sizeof(int)), *b = malloc(N * sizeof(int));
    unsigned sum = 0;
    MPI_Request requests[2];

    for (int i = 0; i < N; i++) {
        a[i] = rank * 7 + i;
    }
    MPI_Irecv(b, N, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(a, N, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        sum = sum * 31 + (unsigned)b[i];
    }
    say("long: %u", sum);
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    modes();
    order();
    shapes();
    probes();
    long_ones();
    say_all();
    return 0;
}
