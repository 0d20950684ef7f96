/* SPDX-License-Identifier: Apache-2.0 */
/* Intercommunicators: collectives between two groups of different sizes, and creating new
 * ones. */
#include "report.h"

enum { ROOM = 64 };

static int rank, size; /* in the world */
static int own, n_own, n_others, side;

static int *filled(int *list, int from)
{
    for (int i = 0; i < ROOM; i++) {
        list[i] = from >= 0 ? from + i : -1;
    }
    return list;
}

static MPI_Comm make_between(void)
{
    MPI_Comm half, inter;

    side = rank % 3 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 1 : 0, 7, &inter);
    MPI_Comm_free(&half);
    MPI_Comm_rank(inter, &own);
    MPI_Comm_size(inter, &n_own);
    MPI_Comm_remote_size(inter, &n_others);
    return inter;
}

/* The last one of a side is the root. */
static int root_of(int root_side)
{
    int last = n_own - 1;

    return side != root_side ? n_others - 1 : own == last ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(MPI_Comm inter, int root_side)
{
    int in[ROOM], out[ROOM], counts[ROOM], displs[ROOM], root = root_of(root_side);

    filled(in, root == MPI_ROOT ? 1000 * rank : -1);
    MPI_Bcast(root == MPI_PROC_NULL ? NULL : in, root == MPI_PROC_NULL ? 0 : 3, MPI_INT, root,
              inter);
    say_ints("bcast", in, 4);
    MPI_Gather(filled(out, 10 * rank), 2, MPI_INT, filled(in, -1), 2, MPI_INT, root, inter);
    say_ints("gather", in, 2 * n_others + 1);
    MPI_Scatter(filled(out, 100 * rank), 2, MPI_INT, filled(in, -1), 2, MPI_INT, root, inter);
    say_ints("scatter", in, 3);
    for (int i = 0; i < n_others; i++) {
        counts[i] = i + 1;
        displs[i] = 4 * (n_others - 1 - i);
    }
    MPI_Gatherv(filled(out, 10 * rank), own + 1, MPI_INT, filled(in, -1), counts, displs,
                MPI_INT, root, inter);
    say_ints("gatherv", in, 4 * n_others);
    MPI_Scatterv(filled(out, 100 * rank), counts, displs, MPI_INT, filled(in, -1), own + 1,
                 MPI_INT, root, inter);
    say_ints("scatterv", in, own + 2);
    MPI_Reduce(filled(out, rank + 1), filled(in, -1), 3, MPI_INT, MPI_SUM, root, inter);
    say_ints("reduce", in, 4);
}

/* MPICH 4.0 ends at an assertion of its own if a root without a number does not wait. */
static void later_bcast(int *in, int root, MPI_Comm inter, MPI_Request *request)
{
#ifdef MPICH_VERSION
    MPI_Bcast(in, 3, MPI_INT, root, inter);
    *request = MPI_REQUEST_NULL;
#else
    MPI_Ibcast(in, 3, MPI_INT, root, inter, request);
#endif
}

/* The same without waiting, all at once. */
static void rooted_later(MPI_Comm inter, int root_side)
{
    int in[5][ROOM], out[ROOM], root = root_of(root_side);
    MPI_Request requests[5];
    MPI_Status statuses[5];

    filled(out, 10 * rank);
    for (int i = 0; i < 5; i++) {
        filled(in[i], -1);
    }
    filled(in[0], root == MPI_ROOT ? 1000 * rank : -1);
    later_bcast(in[0], root, inter, &requests[0]);
    MPI_Igather(out, 2, MPI_INT, in[1], 2, MPI_INT, root, inter, &requests[1]);
    MPI_Iscatter(out, 2, MPI_INT, in[2], 2, MPI_INT, root, inter, &requests[2]);
    MPI_Ireduce(out, in[3], 3, MPI_INT, MPI_MAX, root, inter, &requests[3]);
    MPI_Ibarrier(inter, &requests[4]);
    MPI_Waitall(5, requests, statuses);
    for (int i = 0; i < 4; i++) {
        say_ints("later", in[i], 2 * n_others + 1);
    }
}

/* All of one group to all of the other; a block has as many elements as its sender says. */
static void all(MPI_Comm inter)
{
    int in[ROOM], out[ROOM], counts[ROOM], displs[ROOM], out_counts[ROOM], out_displs[ROOM];
    int total = n_own * n_others;
    MPI_Datatype types[ROOM];

    MPI_Allgather(filled(out, 10 * rank), 2, MPI_INT, filled(in, -1), 2, MPI_INT, inter);
    say_ints("allgather", in, 2 * n_others + 1);
    for (int i = 0; i < n_others; i++) {
        counts[i] = i + 1;
        displs[i] = 6 * i;
        out_counts[i] = own + 1;
        out_displs[i] = 3 * i;
        types[i] = MPI_INT;
    }
    MPI_Allgatherv(out, own + 1, MPI_INT, filled(in, -1), counts, displs, MPI_INT, inter);
    say_ints("allgatherv", in, 6 * n_others);
    MPI_Alltoall(filled(out, 100 * rank), 2, MPI_INT, filled(in, -1), 2, MPI_INT, inter);
    say_ints("alltoall", in, 2 * n_others + 1);
    MPI_Alltoallv(out, out_counts, out_displs, MPI_INT, filled(in, -1), counts, displs, MPI_INT,
                  inter);
    say_ints("alltoallv", in, 6 * n_others);
    for (int i = 0; i < n_others; i++) {
        displs[i] *= (int)sizeof(int);
        out_displs[i] *= (int)sizeof(int);
    }
    MPI_Alltoallw(out, out_counts, out_displs, types, filled(in, -1), counts, displs, types,
                  inter);
    say_ints("alltoallw", in, 6 * n_others);
    MPI_Allreduce(filled(out, rank), filled(in, -1), 3, MPI_INT, MPI_SUM, inter);
    say_ints("allreduce", in, 4);
    for (int i = 0; i < n_own; i++) {
        counts[i] = i == 0 ? total - (n_own - 1) : 1;
    }
    MPI_Reduce_scatter(out, filled(in, -1), counts, MPI_INT, MPI_SUM, inter);
    say_ints("reduce_scatter", in, counts[own] + 1);
    MPI_Reduce_scatter_block(out, filled(in, -1), n_others, MPI_INT, MPI_SUM, inter);
    say_ints("reduce_scatter_block", in, n_others + 1);
}

static void all_later(MPI_Comm inter)
{
    int in[4][ROOM], out[ROOM];
    MPI_Request requests[4];

    filled(out, 10 * rank);
    for (int i = 0; i < 4; i++) {
        filled(in[i], -1);
    }
    MPI_Iallgather(out, 2, MPI_INT, in[0], 2, MPI_INT, inter, &requests[0]);
    MPI_Ialltoall(out, 2, MPI_INT, in[1], 2, MPI_INT, inter, &requests[1]);
    MPI_Iallreduce(out, in[2], 3, MPI_INT, MPI_MIN, inter, &requests[2]);
    MPI_Ireduce_scatter_block(out, in[3], n_others, MPI_INT, MPI_SUM, inter, &requests[3]);
    for (int i = 3; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        say_ints("all later", in[i], 2 * n_others + 1);
    }
}

/* Packed by one side as columns, taken by the other as numbers. */
static void columns(MPI_Comm inter)
{
    int in[ROOM], out[ROOM];
    MPI_Datatype column;

    MPI_Type_vector(2, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Allgather(filled(out, rank), 1, column, filled(in, -1), 2, MPI_INT, inter);
    say_ints("columns, gathered", in, 2 * n_others + 1);
    MPI_Type_free(&column);
}

static void tell(const char *name, MPI_Comm comm)
{
    int flag, r, n, remote, sum = -1;

    if (comm == MPI_COMM_NULL) {
        say("%s: none", name);
        return;
    }
    MPI_Comm_test_inter(comm, &flag);
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &n);
    MPI_Comm_remote_size(comm, &remote);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    say("%s: %d, %d of %d, %d others with sum %d", name, flag, r, n, remote, sum);
    MPI_Comm_free(&comm);
}

static void new_ones(MPI_Comm inter)
{
    MPI_Comm made, again;
    MPI_Group group, part;
    int first = 0, result;

    MPI_Comm_dup(inter, &made);
    MPI_Comm_compare(inter, made, &result);
    say("dup congruent %d", result == MPI_CONGRUENT);
    MPI_Comm_dup(made, &again);
    tell("dup", made);
    tell("dup of a dup", again);
    MPI_Comm_split(inter, own % 2, -own, &made);
    tell("split", made);
    MPI_Comm_split(inter, side, 0, &made);
    tell("split by side", made);
    MPI_Comm_split(inter, own == 0 ? 3 : MPI_UNDEFINED, 0, &made);
    tell("split off", made);
    MPI_Comm_group(inter, &group);
    MPI_Group_incl(group, 1, &first, &part);
    MPI_Comm_create(inter, part, &made);
    tell("of the first", made);
    MPI_Comm_create(inter, side ? part : MPI_GROUP_EMPTY, &made);
    tell("of one side", made);
    MPI_Group_free(&part);
    MPI_Group_excl(group, 1, &first, &part);
    MPI_Comm_create(inter, side ? group : part, &made);
    tell("of the rest", made);
    if (part != MPI_GROUP_EMPTY) {
        MPI_Group_free(&part);
    }
    MPI_Group_free(&group);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1) {
        MPI_Comm inter = make_between();
        for (int root_side = 0; root_side < 2; root_side++) {
            rooted(inter, root_side);
            rooted_later(inter, root_side);
        }
        all(inter);
        all_later(inter);
        columns(inter);
        new_ones(inter);
        MPI_Comm_free(&inter);
    }
    say_all();
    return 0;
}
