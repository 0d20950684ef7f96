/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with large counts (MPI-4.0): messages, collectives, datatypes, packing. */
#include "report.h"

static int rank, size, left, right;

static void messages(void)
{
    MPI_Count n = 0, wide = 0;
    int out[3] = {rank, rank + 1, rank + 2}, in[3] = {-1, -1, -1};
    MPI_Request requests[2];
    MPI_Status status;

    MPI_Sendrecv_c(out, 3, MPI_INT, right, 1, in, 3, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_INT, &n);
    MPI_Get_elements_c(&status, MPI_INT, &wide);
    say("%d elements, %d", (int)n, (int)wide);
    say_ints("sendrecv", in, 3);
    MPI_Irecv_c(in, 3, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend_c(out, (MPI_Count)2, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say_ints("isend", in, 3);
}

/* To count the values in a status takes no longer if there are many. */
static void elements(void)
{
    MPI_Datatype four, many, more;
    MPI_Status status = {0};
    MPI_Count n = -1, last = -1;
    const MPI_Count count = (MPI_Count)1 << 40;

    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_vector_c(count, 1, 3, four, &many);
    MPI_Type_contiguous(3, many, &more);
    MPI_Type_commit(&more);
    MPI_Status_set_elements_x(&status, MPI_INT, 12 * count);
    MPI_Get_elements_x(&status, more, &n);
#ifdef WEFT_MPI_H /* of MPI-4.1 */
    MPI_Status_set_elements_c(&status, MPI_INT, 4 * count + 7);
#else
    MPI_Status_set_elements_x(&status, MPI_INT, 4 * count + 7);
#endif
    MPI_Get_elements_x(&status, more, &last);
    say("elements %lld, %lld", (long long)n, (long long)last);
    MPI_Status_set_elements_x(&status, more, 1);
    MPI_Get_elements_x(&status, more, &n);
    say("elements of one %lld", (long long)n);
    MPI_Type_free(&more);
    MPI_Type_free(&many);
    MPI_Type_free(&four);
}

static void collectives(void)
{
    MPI_Count *counts = calloc((size_t)size, sizeof(MPI_Count));
    MPI_Aint *displs = calloc((size_t)size, sizeof(MPI_Aint));
    int *all = calloc((size_t)(size * (size + 1)), sizeof(int)), *out = calloc((size_t)size, 4);
    int sum = 0, part = -1;
    MPI_Aint at = 0;

    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = at;
        at += i + 1;
        out[i] = rank;
    }
    MPI_Allgatherv_c(out, rank + 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    say_ints("allgatherv", all, (int)at);
    MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("allreduce %d", sum);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
        out[i] = 10 * rank + i;
    }
    MPI_Alltoallv_c(out, counts, displs, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    say_ints("alltoallv", all, size);
    MPI_Reduce_scatter_c(out, &part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("reduce_scatter %d", part);
    free(counts);
    free(displs);
    free(all);
    free(out);
}

static void sum_large(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *count; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void describe(const char *what, MPI_Datatype type)
{
    MPI_Count ints, addresses, counts, types, number[16], one, lb, extent;
    int combiner, integer[16];
    MPI_Aint address[16];
    MPI_Datatype old[16];

    MPI_Type_size_c(type, &one);
    MPI_Type_get_extent_c(type, &lb, &extent);
    MPI_Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner);
    MPI_Type_get_contents_c(type, ints, addresses, counts, types, integer, address, number,
                            old);
    say("%s: size %d lb %d extent %d; %d integers %d addresses %d counts %d types", what,
        (int)one, (int)lb, (int)extent, (int)ints, (int)addresses, (int)counts, (int)types);
    say_ints("integers", integer, (int)ints);
    for (int i = 0; i < counts; i++) {
        say("  count %d", (int)number[i]);
    }
    for (int i = 0; i < addresses; i++) {
        say("  address %d", (int)address[i]);
    }
    MPI_Type_free(&type);
}

static void datatypes(void)
{
    const MPI_Count two[2] = {2, 1}, places[2] = {0, 3}, sizes[2] = {4, 4}, part[2] = {2, 2},
                    start[2] = {1, 1};
    const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    const int narrow[2] = {2, 1};
    MPI_Datatype type;

    MPI_Type_contiguous_c(3, MPI_INT, &type);
    describe("contiguous", type);
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &type);
    describe("vector", type);
    MPI_Type_create_hvector_c(2, 1, 16, MPI_INT, &type);
    describe("hvector", type);
    MPI_Type_indexed_c(2, two, places, MPI_INT, &type);
    describe("indexed", type);
    MPI_Type_create_struct_c(2, two, (MPI_Count[]){0, 8}, types, &type);
    describe("struct", type);
    MPI_Type_create_subarray_c(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type);
    describe("subarray", type);
    MPI_Type_create_resized_c(MPI_INT, 0, 12, &type);
    describe("resized", type);
    MPI_Type_indexed(2, narrow, (int[]){0, 3}, MPI_INT, &type);
    describe("narrow", type);
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    describe("narrow vector", type);
    /* More than two thousand million elements, of which none is touched. */
    MPI_Type_contiguous_c((MPI_Count)3 << 30, MPI_DOUBLE, &type);
    MPI_Count bytes;
    int less;
    MPI_Type_size_c(type, &bytes);
    MPI_Type_size(type, &less);
    say("large type: %d GiB, as int %d", (int)(bytes >> 30), less == MPI_UNDEFINED);
    MPI_Type_free(&type);
}

static void others(void)
{
    int values[4] = {1, 2, 3, 4}, sum[4] = {0}, back[4] = {0};
    char buffer[64];
    MPI_Count at = 0, need = 0;
    MPI_Op op;

    MPI_Pack_size_c(4, MPI_INT, MPI_COMM_WORLD, &need);
    MPI_Pack_c(values, 4, MPI_INT, buffer, 64, &at, MPI_COMM_WORLD);
    say("packed %d of %d", (int)at, (int)need);
    at = 0;
    MPI_Unpack_c(buffer, 64, &at, back, 4, MPI_INT, MPI_COMM_WORLD);
    say_ints("unpacked", back, 4);
    MPI_Op_create_c(sum_large, 1, &op);
    MPI_Allreduce(values, sum, 4, MPI_INT, op, MPI_COMM_WORLD);
    say_ints("own operation", sum, 4);
    MPI_Reduce_local_c(values, sum, 4, MPI_INT, op);
    say_ints("reduced again", sum, 4);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    messages();
    elements();
    collectives();
    datatypes();
    others();
    say_all();
    return 0;
}
