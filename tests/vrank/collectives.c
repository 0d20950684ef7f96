/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: blocking, nonblocking and in place; reductions of all kinds. */
#include "report.h"

#include <complex.h>

static int rank, size;

static void rooted(void)
{
    int root = size - 1, list[64], one, all[64] = {0};
    int *counts = calloc((size_t)size, sizeof(int)),
        *displs = calloc((size_t)size, sizeof(int));

    for (int i = 0; i < 64; i++) {
        list[i] = rank == root ? 5 * i : -1;
    }
    MPI_Bcast(list, 7, MPI_INT, root, MPI_COMM_WORLD);
    say_ints("bcast", list, 8);
    one = 100 + rank;
    MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
    say_ints("gather", all, size);
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3;
        displs[i] = 3 * i + 1;
    }
    for (int i = 0; i < 64; i++) {
        list[i] = 10 * rank + i;
        all[i] = -1;
    }
    MPI_Gatherv(list, rank % 3, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
    say_ints("gatherv", all, 3 * size + 1);
    MPI_Scatterv(list, counts, displs, MPI_INT, all, rank % 3, MPI_INT, 0, MPI_COMM_WORLD);
    say_ints("scatterv", all, 3);
    MPI_Scatter(list, 2, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD);
    say_ints("scatter", all, 2);
    /* In place: the root's own part is where it belongs. */
    for (int i = 0; i < size; i++) {
        all[i] = rank == root ? 7 + i : -1;
    }
    MPI_Gather(rank == root ? MPI_IN_PLACE : &one, 1, MPI_INT, all, 1, MPI_INT, root,
               MPI_COMM_WORLD);
    say_ints("gather in place", all, size);
    MPI_Scatter(list, 2, MPI_INT, rank == root ? MPI_IN_PLACE : (void *)all, 2, MPI_INT, root,
                MPI_COMM_WORLD);
    say_ints("scatter in place", all, 2);
    free(counts);
    free(displs);
}

