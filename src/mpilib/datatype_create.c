/* SPDX-License-Identifier: Apache-2.0 */
/* Derived datatypes: all constructors are one, a list of runs of old elements. */
#include "mpilib/datatype_contents.h"
#include "mpilib/errors.h"
#include "mpilib/memory.h"
#include "mpilib/properties.h"

#include <stdlib.h>
#include <string.h>

/* `count` elements of a type one after the other, the first at `at` bytes. */
struct run {
    MPI_Aint at;
    size_t count;
    const struct wl_type *type;
};

struct maker {
    struct wl_block *blocks;
    uint32_t n, room;
    bool empty, mixed;
    bool begins, ends; /* where it begins and ends has been said */
    MPI_Aint begin, end;
    enum wl_basic basic;
    MPI_Aint lb, ub, true_lb, true_ub;
    size_t size, align;
};

static void add_block(struct maker *maker, MPI_Aint at, size_t bytes)
{
    struct wl_block *last = maker->n > 0 ? &maker->blocks[maker->n - 1] : NULL;

    if (last != NULL && last->at + (MPI_Aint)last->bytes == at) {
        last->bytes += bytes;
        return;
    }
    if (maker->n == maker->room) {
        maker->room = maker->room == 0 ? 4 : 2 * maker->room;
        maker->blocks = wl_realloc(maker->blocks, maker->room, sizeof(struct wl_block));
    }
    maker->blocks[maker->n++] = (struct wl_block){at, bytes};
}

static void widen(struct maker *maker, MPI_Aint lb, MPI_Aint ub, MPI_Aint true_lb,
                  MPI_Aint true_ub)
{
    if (maker->empty) {
        maker->empty = false;
        maker->lb = lb;
        maker->ub = ub;
        maker->true_lb = true_lb;
        maker->true_ub = true_ub;
        return;
    }
    maker->lb = lb < maker->lb ? lb : maker->lb;
    maker->ub = ub > maker->ub ? ub : maker->ub;
    maker->true_lb = true_lb < maker->true_lb ? true_lb : maker->true_lb;
    maker->true_ub = true_ub > maker->true_ub ? true_ub : maker->true_ub;
}

static void note_basic(struct maker *maker, enum wl_basic basic)
{
    maker->mixed |= maker->basic != WL_BASIC_NONE && maker->basic != basic;
    maker->basic = maker->basic == WL_BASIC_NONE ? basic : maker->basic;
}

/* Whether it is one of the marks MPI_LB and MPI_UB. */
static bool note_mark(struct maker *maker, const struct run *run)
{
    bool begins = strcmp(run->type->name != NULL ? run->type->name : "", "MPI_LB") == 0;
    bool ends = strcmp(run->type->name != NULL ? run->type->name : "", "MPI_UB") == 0;

    if (begins && (!maker->begins || run->at < maker->begin)) {
        maker->begins = true;
        maker->begin = run->at;
    }
    if (ends && (!maker->ends || run->at > maker->end)) {
        maker->ends = true;
        maker->end = run->at;
    }
    return begins || ends;
}

static void add_run(struct maker *maker, const struct run *run)
{
    const struct wl_type *type = run->type;

    if (run->count == 0 || note_mark(maker, run)) {
        return;
    }
    MPI_Aint last = run->at + (MPI_Aint)(run->count - 1) * type->extent;
    MPI_Aint low = run->at < last ? run->at : last, high = run->at < last ? last : run->at;

    note_basic(maker, type->basic);
    maker->size += run->count * type->size;
    maker->align = type->align > maker->align ? type->align : maker->align;
    widen(maker, low + type->lb, high + type->lb + type->extent, low + type->true_lb,
          high + type->true_lb + type->true_extent);
    if (type->contiguous && type->size > 0) {
        add_block(maker, run->at, run->count * type->size);
        return;
    }
    for (size_t i = 0; i < run->count; i++) {
        for (uint32_t b = 0; b < type->n_blocks; b++) {
            add_block(maker, run->at + (MPI_Aint)i * type->extent + type->blocks[b].at,
                      type->blocks[b].bytes);
        }
    }
}

