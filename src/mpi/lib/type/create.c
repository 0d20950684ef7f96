/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors of derived datatypes. All of them describe the new type as a list of runs of old
 * elements. */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/type/contents.h"

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
    uint32_t closed;               /* blocks that must not be joined with others */
    bool has_extent;               /* lb to true_ub are set */
    bool overflows;                /* a size or a place passes 2^63 bytes */
    bool mixed;                    /* its values have different types */
    bool explicit_lb, explicit_ub; /* the bounds were given: */
    MPI_Aint given_lb, given_ub;
    enum wl_basic basic;
    MPI_Aint lb, ub, true_lb, true_ub;
    size_t size, align;
};

static void add_block(struct maker *maker, const struct wl_block *block)
{
    struct wl_block *last = maker->n > maker->closed ? &maker->blocks[maker->n - 1] : NULL;

    if (last != NULL && last->count == 1 && last->n_inner == 0 && block->count == 1 &&
        last->at + (MPI_Aint)last->bytes == block->at) {
        last->bytes += block->bytes;
        return;
    }
    WL_GROW(maker->blocks, maker->n, maker->capacity);
    maker->blocks[maker->n++] = *block;
}

/* Adds the blocks of an element, or of another maker, at this place. */
static void add_blocks(struct maker *maker, MPI_Aint at, const struct wl_block *blocks,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n;) {
        uint32_t inner = blocks[i].n_inner;
        struct wl_block block = blocks[i++];
        block.at += at;
        if (inner == 0) {
            add_block(maker, &block);
            continue;
        }
        for (uint32_t k = 0; k <= inner; k++) {
            WL_GROW(maker->blocks, maker->n, maker->capacity);
            maker->blocks[maker->n++] = k == 0 ? block : blocks[i++];
        }
        maker->closed = maker->n;
    }
}

/* A run that is repeated stays a run if its repetitions are adjacent or in one step. */
static bool repeat_run(struct wl_block *run, size_t count, MPI_Aint stride)
{
    bool single = run->count == 1;

    if (run->n_inner > 0 || (!single && stride != (MPI_Aint)run->count * run->stride)) {
        return false;
    }
    if (single && stride == (MPI_Aint)run->bytes) {
        run->bytes *= count;
        return true;
    }
    run->stride = single ? stride : run->stride;
    run->count *= count;
    return true;
}

/* Repeats the blocks from number `from` on. */
static void repeat(struct maker *maker, uint32_t from, size_t count, MPI_Aint stride)
{
    uint32_t n = maker->n - from;
    size_t bytes = 0;

    if (count == 1 || n == 0) {
        return;
    }
    if (n == 1 && repeat_run(&maker->blocks[from], count, stride)) {
        return;
    }
    for (uint32_t i = from; i < maker->n; i += 1 + maker->blocks[i].n_inner) {
        bytes += maker->blocks[i].count * maker->blocks[i].bytes;
    }
    WL_GROW(maker->blocks, maker->n, maker->capacity);
    memmove(maker->blocks + from + 1, maker->blocks + from, n * sizeof(struct wl_block));
    maker->blocks[from] =
        (struct wl_block){.bytes = bytes, .count = count, .stride = stride, .n_inner = n};
    maker->closed = ++maker->n;
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

/* a * b + c, which the maker notes if it does not fit. */
static MPI_Aint times_plus(struct maker *maker, MPI_Aint a, MPI_Aint b, MPI_Aint c)
{
    MPI_Aint product, sum;

    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum)) {
        maker->overflows = true;
        return 0;
    }
    return sum;
}

/* Notes everything of a run but its blocks. False if it has none. */
static bool note_run(struct maker *maker, const struct run *run)
{
    const struct wl_type *type = run->type;

    if (run->count == 0 || note_marker(maker, run)) {
        return false;
    }
    MPI_Aint last = times_plus(maker, (MPI_Aint)(run->count - 1), type->extent, run->at);
    MPI_Aint low = run->at < last ? run->at : last, high = run->at < last ? last : run->at;

    note_basic(maker, type->basic);
    maker->size = (size_t)times_plus(maker, (MPI_Aint)run->count, (MPI_Aint)type->size,
                                     (MPI_Aint)maker->size);
    maker->align = type->align > maker->align ? type->align : maker->align;
    MPI_Aint lb = times_plus(maker, 1, low, type->lb);
    MPI_Aint ub = times_plus(maker, 1, times_plus(maker, 1, high, type->lb), type->extent);
    MPI_Aint true_lb = times_plus(maker, 1, low, type->true_lb);
    MPI_Aint true_ub =
        times_plus(maker, 1, times_plus(maker, 1, high, type->true_lb), type->true_extent);
    if (!maker->overflows) {
        widen(maker, lb, ub, true_lb, true_ub);
    }
    return !maker->overflows;
}