static void everybody(void)
{
    int list[64], all[192], *counts = calloc((size_t)size, sizeof(int));
    int *displs = calloc((size_t)size, sizeof(int)), *back = calloc((size_t)size, sizeof(int));
    int *at = calloc((size_t)size, sizeof(int));
    MPI_Datatype *types = calloc((size_t)size, sizeof(MPI_Datatype));

    for (int i = 0; i < 64; i++) {
        list[i] = 100 * rank + i;
    }
    memset(all, 0xff, sizeof(all));
    MPI_Allgather(list, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
    say_ints("allgather", all, 2 * size);
    MPI_Alltoall(list, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    say_ints("alltoall", all, size);
    for (int i = 0; i < size; i++) {
        counts[i] = (rank + i) % 3; /* the same both ways */
        displs[i] = 3 * (size - 1 - i);
        back[i] = i % 2 + 1;
        at[i] = 2 * i;
        types[i] = MPI_INT;
    }
    memset(all, 0xff, sizeof(all));
    MPI_Alltoallv(list, counts, displs, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    say_ints("alltoallv", all, 3 * size);
    memset(all, 0xff, sizeof(all));
    MPI_Allgatherv(list, rank % 2 + 1, MPI_INT, all, back, at, MPI_INT, MPI_COMM_WORLD);
    say_ints("allgatherv", all, 2 * size);
    for (int i = 0; i < size; i++) {
        displs[i] *= 4;
    }
    memset(all, 0xff, sizeof(all));
    MPI_Alltoallw(list, counts, displs, types, all, counts, displs, types, MPI_COMM_WORLD);
    say_ints("alltoallw", all, 3 * size);
    for (int i = 0; i < size; i++) {
        all[i] = 10 * rank + i;
    }
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    say_ints("alltoall in place", all, size);
    all[rank] = 77 + rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    say_ints("allgather in place", all, size);
    free(counts);
    free(displs);
    free(back);
    free(at);
    free(types);
}

/* Does not commute: the product of matrices (a b; 0 1) as pairs. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *a = in, *b = inout;

    for (int i = 0; i < *count; i++, a += 2, b += 2) {
        int first = a[0] * b[0] % 1009, second = (a[0] * b[1] + a[1]) % 1009;
        b[0] = first;
        b[1] = second;
    }
}

static void reductions(void)
{
    int a[3] = {rank + 1, size - rank, rank % 2}, b[3], list[64];
    double x = 1.0 / (rank + 1), y;
    struct {
        double value;
        int place;
    } in = {(rank * 7) % 5, rank}, out;
    double complex z = rank + 2 * I, w;
    static const struct {
        const char *name;
        MPI_Op op;
    } ops[] = {{"max", MPI_MAX},   {"min", MPI_MIN},  {"sum", MPI_SUM},   {"prod", MPI_PROD},
               {"land", MPI_LAND}, {"lor", MPI_LOR},  {"lxor", MPI_LXOR}, {"band", MPI_BAND},
               {"bor", MPI_BOR},   {"bxor", MPI_BXOR}};

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        MPI_Allreduce(a, b, 3, MPI_INT, ops[i].op, MPI_COMM_WORLD);
        say_ints(ops[i].name, b, 3);
    }
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    say("double: %.12g", y);
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    say("maxloc: %g at %d", out.value, out.place);
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    say("minloc: %g at %d", out.value, out.place);
    MPI_Allreduce(&z, &w, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    say("complex: %g %g", creal(w), cimag(w));
    MPI_Scan(a, b, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_ints("scan", b, 3);
    b[0] = b[1] = b[2] = -1;
    MPI_Exscan(a, b, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_ints("exscan", b, rank > 0 ? 3 : 0);
    for (int i = 0; i < 64; i++) {
        list[i] = rank + i;
    }
    MPI_Reduce_scatter_block(list, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("reduce_scatter_block: %d", b[0]);
    int *counts = calloc((size_t)size, sizeof(int));
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3;
    }
    MPI_Reduce_scatter(list, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_ints("reduce_scatter", b, counts[rank]);
    free(counts);
    b[0] = rank;
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : b, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    say("in place: %d", rank == 0 ? b[0] : 0);
    MPI_Allreduce(MPI_IN_PLACE, a, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_ints("all in place", a, 3);
}

static void own_operation(void)
{
    int pair[2] = {rank + 2, 3 * rank + 1}, out[2] = {0}, commutes;
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commutes);
    MPI_Allreduce(pair, out, 1, type, op, MPI_COMM_WORLD);
    say("composed: %d %d, commutes %d", out[0], out[1], commutes);
    MPI_Scan(pair, out, 1, type, op, MPI_COMM_WORLD);
    say("scanned: %d %d", out[0], out[1]);
    MPI_Reduce(pair, out, 1, type, op, size / 2, MPI_COMM_WORLD);
    say("reduced: %d", rank == size / 2 ? out[1] : 0);
    out[0] = 5;
    out[1] = 6;
    MPI_Reduce_local(pair, out, 1, type, op);
    say("locally: %d %d", out[0], out[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    say("null: %d", op == MPI_OP_NULL);
}

static void nonblocking(void)
{
    int a = rank + 1, sum = 0, root = 0, all[64], flag = 0, token = rank == 0 ? 9 : 0;
    MPI_Request requests[5];

    /* Several at once, completed in another order than begun. */
    MPI_Iallreduce(&a, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&token, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(&a, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[3]);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    while (!flag) {
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    say("nonblocking: sum %d token %d", sum, token);
    say_ints("iallgather", all, size);
    MPI_Iscan(&a, &sum, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoall(all, 1, MPI_INT, all + 32, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say("iscan: %d", sum);
    say_ints("ialltoall", all + 32, size);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rooted();
    everybody();
    reductions();
    own_operation();
    nonblocking();
    say_all();
    return 0;
}
