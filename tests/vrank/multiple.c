/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_THREAD_MULTIPLE: while a thread waits in a call of MPI, others of its rank go on. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <weft/mark.h>

enum { THREADS = 4, ROUNDS = 5, SELF = 7, PROBED = 50, PARTITIONS = 6 };

static int rank, size, wrong;
static MPI_Comm comms[THREADS];

static void expect(const char *what, int got, int wanted)
{
    if (got != wanted) {
        wrong++;
        printf("rank %d: %s: %d, not %d\n", rank, what, got, wanted);
    }
}

/* Its message comes from another thread of the rank. */
static void *receive_own(void *arg)
{
    int value = -1;

    MPI_Recv(&value, 1, MPI_INT, rank, SELF, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("own message", value, 41);
    return arg;
}

static void send_own(void)
{
    int value = 41;

    MPI_Send(&value, 1, MPI_INT, rank, SELF, MPI_COMM_WORLD);
}

/* Threads create communicators with ids that differ, although none has seen those of the others. */
static void create_inter(MPI_Comm comm, int tag)
{
    MPI_Comm half, inter, merged;
    int side = rank % 2, n = -1;

    MPI_Comm_split(comm, side, rank, &half);
    MPI_Intercomm_create(half, 0, comm, 1 - side, tag, &inter);
    MPI_Intercomm_merge(inter, side, &merged);
    MPI_Comm_size(merged, &n);
    expect("merged", n, size);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Each thread has a communicator. Ranks call them in different orders. */
static void *communicate(void *arg)
{
    int *sum = arg, i = *sum, right = (rank + 1) % size, left = (rank + size - 1) % size;

    *sum = 0;
    for (int k = 0; k < ROUNDS; k++) {
        int mine = rank + i + k, all = 0, got = -1;
        MPI_Comm dup;
        WEFT_COMPUTE(1e-6 * ((i * 7 + rank * 3 + k) % 5));
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comms[i]);
        *sum += all;
        MPI_Sendrecv(&mine, 1, MPI_INT, right, i, &got, 1, MPI_INT, left, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        expect("neighbour", got, left + i + k);
        MPI_Comm_dup(comms[i], &dup);
        MPI_Barrier(dup);
        MPI_Comm_free(&dup);
        if (size > 1) {
            create_inter(comms[i], i);
        }
    }
    return NULL;
}

static void *probe(void *arg)
{
    int values[2] = {-1, -1}, count = 0;
    MPI_Status status;

    MPI_Probe(MPI_ANY_SOURCE, PROBED, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Recv(values, 2, MPI_INT, status.MPI_SOURCE, PROBED, MPI_COMM_WORLD, &status);
    expect("probed", values[0] + count, status.MPI_SOURCE + 2);
    return arg;
}

/* Two threads wait, one for a probe; the first one computes and sends to both. */
static void mixed(void)
{
    int values[2] = {rank, 1};
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, probe, NULL);
    pthread_create(&threads[1], NULL, receive_own, NULL);
    WEFT_COMPUTE(2e-5);
    MPI_Send(values, 2, MPI_INT, (rank + 1) % size, PROBED, MPI_COMM_WORLD);
    WEFT_COMPUTE(2e-5);
    send_own();
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

/* ---- requests that another thread completes ---- */

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing_to_free(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int nothing_to_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void *complete(void *request)
{
    WEFT_COMPUTE(1e-3);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

/* Completes the request in one of several ways. Returns the elements of its status. */
static int complete_by(int how, MPI_Request *request)
{
    MPI_Status status = {0};
    int n = -1, flag = 0, index;

    switch (how) {
    case 0:
        MPI_Wait(request, &status);
        break;
    case 1:
        MPI_Waitall(1, request, &status);
        break;
    case 2:
        MPI_Waitany(1, request, &index, &status);
        break;
    case 3:
        MPI_Waitsome(1, request, &n, &index, &status);
        break;
    default:
        while (!flag) {
            switch (how) {
            case 4:
                MPI_Test(request, &flag, &status);
                break;
            case 5:
                MPI_Testall(1, request, &flag, &status);
                break;
            case 6:
                MPI_Testany(1, request, &index, &flag, &status);
                break;
            default:
                MPI_Testsome(1, request, &flag, &index, &status);
                break;
            }
        }
    }
    MPI_Get_elements(&status, MPI_INT, &n);
    return n;
}

static void generalized(void)
{
    for (int how = 0; how < 8; how++) {
        MPI_Request request, copy;
        pthread_t thread;
        double begin = MPI_Wtime();

        MPI_Grequest_start(query, nothing_to_free, nothing_to_cancel, NULL, &request);
        copy = request;
        pthread_create(&thread, NULL, complete, &copy);
        expect("generalized", complete_by(how, &request), 3);
        expect("is null", request == MPI_REQUEST_NULL, 1);
        expect("took its time", MPI_Wtime() - begin > 0.99e-3, 1);
        pthread_join(thread, NULL);
    }
}

static void *make_ready(void *request)
{
    for (int i = 0; i < PARTITIONS; i++) {
        WEFT_COMPUTE(1e-5);
        MPI_Pready(i, *(MPI_Request *)request);
    }
    return NULL;
}

static void partitions(void)
{
    int to[PARTITIONS], from[PARTITIONS] = {0};
    MPI_Request requests[2];
    pthread_t thread;

    for (int i = 0; i < PARTITIONS; i++) {
        to[i] = 100 * rank + i;
    }
    MPI_Psend_init(to, PARTITIONS, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(from, PARTITIONS, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &requests[1]);
    for (int k = 0; k < 2; k++) {
        MPI_Startall(2, requests);
        pthread_create(&thread, NULL, make_ready, &requests[0]);
        if (k == 0) {
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        } else {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        pthread_join(thread, NULL);
        expect("partition", from[PARTITIONS - 1],
               100 * ((rank + size - 1) % size) + PARTITIONS - 1);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* A session that asks for nothing has the level that the program has, which is in MPI_INFO_ENV too. */
static void session_level(void)
{
    char level[64] = "";
    int flag = 0;
    MPI_Session session;
    MPI_Info info;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    MPI_Info_get(info, "thread_level", sizeof(level) - 1, level, &flag);
    expect("level of a session", strcmp(level, "MPI_THREAD_MULTIPLE"), 0);
    MPI_Info_get(MPI_INFO_ENV, "thread_level", sizeof(level) - 1, level, &flag);
    expect("level of the environment", strcmp(level, "MPI_THREAD_MULTIPLE"), 0);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    int provided, sums[THREADS], own = 0, all = 0, all_wrong = 0;
    pthread_t threads[THREADS];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expect("provided", provided, MPI_THREAD_MULTIPLE);
    pthread_create(&threads[0], NULL, receive_own, NULL);
    WEFT_COMPUTE(1e-3);
    send_own();
    pthread_join(threads[0], NULL);
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        sums[i] = i;
    }
    for (int i = 0; i < THREADS; i++) {
        int turned = (i + rank) % THREADS;
        pthread_create(&threads[turned], NULL, communicate, &sums[turned]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        own += sums[i];
    }
    mixed();
    session_level();
    generalized();
    partitions();
    MPI_Reduce(&own, &all, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: sums %d, wrong %d\n", size, all, all_wrong);
    }
    MPI_Finalize();
    return 0;
}