static void add_run_blocks(struct maker *maker, const struct run *run)
{
    const struct wl_type *type = run->type;

    if (type->contiguous && type->size > 0) {
        add_block(maker, &(struct wl_block){
                             .at = run->at, .bytes = run->count * type->size, .count = 1});
        return;
    }
    uint32_t from = maker->n;
    if (run->count > 1) {
        maker->closed = from;
    }
    add_blocks(maker, run->at, type->blocks, type->n_blocks);
    repeat(maker, from, run->count, type->extent);
}

static void add_run(struct maker *maker, const struct run *run)
{
    if (note_run(maker, run)) {
        add_run_blocks(maker, run);
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
    MPI_Aint lb = maker->explicit_lb ? maker->given_lb : maker->lb;
    MPI_Aint ub = maker->explicit_ub ? maker->given_ub : maker->ub;
    MPI_Aint extent;

    if (__builtin_sub_overflow(ub, lb, &extent) || maker->overflows) {
        free(maker->blocks);
        wl_fatal(rank, "the size or the extent of the datatype passes 2^63 bytes");
    }
    struct wl_type *type = wl_calloc(1, sizeof(*type));

    *type = (struct wl_type){
        .refs = 1,
        .basic = maker->mixed ? WL_BASIC_NONE : maker->basic,
        .lb = lb,
        .extent = extent,
        .true_lb = maker->true_lb,
        .true_extent = maker->true_ub - maker->true_lb,
        .size = maker->size,
        .align = maker->align,
        .n_blocks = maker->n,
        .blocks = maker->blocks,
    };
    type->contiguous = maker->n == 0 || (maker->n == 1 && maker->blocks[0].count == 1 &&
                                         maker->blocks[0].at == 0 && type->lb == 0 &&
                                         (size_t)type->extent == type->size);
    *newtype = wl_table_add(&rank->types, WL_TYPE, type);
    wl_check_created(rank, *newtype);
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
    struct run run = {0, length, type};

    if (n > 0 && note_run(&maker, &run)) {
        MPI_Aint size = times_plus(&maker, (MPI_Aint)n, (MPI_Aint)maker.size, 0);
        run.at =
            times_plus(&maker, (MPI_Aint)(n - 1), stride, 0); /* the last one, for the extent */
        if (note_run(&maker, &run)) {
            run.at = 0;
            add_run_blocks(&maker, &run);
            repeat(&maker, 0, n, stride);
        }
        maker.size = (size_t)size;
    }
    return maker;
}

int wl_MPI_Type_vector(struct wl_rank *rank, MPI_Count count, MPI_Count blocklength,
                       MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    const struct wl_type *type = wl_type_of(rank, oldtype);
    struct maker check = {.n = 0};
    MPI_Aint step = times_plus(&check, stride, type->extent, 0);
    struct maker maker = strided(rank, count, blocklength, step, type);

    maker.overflows |= check.overflows;
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

int wl_type_from_list(struct wl_rank *rank, const struct wl_type_list *list,
                      MPI_Datatype *newtype)
{
    struct maker maker = {.n = 0};
    size_t n = check_count(rank, list->count);
    bool in_elements =
        list->combiner == MPI_COMBINER_INDEXED || list->combiner == MPI_COMBINER_INDEXED_BLOCK;

    for (size_t i = 0; i < n; i++) {
        const struct wl_type *type =
            wl_type_of(rank, list->types != NULL ? list->types[i] : list->type);
        MPI_Count length = list->lengths != NULL ? list->lengths[i] : list->length;
        MPI_Aint at = in_elements ? times_plus(&maker, list->displs[i], type->extent, 0)
                                  : list->in_bytes[i];
        add_run(&maker, &(struct run){at, check_count(rank, length), type});
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

/* A box of an array is repeated in each dimension, beginning with that which varies fastest. */
int wl_MPI_Type_create_subarray(struct wl_rank *rank, int ndims, const MPI_Count *sizes,
                                const MPI_Count *subsizes, const MPI_Count *starts, int order,
                                MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    const struct wl_type *type = wl_type_of(rank, oldtype);
    struct maker maker = {.n = 0};
    struct run first = {0, 1, type}, last = {0, 1, type};
    size_t all = 1, elements = 1;

    if (ndims < 1) {
        wl_fatal(rank, "an array of %d dimensions", ndims);
    }
    for (int k = 0; k < ndims; k++) {
        int d = order == MPI_ORDER_C ? ndims - 1 - k : k;
        MPI_Aint stride = (MPI_Aint)all * type->extent;
        first.at += starts[d] * stride;
        last.at += (starts[d] + subsizes[d] - 1) * stride;
        all *= (size_t)sizes[d];
        elements *= (size_t)subsizes[d];
    }
    if (elements > 0 && note_run(&maker, &first)) {
        (void)note_run(&maker, &last);
        maker.size = elements * type->size;
        add_run_blocks(&maker, &first);
        all = 1;
        for (int k = 0; k < ndims; k++) {
            int d = order == MPI_ORDER_C ? ndims - 1 - k : k;
            repeat(&maker, 0, (size_t)subsizes[d], (MPI_Aint)all * type->extent);
            all *= (size_t)sizes[d];
        }
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

/* The indices of this process in one dimension: whole blocks, then a part of a block. */
struct share {
    MPI_Count first, block, n_blocks, step, rest; /* the part has `rest` indices */
};

static struct share share_of(const struct dimension *dim)
{
    MPI_Count block = dim->argument, processes = dim->processes;

    if (dim->distribution == MPI_DISTRIBUTE_NONE || processes == 1) {
        return (struct share){0, dim->size, dim->size > 0, dim->size, 0};
    }
    if (block == MPI_DISTRIBUTE_DFLT_DARG) {
        block = dim->distribution == MPI_DISTRIBUTE_BLOCK
                    ? (dim->size + processes - 1) / processes
                    : 1;
    }
    MPI_Count first = dim->place * block, step = processes * block;
    MPI_Count left = dim->size > first ? dim->size - first : 0, n_blocks = left / step;
    MPI_Count rest = left - n_blocks * step; /* in the last round */
    n_blocks += rest >= block;
    return (struct share){first, block, n_blocks, step, rest < block ? rest : 0};
}

/* The highest index of the share, which is not empty. */
static MPI_Count last_of(const struct share *share)
{
    return share->rest > 0
               ? share->first + share->n_blocks * share->step + share->rest - 1
               : share->first + (share->n_blocks - 1) * share->step + share->block - 1;
}

/* Replaces the blocks of the maker by those of one more dimension. */
static void distribute(struct maker *maker, const struct share *share, MPI_Aint stride)
{
    struct maker outer = {.n = 0};

    if (share->n_blocks > 0) {
        add_blocks(&outer, share->first * stride, maker->blocks, maker->n);
        repeat(&outer, 0, (size_t)share->block, stride);
        repeat(&outer, 0, (size_t)share->n_blocks, share->step * stride);
    }
    if (share->rest > 0) {
        uint32_t from = outer.closed = outer.n;
        add_blocks(&outer, (share->first + share->n_blocks * share->step) * stride,
                   maker->blocks, maker->n);
        repeat(&outer, from, (size_t)share->rest, stride);
    }
    free(maker->blocks);
    maker->blocks = outer.blocks;
    maker->n = outer.n;
    maker->capacity = outer.capacity;
    maker->closed = outer.closed;
}

/* Adds the elements of this process, in the order of the array. */
static void add_elements(struct maker *maker, const struct dimension *dims, int ndims,
                         bool c_order, const struct wl_type *type)
{
    struct run first = {0, 1, type}, last = {0, 1, type};
    MPI_Aint stride = type->extent;
    size_t elements = 1;

    add_run_blocks(maker, &first);
    for (int k = 0; k < ndims; k++) {
        const struct dimension *dim = &dims[c_order ? ndims - 1 - k : k];
        struct share share = share_of(dim);
        elements *= (size_t)(share.n_blocks * share.block + share.rest);
        if (elements > 0) {
            first.at += share.first * stride;
            last.at += last_of(&share) * stride;
        }
        distribute(maker, &share, stride);
        stride *= dim->size;
    }
    if (elements > 0 && note_run(maker, &first)) {
        (void)note_run(maker, &last);
    }
    maker->size = elements * type->size;
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
    add_elements(&maker, dims, ndims, order == MPI_ORDER_C, type);
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
    wl_check_created(rank, *newtype);
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

/* ---- types by decimal digits, of Fortran 90 ---- */

/* A type that is as `like`, but remembers how it was asked for. The same question gets the same
 * type, which the program does not free. */
static int sized_type(struct wl_rank *rank, int combiner, const int *digits, int n,
                      MPI_Datatype like, MPI_Datatype *newtype)
{
    for (uint32_t i = 0; i < wl_table_n(&rank->types); i++) {
        const struct wl_type *type = wl_table_at(&rank->types, i);
        if (type != NULL && wl_contents_are(type, combiner, digits, n)) {
            *newtype = wl_handle(WL_TYPE, i + WL_OBJECT_FIRST);
            return MPI_SUCCESS;
        }
    }
    struct wl_type *type = wl_malloc(sizeof(*type));
    struct wl_block *block = wl_malloc(sizeof(*block));

    *type = *wl_type_of(rank, like);
    *block = type->blocks[0];
    type->refs = 1;
    type->predefined = false;
    type->blocks = block;
    type->name = NULL;
    *newtype = wl_table_add(&rank->types, WL_TYPE, type);
    wl_check_created(rank, *newtype);
    wl_contents_set(
        rank, *newtype,
        &(struct wl_constructor){.combiner = combiner, .lists = {{.ints = digits, .n = n}}});
    return MPI_SUCCESS;
}

int wl_MPI_Type_create_f90_integer(struct wl_rank *rank, int range, MPI_Datatype *newtype)
{
    if (range > 18) {
        return wl_error(rank, MPI_COMM_WORLD, MPI_ERR_ARG, "no integer has %d digits", range);
    }
    return sized_type(rank, MPI_COMBINER_F90_INTEGER, &range, 1,
                      range <= 2   ? MPI_INTEGER1
                      : range <= 4 ? MPI_INTEGER2
                      : range <= 9 ? MPI_INTEGER4
                                   : MPI_INTEGER8,
                      newtype);
}

/* Which of three numbers of single, double and quadruple precision has so many digits; null if
 * there is none. MPI_UNDEFINED, which is negative, fits. */
static const MPI_Datatype *fitting(const MPI_Datatype *types, int precision, int range)
{
    return precision <= 6 && range <= 37      ? &types[0]
           : precision <= 15 && range <= 307  ? &types[1]
           : precision <= 33 && range <= 4931 ? &types[2]
                                              : NULL;
}

static int sized_real(struct wl_rank *rank, int combiner, const int *digits,
                      const MPI_Datatype *types, MPI_Datatype *newtype)
{
    const MPI_Datatype *like = fitting(types, digits[0], digits[1]);

    return like != NULL
               ? sized_type(rank, combiner, digits, 2, *like, newtype)
               : wl_error(rank, MPI_COMM_WORLD, MPI_ERR_ARG,
                          "no number has %d digits and a range of %d", digits[0], digits[1]);
}

int wl_MPI_Type_create_f90_real(struct wl_rank *rank, int precision, int range,
                                MPI_Datatype *newtype)
{
    return sized_real(rank, MPI_COMBINER_F90_REAL, (int[]){precision, range},
                      (const MPI_Datatype[]){MPI_REAL4, MPI_REAL8, MPI_REAL16}, newtype);
}

int wl_MPI_Type_create_f90_complex(struct wl_rank *rank, int precision, int range,
                                   MPI_Datatype *newtype)
{
    return sized_real(rank, MPI_COMBINER_F90_COMPLEX, (int[]){precision, range},
                      (const MPI_Datatype[]){MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32},
                      newtype);
}
