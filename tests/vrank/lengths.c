/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that ranks call with different sizes, in programs that handle errors: the ranks that
 * get data learn of it, their buffers stay as they were, and the program goes on. */
#include "report.h"

enum { MOST = 64 };

static int rank, size;
static int from[MOST], to[MOST];

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

static void check(const char *what, int right)
{
    say("%s: %d wrong", what, !right);
}

/* The rank gets data that does not fit, or none: then all is well. */
static void expect(const char *what, int code, int gets)
{
    int untouched = 1;

    for (int i = 0; i < MOST; i++) {
        untouched = untouched && to[i] == -1;
        to[i] = -1;
    }
    check(what,
          class_of(code) == (gets ? MPI_ERR_TRUNCATE : MPI_SUCCESS) && (!gets || untouched));
}

/* Rank 1 calls with two elements, the others with one. */
static void from_all(void)
{
    int n = rank == 1 ? 2 : 1;
    MPI_Request request;

    expect("gather", MPI_Gather(from, n, MPI_INT, to, 1, MPI_INT, 0, MPI_COMM_WORLD),
           rank == 0);
    expect("allgather", MPI_Allgather(from, n, MPI_INT, to, n, MPI_INT, MPI_COMM_WORLD), 1);
    expect("reduce", MPI_Reduce(from, to, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), rank == 0);
    expect("allreduce", MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 1);
    expect("scan", MPI_Scan(from, to, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), rank > 0);
    expect("reduce_scatter_block",
           MPI_Reduce_scatter_block(from, to, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 1);
    expect("alltoall", MPI_Alltoall(from, n, MPI_INT, to, n, MPI_INT, MPI_COMM_WORLD), 1);
    MPI_Iallreduce(from, to, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    expect("iallreduce", MPI_Wait(&request, MPI_STATUS_IGNORE), 1);
}

/* The root calls with two elements, the others with one. */
static void from_root(void)
{
    int n = rank == 0 ? 2 : 1;
    MPI_Request request;

    expect("bcast", MPI_Bcast(rank == 0 ? from : to, n, MPI_INT, 0, MPI_COMM_WORLD), rank > 0);
    expect("scatter", MPI_Scatter(from, 2, MPI_INT, to, n, MPI_INT, 0, MPI_COMM_WORLD),
           rank > 0);
    MPI_Bcast_init(rank == 0 ? from : to, n, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        expect("bcast_init", MPI_Wait(&request, MPI_STATUS_IGNORE), rank > 0);
    }
    MPI_Request_free(&request);
}

/* On a line of ranks, rank 1 sends two elements to each neighbor; all expect one. */
static void neighborhoods(void)
{
    const int periodic[] = {0};
    int n = rank == 1 ? 2 : 1, gets = rank == 0 || rank == 2;
    int counts[2] = {n, n}, ones[2] = {1, 1}, displs[2] = {0, 4};
    MPI_Request request;
    MPI_Comm line;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periodic, 0, &line);
    MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
    expect("neighbor_allgather", MPI_Neighbor_allgather(from, n, MPI_INT, to, 1, MPI_INT, line),
           gets);
    expect("neighbor_allgatherv",
           MPI_Neighbor_allgatherv(from, n, MPI_INT, to, ones, displs, MPI_INT, line), gets);
    expect("neighbor_alltoall", MPI_Neighbor_alltoall(from, n, MPI_INT, to, 1, MPI_INT, line),
           gets);
    expect(
        "neighbor_alltoallv",
        MPI_Neighbor_alltoallv(from, counts, displs, MPI_INT, to, ones, displs, MPI_INT, line),
        gets);
    MPI_Ineighbor_alltoall(from, n, MPI_INT, to, 1, MPI_INT, line, &request);
    expect("ineighbor_alltoall", MPI_Wait(&request, MPI_STATUS_IGNORE), gets);
    MPI_Comm_free(&line);
}

/* Two groups, of the ranks with even and with odd numbers. Rank 1 calls with two elements, the others
 * with one. */
static void groups(void)
{
    int n = rank == 1 ? 2 : 1, even = rank % 2 == 0,
        from_first = rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm own, both;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, even, 0, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    expect("bcast to the other group",
           MPI_Bcast(even ? to : from, n, MPI_INT, even ? 0 : from_first, both), even);
    expect("allgather of groups", MPI_Allgather(from, n, MPI_INT, to, 1, MPI_INT, both), even);
    expect("alltoall of groups", MPI_Alltoall(from, n, MPI_INT, to, 1, MPI_INT, both), even);
    expect("gather of a group",
           MPI_Gather(from, n, MPI_INT, to, 1, MPI_INT,
                      even ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, both),
           rank == 0);
    expect("scatter to a group",
           MPI_Scatter(from, n, MPI_INT, to, 1, MPI_INT, even ? 0 : from_first, both), even);
    expect("reduce of a group",
           MPI_Reduce(from, to, n, MPI_INT, MPI_SUM,
                      even ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, both),
           rank == 0 && size > 2);
    expect("allreduce of groups", MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, both), 1);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
    int sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < MOST; i++) {
        to[i] = -1;
    }
    if (size > 1) {
        from_all();
        from_root();
        neighborhoods();
        groups();
    }
    check("afterwards",
          MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS &&
              sum == size * (size - 1) / 2);
    say_all();
    return 0;
}
