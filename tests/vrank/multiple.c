/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_THREAD_MULTIPLE: while a thread waits in a call of MPI, others of its rank go on. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <weft/mark.h>

enum { THREADS = 4, ROUNDS = 5, SELF = 7, PROBED = 50 };

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
    MPI_Reduce(&own, &all, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: sums %d, wrong %d\n", size, all, all_wrong);
    }
    MPI_Finalize();
    return 0;
}
