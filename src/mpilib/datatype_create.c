/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors of derived datatypes. All of them describe the new type as a list of runs of old
 * elements. */
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

/* A type that is being constructed. */
struct maker {
    struct wl_block *blocks;
    uint32_t n, capacity;
    bool has_extent;               /* lb to true_ub are set */
    bool mixed;                    /* its values have different types */
    bool explicit_lb, explicit_ub; /* the bounds were given: */
    MPI_Aint given_lb, given_ub;
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
    WL_GROW(maker->blocks, maker->n, maker->capacity);
    maker->blocks[maker->n++] = (struct wl_block){at, bytes};
}

static void widen(struct maker *maker, MPI_Aint lb, MPI_Aint ub, MPI_Aint true_lb,
                  MPI_Aint true_ub)
{
    if (!maker->has_extent) {
        maker->has_extent = true;
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

/* Whether the run is a marker of MPI-1, MPI_LB or MPI_UB. */
static bool note_marker(struct maker *maker, const struct run *run)
{
    const char *name = run->type->name != NULL ? run->type->name : "";
    bool is_lb = strcmp(name, "MPI_LB") == 0, is_ub = strcmp(name, "MPI_UB") == 0;

    if (is_lb && (!maker->explicit_lb || run->at < maker->given_lb)) {
        maker->explicit_lb = true;
        maker->given_lb = run->at;
    }
    if (is_ub && (!maker->explicit_ub || run->at > maker->given_ub)) {
        maker->explicit_ub = true;
        maker->given_ub = run->at;
    }
    return is_lb || is_ub;
}

static void add_run(struct maker *maker, const struct run *run)
{
    const struct wl_type *type = run->type;

    if (run->count == 0 || note_marker(maker, run)) {
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

static void set_extent(struct maker *maker, MPI_Aint lb, MPI_Aint extent)
{
    maker->explicit_lb = maker->explicit_ub = true;
    maker->given_lb = lb;
    maker->given_ub = lb + extent;
}

/* The handle of the new type, which remembers how it was constructed. */
static int finish(struct wl_rank *rank, struct maker *maker,
                  const struct wl_constructor *constructor, MPI_Datatype *newtype)
{
    struct wl_type *type = wl_calloc(1, sizeof(*type));
    MPI_Aint lb = maker->explicit_lb ? maker->given_lb : maker->lb;
    MPI_Aint ub = maker->explicit_ub ? maker->given_ub : maker->ub;

    *type = (struct wl_type){
        .refs = 1,
        .basic = maker->mixed ? WL_BASIC_NONE : maker->basic,
        .lb = lb,
        .extent = ub - lb,
        .true_lb = maker->true_lb,
        .true_extent = maker->true_ub - maker->true_lb,
        .size = maker->size,
        .align = maker->align,
        .n_blocks = maker->n,
        .blocks = maker->blocks,
    };
    type->contiguous = maker->n == 0 || (maker->n == 1 && maker->blocks[0].at == 0 &&
                                         type->lb == 0 && (size_t)type->extent == type->size);
    *newtype = wl_table_add(&rank->types, WL_TYPE, type);
    wl_contents_set(rank, *newtype, constructor);
    return MPI_SUCCESS;
}

static size_t check_count(const struct wl_rank *rank, MPI_Count count)
{
    if (count < 0) {
        wl_fatal(rank, "the count %td is negative", count);
    }
    return (size_t)count;
}

int wl_MPI_Type_contiguous(struct wl_rank *rank, MPI_Count count, MPI_Datatype oldtype,
                           MPI_Datatype *newtype)
{
    struct maker maker = {.n = 0};

    add_run(&maker, &(struct run){0, check_count(rank, count), wl_type_of(rank, oldtype)});
    return finish(rank, &maker,
                  &(struct wl_constructor){.combiner = MPI_COMBINER_CONTIGUOUS,
                                           .lists = {{.counts = &count, .n = 1}},
                                           .types = &oldtype,
                                           .n_types = 1},
                  newtype);
}

/* `count` blocks of `blocklength` elements, their beginnings `stride` bytes apart. */
static struct maker strided(struct wl_rank *rank, MPI_Count count, MPI_Count blocklength,
                            MPI_Aint stride, const struct wl_type *type)
{
    struct maker maker = {.n = 0};
    size_t n = check_count(rank, count), length = check_count(rank, blocklength);

    for (size_t i = 0; i < n; i++) {
        add_run(&maker, &(struct run){(MPI_Aint)i * stride, length, type});
    }
    return maker;
}

int wl_MPI_Type_vector(struct wl_rank *rank, MPI_Count count, MPI_Count blocklength,
                       MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    const struct wl_type *type = wl_type_of(rank, oldtype);
    struct maker maker = strided(rank, count, blocklength, stride * type->extent, type);

    return finish(rank, &maker,
                  &(struct wl_constructor){
                      .combiner = MPI_COMBINER_VECTOR,
                      .lists = {{.counts = (MPI_Count[]){count, blocklength, stride}, .n = 3}},
                      .types = &oldtype,
                      .n_types = 1},
                  newtype);
}

int wl_MPI_Type_create_hvector(struct wl_rank *rank, MPI_Count count, MPI_Count blocklength,
                               MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct maker maker = strided(rank, count, blocklength, stride, wl_type_of(rank, oldtype));

    return finish(rank, &maker,
                  &(struct wl_constructor){
                      .combiner = MPI_COMBINER_HVECTOR,
                      .lists = {{.counts = (MPI_Count[]){count, blocklength}, .n = 2}},
                      .addresses = &stride,
                      .n_addresses = 1,
                      .types = &oldtype,
                      .n_types = 1},
                  newtype);
}

/* The arguments of the other constructors: blocks whose places are in elements or in bytes,
 * with one type or one for each block. */
struct listing {
    int combiner;
    MPI_Count count;
    const MPI_Count *lengths; /* null: all are `length` */
    MPI_Count length;
    const MPI_Count *displs;  /* in elements... */
    const MPI_Aint *in_bytes; /* ...or in bytes */
    MPI_Datatype type;
    const MPI_Datatype *types;
};

static int listed(struct wl_rank *rank, const struct listing *list, MPI_Datatype *newtype)
{
    struct maker maker = {.n = 0};
    size_t n = check_count(rank, list->count);
    bool in_elements =
        list->combiner == MPI_COMBINER_INDEXED || list->combiner == MPI_COMBINER_INDEXED_BLOCK;

    for (size_t i = 0; i < n; i++) {
        const struct wl_type *type =
            wl_type_of(rank, list->types != NULL ? list->types[i] : list->type);
        MPI_Count length = list->lengths != NULL ? list->lengths[i] : list->length;
        add_run(&maker,
                &(struct run){in_elements ? list->displs[i] * type->extent : list->in_bytes[i],
                              check_count(rank, length), type});
    }
    bool is_struct = list->combiner == MPI_COMBINER_STRUCT;
    if (is_struct && maker.align > 0) { /* as in C, it ends where the next one may begin */
        MPI_Aint align = (MPI_Aint)maker.align;
        maker.ub = maker.lb + (maker.ub - maker.lb + align - 1) / align * align;
    }
    /* In a struct, which may be empty, each block has its own length and type. */
    MPI_Count of_all = is_struct ? list->count : 1;
    return finish(
        rank, &maker,
        &(struct wl_constructor){
            .combiner = list->combiner,
            .lists = {{.counts = &list->count, .n = 1},
                      {.counts = list->lengths != NULL ? list->lengths : &list->length,
                       .n = list->lengths != NULL ? list->count : of_all},
                      {.counts = list->displs, .n = list->displs != NULL ? list->count : 0}},
            .addresses = list->in_bytes,
            .n_addresses = list->in_bytes != NULL ? list->count : 0,
            .types = list->types != NULL ? list->types : &list->type,
            .n_types = of_all},
        newtype);
}

int wl_MPI_Type_indexed(struct wl_rank *rank, MPI_Count count, const MPI_Count *blocklengths,
                        const MPI_Count *displacements, MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    return listed(rank,
                  &(struct listing){.combiner = MPI_COMBINER_INDEXED,
                                    .count = count,
                                    .lengths = blocklengths,
                                    .displs = displacements,
                                    .type = oldtype},
                  newtype);
}

int wl_MPI_Type_create_hindexed(struct wl_rank *rank, MPI_Count count,
                                const MPI_Count *blocklengths, const MPI_Aint *displacements,
                                MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return listed(rank,
                  &(struct listing){.combiner = MPI_COMBINER_HINDEXED,
                                    .count = count,
                                    .lengths = blocklengths,
                                    .in_bytes = displacements,
                                    .type = oldtype},
                  newtype);
}

int wl_MPI_Type_create_indexed_block(struct wl_rank *rank, MPI_Count count,
                                     MPI_Count blocklength, const MPI_Count *displacements,
                                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return listed(rank,
                  &(struct listing){.combiner = MPI_COMBINER_INDEXED_BLOCK,
                                    .count = count,
                                    .length = blocklength,
                                    .displs = displacements,
                                    .type = oldtype},
                  newtype);
}

int wl_MPI_Type_create_hindexed_block(struct wl_rank *rank, MPI_Count count,
                                      MPI_Count blocklength, const MPI_Aint *displacements,
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return listed(rank,
                  &(struct listing){.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                                    .count = count,
                                    .length = blocklength,
                                    .in_bytes = displacements,
                                    .type = oldtype},
                  newtype);
}

int wl_MPI_Type_create_struct(struct wl_rank *rank, MPI_Count count,
                              const MPI_Count *blocklengths, const MPI_Aint *displacements,
                              const MPI_Datatype *types, MPI_Datatype *newtype)
{
    return listed(rank,
                  &(struct listing){.combiner = MPI_COMBINER_STRUCT,
                                    .count = count,
                                    .lengths = blocklengths,
                                    .in_bytes = displacements,
                                    .types = types},
                  newtype);
}

int wl_MPI_Type_create_resized(struct wl_rank *rank, MPI_Datatype oldtype, MPI_Aint lb,
                               MPI_Aint extent, MPI_Datatype *newtype)
{
    struct maker maker = {.n = 0};

    add_run(&maker, &(struct run){0, 1, wl_type_of(rank, oldtype)});
    set_extent(&maker, lb, extent);
    return finish(rank, &maker,
                  &(struct wl_constructor){.combiner = MPI_COMBINER_RESIZED,
                                           .addresses = (MPI_Aint[]){lb, extent},
                                           .n_addresses = 2,
                                           .types = &oldtype,
                                           .n_types = 1},
                  newtype);
}

/* The runs of a box of an array are its rows, along the dimension that varies fastest. */
int wl_MPI_Type_create_subarray(struct wl_rank *rank, int ndims, const MPI_Count *sizes,
                                const MPI_Count *subsizes, const MPI_Count *starts, int order,
                                MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    const struct wl_type *type = wl_type_of(rank, oldtype);
    struct maker maker = {.n = 0};
    size_t rows = 1, all = 1;

    if (ndims < 1) {
        wl_fatal(rank, "an array of %d dimensions", ndims);
    }
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
        add_run(&maker, &(struct run){(MPI_Aint)at * type->extent, length, type});
    }
    set_extent(&maker, 0, (MPI_Aint)all * type->extent);
    return finish(rank, &maker,
                  &(struct wl_constructor){.combiner = MPI_COMBINER_SUBARRAY,
                                           .lists = {{.ints = &ndims, .n = 1},
                                                     {.counts = sizes, .n = ndims},
                                                     {.counts = subsizes, .n = ndims},
                                                     {.counts = starts, .n = ndims},
                                                     {.ints = &order, .n = 1}},
                                           .types = &oldtype,
                                           .n_types = 1},
                  newtype);
}

/* ---- arrays that are distributed over processes ---- */

/* How one dimension is distributed. */
struct dimension {
    int distribution, argument, processes, place;
    MPI_Count size;
};

static bool is_mine(const struct dimension *dim, MPI_Count i)
{
    MPI_Count block = dim->argument;

    if (dim->distribution == MPI_DISTRIBUTE_NONE || dim->processes == 1) {
        return true;
    }
    if (dim->distribution == MPI_DISTRIBUTE_BLOCK) {
        if (block == MPI_DISTRIBUTE_DFLT_DARG) {
            block = (dim->size + dim->processes - 1) / dim->processes;
        }
        return i / block == dim->place;
    }
    block = block == MPI_DISTRIBUTE_DFLT_DARG ? 1 : block;
    return i / block % dim->processes == dim->place;
}

/* Adds the elements of this process, in the order of the array. */
static void add_elements(struct maker *maker, const struct dimension *dims, int ndims,
                         bool c_order, size_t all, const struct wl_type *type)
{
    for (size_t at = 0; at < all; at++) {
        size_t left = at;
        bool mine = true;
        for (int k = 0; k < ndims && mine; k++) {
            const struct dimension *dim = &dims[c_order ? ndims - 1 - k : k];
            mine = is_mine(dim, (MPI_Count)(left % (size_t)dim->size));
            left /= (size_t)dim->size;
        }
        if (mine) {
            add_run(maker, &(struct run){(MPI_Aint)at * type->extent, 1, type});
        }
    }
}

int wl_MPI_Type_create_darray(struct wl_rank *rank, int size, int place, int ndims,
                              const MPI_Count *gsizes, const int *distribs, const int *dargs,
                              const int *psizes, int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    const struct wl_type *type = wl_type_of(rank, oldtype);
    struct dimension *dims = wl_malloc((size_t)ndims * sizeof(struct dimension));
    struct maker maker = {.n = 0};
    int left = place;
    size_t all = 1;

    for (int d = ndims - 1; d >= 0; d--) { /* processes are always in the order of C */
        dims[d] =
            (struct dimension){distribs[d], dargs[d], psizes[d], left % psizes[d], gsizes[d]};
        left /= psizes[d];
        all *= (size_t)gsizes[d];
    }
    add_elements(&maker, dims, ndims, order == MPI_ORDER_C, all, type);
    free(dims);
    set_extent(&maker, 0, (MPI_Aint)all * type->extent);
    return finish(
        rank, &maker,
        &(struct wl_constructor){.combiner = MPI_COMBINER_DARRAY,
                                 .lists = {{.ints = (int[]){size, place, ndims}, .n = 3},
                                           {.counts = gsizes, .n = ndims},
                                           {.ints = distribs, .n = ndims},
                                           {.ints = dargs, .n = ndims},
                                           {.ints = psizes, .n = ndims},
                                           {.ints = &order, .n = 1}},
                                 .types = &oldtype,
                                 .n_types = 1},
        newtype);
}

int wl_MPI_Type_dup(struct wl_rank *rank, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    const struct wl_type *old = wl_type_of(rank, oldtype);
    struct wl_type *type = wl_malloc(sizeof(*type));
    struct wl_block *blocks = wl_malloc(old->n_blocks * sizeof(struct wl_block));

    memcpy(blocks, old->blocks, old->n_blocks * sizeof(struct wl_block));
    *type = *old;
    type->refs = 1;
    type->predefined = false;
    type->blocks = blocks;
    type->name = NULL;
    type->contents = NULL;
    type->properties = NULL;
    *newtype = wl_table_add(&rank->types, WL_TYPE, type);
    wl_contents_set(rank, *newtype,
                    &(struct wl_constructor){
                        .combiner = MPI_COMBINER_DUP, .types = &oldtype, .n_types = 1});
    int code =
        wl_attributes_copy(rank, oldtype, wl_type_properties(rank, oldtype), &type->properties);
    if (code != MPI_SUCCESS) {
        code = wl_error(rank, MPI_COMM_WORLD, code,
                        "an attribute could not be copied: error %d", code);
        wl_type_release(wl_table_take(&rank->types, WL_TYPE, *newtype));
        *newtype = MPI_DATATYPE_NULL;
    }
    return code;
}

/* ---- predefined datatypes by size ---- */

int wl_MPI_Type_match_size(struct wl_rank *rank, int typeclass, int size,
                           MPI_Datatype *datatype)
{
    static const struct {
        int typeclass, size;
        MPI_Datatype type;
    } known[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
        {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}, {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
        {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].typeclass == typeclass && known[i].size == size) {
            *datatype = known[i].type;
            return MPI_SUCCESS;
        }
    }
    wl_fatal(rank, "there is no predefined datatype of %d bytes", size);
}

/* The smallest type with so many decimal digits. */
int wl_MPI_Type_create_f90_integer(struct wl_rank *rank, int range, MPI_Datatype *newtype)
{
    *newtype = range <= 2   ? MPI_INTEGER1
               : range <= 4 ? MPI_INTEGER2
               : range <= 9 ? MPI_INTEGER4
                            : MPI_INTEGER8;
    return MPI_SUCCESS;
}

/* MPI_UNDEFINED, which is negative, fits. */
static bool fits_single(int precision, int range)
{
    return precision <= 6 && range <= 37;
}

int wl_MPI_Type_create_f90_real(struct wl_rank *rank, int precision, int range,
                                MPI_Datatype *newtype)
{
    *newtype = fits_single(precision, range) ? MPI_REAL4 : MPI_REAL8;
    return MPI_SUCCESS;
}

int wl_MPI_Type_create_f90_complex(struct wl_rank *rank, int precision, int range,
                                   MPI_Datatype *newtype)
{
    *newtype = fits_single(precision, range) ? MPI_COMPLEX8 : MPI_COMPLEX16;
    return MPI_SUCCESS;
}