static struct wl_type *finish(struct maker *maker)
{
    struct wl_type *type = wl_calloc(1, sizeof(*type));

    maker->lb = maker->begins ? maker->begin : maker->lb;
    maker->ub = maker->ends ? maker->end : maker->ub;
    *type = (struct wl_type){
        .refs = 1,
        .basic = maker->mixed ? WL_BASIC_NONE : maker->basic,
        .lb = maker->lb,
        .extent = maker->ub - maker->lb,
        .true_lb = maker->true_lb,
        .true_extent = maker->true_ub - maker->true_lb,
        .size = maker->size,
        .align = maker->align,
        .n_blocks = maker->n,
        .blocks = maker->blocks,
    };
    type->contiguous = maker->n == 0 || (maker->n == 1 && maker->blocks[0].at == 0 &&
                                         type->lb == 0 && (size_t)type->extent == type->size);
    return type;
}

/* `whole`: as a struct of C it ends where the next one may begin. */
static int make(struct wl_rank *rank, const struct run *runs, size_t n, bool whole,
                MPI_Datatype *newtype)
{
    struct maker maker = {.empty = true};

    for (size_t i = 0; i < n; i++) {
        add_run(&maker, &runs[i]);
    }
    if (whole && maker.align > 0) {
        MPI_Aint align = (MPI_Aint)maker.align;
        maker.ub = maker.lb + (maker.ub - maker.lb + align - 1) / align * align;
    }
    *newtype = wl_table_add(&rank->types, WL_TYPE, finish(&maker));
    wl_leave(rank);
    return MPI_SUCCESS;
}

static void check_count(const struct wl_rank *rank, int count, const char *function)
{
    if (count < 0) {
        wl_fatal(rank, function, "the count %d is negative", count);
    }
}

int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();

    check_count(rank, count, "MPI_Type_contiguous");
    const struct run run = {0, (size_t)count, wl_type_of(rank, oldtype, "MPI_Type_contiguous")};
    int code = make(rank, &run, 1, false, newtype);
    wl_recipe_keep(*newtype, &(struct wl_parts){.combiner = MPI_COMBINER_CONTIGUOUS,
                                                .ints = {{&count, 1}},
                                                .types = &oldtype,
                                                .n_types = 1});
    return code;
}

/* `count` blocks of `blocklength` elements, their beginnings `stride` bytes apart. */
static int strided(struct wl_rank *rank, const int counts[2], MPI_Aint stride,
                   const struct wl_type *type, MPI_Datatype *newtype)
{
    size_t n = (size_t)counts[0];
    struct run *runs = wl_malloc(n * sizeof(struct run));

    for (size_t i = 0; i < n; i++) {
        runs[i] = (struct run){(MPI_Aint)i * stride, (size_t)counts[1], type};
    }
    int status = make(rank, runs, n, false, newtype);
    free(runs);
    return status;
}

int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                    MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, oldtype, "MPI_Type_vector");

    check_count(rank, count, "MPI_Type_vector");
    check_count(rank, blocklength, "MPI_Type_vector");
    int code =
        strided(rank, (const int[2]){count, blocklength}, stride * type->extent, type, newtype);
    wl_recipe_keep(*newtype,
                   &(struct wl_parts){.combiner = MPI_COMBINER_VECTOR,
                                      .ints = {{(int[]){count, blocklength, stride}, 3}},
                                      .types = &oldtype,
                                      .n_types = 1});
    return code;
}

int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, oldtype, "MPI_Type_create_hvector");

    check_count(rank, count, "MPI_Type_create_hvector");
    check_count(rank, blocklength, "MPI_Type_create_hvector");
    int code = strided(rank, (const int[2]){count, blocklength}, stride, type, newtype);
    wl_recipe_keep(*newtype, &(struct wl_parts){.combiner = MPI_COMBINER_HVECTOR,
                                                .ints = {{(int[]){count, blocklength}, 2}},
                                                .addresses = &stride,
                                                .n_addresses = 1,
                                                .types = &oldtype,
                                                .n_types = 1});
    return code;
}

