/* SPDX-License-Identifier: Apache-2.0 */
/* Partitioned communication (MPI-4.0, 4), with different partitions on both sides, types
 * with gaps, and every function that completes a request. */
#include "report.h"

enum { N = 24 };

static int rank, size, left, right;

static int wrong_values(const int *list, int round)
{
    int wrong = 0;

    for (int i = 0; i < N; i++) {
        wrong += list[i] != 1000 * round + 100 * left + i;
    }
    return wrong;
}

static void fill(int *out, int *in, int round)
{
    for (int i = 0; i < N; i++) {
        out[i] = 1000 * round + 100 * rank + i;
        in[i] = -1;
    }
}

/* `to` partitions at the sender, `from` at the receiver. */
static void ring(int to, int from)
{
    int out[N], in[N], flag;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Precv_init(in, from, N / from, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Psend_init(out, to, N / to, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    for (int round = 0; round < 3; round++) {
        fill(out, in, round);
        MPI_Startall(2, requests);
        MPI_Pready(to - 1, requests[1]);
        if (to > 2) {
            MPI_Pready_range(0, to - 3, requests[1]);
        }
        if (to > 1) {
            const int list[1] = {to - 2};
            MPI_Pready_list(1, list, requests[1]);
        }
        for (int i = 0; i < from && round == 1; i++) {
            for (flag = 0; !flag;) {
                MPI_Parrived(requests[0], i, &flag);
            }
        }
        say("arrived: %d wrong", round == 1 ? wrong_values(in, round) : 0);
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[0], MPI_INT, &flag);
        say("%d to %d: %d wrong, %d from %d tag %d", to, from, wrong_values(in, round), flag,
            statuses[0].MPI_SOURCE, statuses[0].MPI_TAG);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Every other integer, in both buffers. */
static void gaps(void)
{
    int out[2 * N], in[2 * N], flag = 0, wrong = 0;
    MPI_Datatype every_other;
    MPI_Request requests[2];

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < 2 * N; i++) {
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
    MPI_Precv_init(in, 2, N / 2, every_other, left, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Psend_init(out, 3, N / 3, every_other, right, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    MPI_Type_free(&every_other);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 2, requests[1]);
    while (!flag) {
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2 * N; i++) {
        wrong += in[i] != (i % 2 == 0 ? 100 * left + i : -1);
    }
    say("gaps: %d wrong", wrong);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Together with other requests, under every function that waits or tests. */
static void mixed(void)
{
    int out[N], in[N], extra = -1, index, n, indices[3], done = 0, flag;
    MPI_Request requests[3];

    MPI_Psend_init(out, 4, N / 4, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(in, 2, N / 2, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int how = 0; how < 5; how++) {
        fill(out, in, how);
        MPI_Startall(2, requests);
        MPI_Irecv(&extra, 1, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[2]);
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        say("not ready: %d wrong", flag != 0);
        MPI_Pready_range(0, 3, requests[0]);
        MPI_Send(&how, 1, MPI_INT, right, 8, MPI_COMM_WORLD);
        for (done = 0; done < 3;) {
            n = 1;
            flag = 1;
            if (how == 0) {
                MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
            } else if (how == 1) {
                MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
            } else if (how == 2) {
                MPI_Waitsome(3, requests, &n, indices, MPI_STATUSES_IGNORE);
            } else if (how == 3) {
                MPI_Testsome(3, requests, &n, indices, MPI_STATUSES_IGNORE);
            } else {
                MPI_Wait(&requests[done], MPI_STATUS_IGNORE);
            }
            done += flag && n != MPI_UNDEFINED ? n : 0;
        }
        say("how %d: %d wrong, %d wrong", how, wrong_values(in, how), extra != how);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Two pairs with the same tag match in the order in which they were created. */
static void same_tag(void)
{
    int out[2] = {rank, 10 + rank}, in[2] = {-1, -1};
    MPI_Request send[2], recv[2];

    for (int i = 0; i < 2; i++) {
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, 9, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &send[i]);
        MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &recv[i]);
    }
    MPI_Startall(2, recv);
    for (int i = 1; i >= 0; i--) {
        MPI_Start(&send[i]);
        MPI_Pready(0, send[i]);
    }
    MPI_Waitall(2, recv, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, send, MPI_STATUSES_IGNORE);
    say("same tag: %d wrong", (in[0] != left) + (in[1] != 10 + left));
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&send[i]);
        MPI_Request_free(&recv[i]);
    }
    /* With nobody. */
    MPI_Psend_init(out, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &send[0]);
    MPI_Precv_init(in, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &recv[0]);
    MPI_Start(&send[0]);
    MPI_Start(&recv[0]);
    MPI_Pready(0, send[0]);
    MPI_Wait(&send[0], MPI_STATUS_IGNORE);
    MPI_Wait(&recv[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&send[0]);
    MPI_Request_free(&recv[0]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    ring(1, 1);
    ring(4, 4);
    ring(2, 6);
    ring(6, 4);
    ring(8, 1);
    gaps();
    mixed();
    same_tag();
    say_all();
    return 0;
}
