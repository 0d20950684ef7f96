/* SPDX-License-Identifier: Apache-2.0 */
/* Persistent collectives (MPI-4.0, 6.13): every kind, started several times and in an order of
 * each rank's own. */
#include "report.h"

enum { MOST = 8 };

static int rank, size;
static int out[MOST * MOST], in[MOST * MOST];

static void fill(int round)
{
    for (int i = 0; i < MOST * MOST; i++) {
        out[i] = 1000 * round + 100 * rank + i;
        in[i] = -1;
    }
}

/* Starts the operation twice, with other data. It must bring what the blocking one brings. */
static void run(const char *what, MPI_Request *request, int (*blocking)(void))
{
    for (int round = 0; round < 2; round++) {
        int expected[MOST * MOST], wrong = 0;

        fill(round);
        blocking();
        memcpy(expected, in, sizeof(in));
        fill(round);
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        for (int i = 0; i < MOST * MOST; i++) {
            wrong += in[i] != expected[i];
        }
        say("%s: %d wrong, first %d", what, wrong, in[0]);
    }
    MPI_Request_free(request);
}

static int counts[MOST], displs[MOST], both[2] = {1, 1};
static MPI_Comm ring;

/* A collective and its arguments up to the communicator. */
#define KIND(name, comm, ...)                                          \
    static int blocking_##name(void)                                   \
    {                                                                  \
        return MPI_##name(__VA_ARGS__, comm);                          \
    }                                                                  \
    static void check_##name(void)                                     \
    {                                                                  \
        MPI_Request request;                                           \
        MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
        run(#name, &request, blocking_##name);                         \
    }

#define WORLD MPI_COMM_WORLD
KIND(Bcast, WORLD, rank == 0 ? out : in, 2, MPI_INT, 0)
KIND(Gather, WORLD, out, 1, MPI_INT, in, 1, MPI_INT, 0)
KIND(Gatherv, WORLD, out, counts[rank], MPI_INT, in, counts, displs, MPI_INT, size - 1)
KIND(Scatter, WORLD, out, 1, MPI_INT, in, 1, MPI_INT, 0)
KIND(Scatterv, WORLD, out, counts, displs, MPI_INT, in, counts[rank], MPI_INT, 0)
KIND(Allgather, WORLD, out, 1, MPI_INT, in, 1, MPI_INT)
KIND(Allgatherv, WORLD, out, counts[rank], MPI_INT, in, counts, displs, MPI_INT)
KIND(Alltoall, WORLD, out, 1, MPI_INT, in, 1, MPI_INT)
KIND(Alltoallv, WORLD, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT)
KIND(Reduce, WORLD, out, in, 2, MPI_INT, MPI_SUM, 0)
KIND(Allreduce, WORLD, out, in, 2, MPI_INT, MPI_MAX)
KIND(Reduce_scatter, WORLD, out, in, counts, MPI_INT, MPI_SUM)
KIND(Reduce_scatter_block, WORLD, out, in, 1, MPI_INT, MPI_SUM)
KIND(Scan, WORLD, out, in, 1, MPI_INT, MPI_SUM)
KIND(Exscan, WORLD, out, in, 1, MPI_INT, MPI_SUM)
KIND(Neighbor_allgather, ring, out, 1, MPI_INT, in, 1, MPI_INT)
KIND(Neighbor_allgatherv, ring, out, 1, MPI_INT, in, both, displs, MPI_INT)
KIND(Neighbor_alltoall, ring, out, 1, MPI_INT, in, 1, MPI_INT)
KIND(Neighbor_alltoallv, ring, out, both, displs, MPI_INT, in, both, displs, MPI_INT)

static void (*const checks[])(void) = {
    check_Bcast,
    check_Gather,
    check_Gatherv,
    check_Scatter,
    check_Scatterv,
    check_Allgather,
    check_Allgatherv,
    check_Alltoall,
    check_Alltoallv,
    check_Reduce,
    check_Allreduce,
    check_Reduce_scatter,
    check_Scan,
    check_Exscan,
    check_Reduce_scatter_block,
    check_Neighbor_allgather,
    check_Neighbor_allgatherv,
    check_Neighbor_alltoall,
    check_Neighbor_alltoallv,
};

static int nothing(void)
{
    return 0;
}

static void kinds(void)
{
    MPI_Request request;
    int periodic = 1;

    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = 2 * i;
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        checks[i]();
    }
    MPI_Comm_free(&ring);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    run("Barrier", &request, nothing);
}

static MPI_Datatype types[MOST];
static int bytes[MOST];

static int blocking_alltoallw(void)
{
    return MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD);
}

static void with_blocks(void)
{
    MPI_Datatype vector, copy;
    MPI_Request r;

    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_dup(vector, &copy);
    MPI_Type_commit(&vector);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        bytes[i] = i * (int)sizeof(int) * 4;
        types[i] = vector;
    }
    MPI_Alltoallw_init(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &r);
    for (int i = 0; i < size; i++) {
        types[i] = copy;
    }
    MPI_Type_free(&vector); /* the request keeps it */
    run("alltoallw", &r, blocking_alltoallw);
    MPI_Type_free(&copy);
}

/* Two operations are active at once, and started in another order by every second rank. */
static void order(void)
{
    int sum = 0, all = 0, flag = 0;
    MPI_Request requests[2], reversed[2];

    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]);
    MPI_Allreduce_init(&size, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[1]);
    reversed[0] = requests[1];
    reversed[1] = requests[0];
    MPI_Startall(2, rank % 2 == 0 ? requests : reversed);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say("in any order: %d %d", sum, all);
    sum = 0;
    MPI_Start(&requests[0]);
    while (!flag) {
        MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    say("asked first: %d", sum);
    sum = 0;
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    say("and again: %d", sum);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    say("freed %d", requests[0] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    kinds();
    with_blocks();
    order();
    say_all();
    return 0;
}