/* Where blocks of several lengths and places are told: in elements or in bytes, with one type
 * or one for each. */
struct listing {
    const char *function;
    int combiner;
    int count;
    const int *lengths; /* null: all are `length` */
    int length;
    const int *displs;
    const MPI_Aint *wide;
    MPI_Datatype type;
    const MPI_Datatype *types;
};

static int listed(const struct listing *list, MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();

    check_count(rank, list->count, list->function);
    size_t n = (size_t)list->count;
    struct run *runs = wl_malloc(n * sizeof(struct run));
    for (size_t i = 0; i < n; i++) {
        const struct wl_type *type =
            wl_type_of(rank, list->types != NULL ? list->types[i] : list->type, list->function);
        int length = list->lengths != NULL ? list->lengths[i] : list->length;
        check_count(rank, length, list->function);
        runs[i] =
            (struct run){list->wide != NULL ? list->wide[i] : list->displs[i] * type->extent,
                         (size_t)length, type};
    }
    int status = make(rank, runs, n, list->types != NULL, newtype);
    /* Of a struct, which may be of nothing, each block has its own length and type. */
    int of_all = list->combiner == MPI_COMBINER_STRUCT ? list->count : 1;
    free(runs);
    wl_recipe_keep(
        *newtype,
        &(struct wl_parts){.combiner = list->combiner,
                           .ints = {{&list->count, 1},
                                    {list->lengths != NULL ? list->lengths : &list->length,
                                     list->lengths != NULL ? list->count : of_all},
                                    {list->displs, list->displs != NULL ? list->count : 0}},
                           .addresses = list->wide,
                           .n_addresses = list->wide != NULL ? list->count : 0,
                           .types = list->types != NULL ? list->types : &list->type,
                           .n_types = of_all});
    return status;
}

int MPI_Type_indexed(int count, const int *blocklengths, const int *displacements,
                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return listed(&(struct listing){.function = "MPI_Type_indexed",
                                    .combiner = MPI_COMBINER_INDEXED,
                                    .count = count,
                                    .lengths = blocklengths,
                                    .displs = displacements,
                                    .type = oldtype},
                  newtype);
}

int MPI_Type_create_hindexed(int count, const int *blocklengths, const MPI_Aint *displacements,
                             MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return listed(&(struct listing){.function = "MPI_Type_create_hindexed",
                                    .combiner = MPI_COMBINER_HINDEXED,
                                    .count = count,
                                    .lengths = blocklengths,
                                    .wide = displacements,
                                    .type = oldtype},
                  newtype);
}

int MPI_Type_create_indexed_block(int count, int blocklength, const int *displacements,
                                  MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return listed(&(struct listing){.function = "MPI_Type_create_indexed_block",
                                    .combiner = MPI_COMBINER_INDEXED_BLOCK,
                                    .count = count,
                                    .length = blocklength,
                                    .displs = displacements,
                                    .type = oldtype},
                  newtype);
}

int MPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint *displacements,
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return listed(&(struct listing){.function = "MPI_Type_create_hindexed_block",
                                    .combiner = MPI_COMBINER_HINDEXED_BLOCK,
                                    .count = count,
                                    .length = blocklength,
                                    .wide = displacements,
                                    .type = oldtype},
                  newtype);
}

int MPI_Type_create_struct(int count, const int *blocklengths, const MPI_Aint *displacements,
                           const MPI_Datatype *types, MPI_Datatype *newtype)
{
    return listed(&(struct listing){.function = "MPI_Type_create_struct",
                                    .combiner = MPI_COMBINER_STRUCT,
                                    .count = count,
                                    .lengths = blocklengths,
                                    .wide = displacements,
                                    .types = types},
                  newtype);
}

int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                            MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();
    const struct run run = {0, 1, wl_type_of(rank, oldtype, "MPI_Type_create_resized")};
    struct maker maker = {.empty = true};

    add_run(&maker, &run);
    struct wl_type *type = finish(&maker);
    type->lb = lb;
    type->extent = extent;
    type->contiguous = type->n_blocks <= 1 && lb == 0 && (size_t)extent == type->size &&
                       (type->n_blocks == 0 || type->blocks[0].at == 0);
    *newtype = wl_table_add(&rank->types, WL_TYPE, type);
    wl_recipe_keep(*newtype, &(struct wl_parts){.combiner = MPI_COMBINER_RESIZED,
                                                .addresses = (MPI_Aint[]){lb, extent},
                                                .n_addresses = 2,
                                                .types = &oldtype,
                                                .n_types = 1});
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* A box of an array: the runs are its rows, along the dimension that varies fastest. */
int MPI_Type_create_subarray(int ndims, const int *sizes, const int *subsizes,
                             const int *starts, int order, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, oldtype, "MPI_Type_create_subarray");
    struct maker maker = {.empty = true};
    size_t rows = 1, all = 1;

    check_count(rank, ndims - 1, "MPI_Type_create_subarray");
    for (int d = 0; d < ndims; d++) {
        bool fastest = order == MPI_ORDER_C ? d == ndims - 1 : d == 0;
        rows *= fastest ? 1 : (size_t)subsizes[d];
        all *= (size_t)sizes[d];
    }
    for (size_t row = 0; row < rows; row++) {
        size_t left = row, stride = 1, at = 0, length = 0;
        for (int k = 0; k < ndims; k++) {
            int d = order == MPI_ORDER_C ? ndims - 1 - k : k;
            size_t here = (size_t)starts[d];
            if (k == 0) {
                length = (size_t)subsizes[d];
            } else {
                here += left % (size_t)subsizes[d];
                left /= (size_t)subsizes[d];
            }
            at += here * stride;
            stride *= (size_t)sizes[d];
        }
        const struct run run = {(MPI_Aint)at * type->extent, length, type};
        add_run(&maker, &run);
    }
    struct wl_type *made = finish(&maker);
    made->lb = 0;
    made->extent = (MPI_Aint)all * type->extent;
    made->contiguous = made->contiguous && (size_t)made->extent == made->size;
    *newtype = wl_table_add(&rank->types, WL_TYPE, made);
    wl_recipe_keep(*newtype, &(struct wl_parts){.combiner = MPI_COMBINER_SUBARRAY,
                                                .ints = {{&ndims, 1},
                                                         {sizes, ndims},
                                                         {subsizes, ndims},
                                                         {starts, ndims},
                                                         {&order, 1}},
                                                .types = &oldtype,
                                                .n_types = 1});
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *old = wl_type_of(rank, oldtype, "MPI_Type_dup");
    struct wl_type *type = wl_malloc(sizeof(*type));
    struct wl_block *blocks = wl_malloc(old->n_blocks * sizeof(struct wl_block));

    memcpy(blocks, old->blocks, old->n_blocks * sizeof(struct wl_block));
    *type = *old;
    type->refs = 1;
    type->predefined = false;
    type->blocks = blocks;
    type->name = NULL;
    type->recipe = NULL;
    type->extra = NULL;
    *newtype = wl_table_add(&rank->types, WL_TYPE, type);
    wl_recipe_keep(
        *newtype,
        &(struct wl_parts){.combiner = MPI_COMBINER_DUP, .types = &oldtype, .n_types = 1});
    int code = wl_attributes_copy(rank, oldtype, wl_type_extra(rank, oldtype, "MPI_Type_dup"),
                                  &type->extra);
    if (code != MPI_SUCCESS) {
        code = wl_error(rank, MPI_COMM_WORLD, code, "MPI_Type_dup",
                        "an attribute could not be copied: %d", code);
        wl_type_release(wl_table_take(&rank->types, WL_TYPE, *newtype));
        *newtype = MPI_DATATYPE_NULL;
    }
    wl_leave(rank);
    return code;
}

/* ---- by their names of MPI-1 ---- */

int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

int MPI_Type_hindexed(int count, int *blocklengths, MPI_Aint *displacements,
                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}

int MPI_Type_struct(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype *types,
                    MPI_Datatype *newtype)
{
    return MPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}
