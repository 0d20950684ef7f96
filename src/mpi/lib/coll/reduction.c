/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction operations as objects, and what they compute. */
#include "mpi/lib/coll/reduction.h"
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/type/predefined.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

enum op_place {
    OP_MAX = 1,
    OP_MIN,
    OP_SUM,
    OP_PROD,
    OP_LAND,
    OP_BAND,
    OP_LOR,
    OP_BOR,
    OP_LXOR,
    OP_BXOR,
    OP_MINLOC,
    OP_MAXLOC,
    OP_REPLACE,
    OP_NO_OP,
    OPS,
};

typedef void kernel(const void *in, void *inout, size_t count);

/* One loop for each operation and type. Packed data need not be aligned. */
#define LOOP(name, type, expression)                                          \
    static void name(const void *in, void *inout, size_t count)               \
    {                                                                         \
        for (size_t i = 0; i < count; i++) {                                  \
            type a, b;                                                        \
            memcpy(&a, (const unsigned char *)in + i * sizeof(a), sizeof(a)); \
            memcpy(&b, (unsigned char *)inout + i * sizeof(b), sizeof(b));    \
            b = (type)(expression);                                           \
            memcpy((unsigned char *)inout + i * sizeof(b), &b, sizeof(b));    \
        }                                                                     \
    }

#define ORDERED(X, kind, type)        \
    X(kind, MAX, type, a > b ? a : b) \
    X(kind, MIN, type, a < b ? a : b)
#define ARITHMETIC(X, kind, type) \
    X(kind, SUM, type, a + b)     \
    X(kind, PROD, type, a *b)
#define LOGICAL(X, kind, type)            \
    X(kind, LAND, type, a != 0 && b != 0) \
    X(kind, LOR, type, a != 0 || b != 0)  \
    X(kind, LXOR, type, (a != 0) != (b != 0))
#define BITS(X, kind, type)   \
    X(kind, BAND, type, a &b) \
    X(kind, BOR, type, a | b) \
    X(kind, BXOR, type, a ^ b)

#define INTEGER(X, kind, type) \
    ORDERED(X, kind, type) ARITHMETIC(X, kind, type) LOGICAL(X, kind, type) BITS(X, kind, type)
/* Logical operations on real numbers are not MPI, but other implementations have them. */
#define REAL(X, kind, type) \
    ORDERED(X, kind, type) ARITHMETIC(X, kind, type) LOGICAL(X, kind, type)

/* clang-format off */
#define ALL(X)                                   \
    INTEGER(X, I8, int8_t)                       \
    INTEGER(X, U8, uint8_t)                      \
    INTEGER(X, I16, int16_t)                     \
    INTEGER(X, U16, uint16_t)                    \
    INTEGER(X, I32, int32_t)                     \
    INTEGER(X, U32, uint32_t)                    \
    INTEGER(X, I64, int64_t)                     \
    INTEGER(X, U64, uint64_t)                    \
    REAL(X, F32, float)                          \
    REAL(X, F64, double)                         \
    REAL(X, FLONG, long double)                  \
    ARITHMETIC(X, C32, float _Complex)           \
    ARITHMETIC(X, C64, double _Complex)          \
    ARITHMETIC(X, CLONG, long double _Complex)   \
    LOGICAL(X, BOOL, _Bool)                      \
    BITS(X, BYTES, unsigned char)
/* clang-format on */

#define DEFINE(kind, op, type, expression) LOOP(kind##_##op, type, expression)
ALL(DEFINE)

#define ENTRY(kind, op, type, expression) [WL_BASIC_##kind][OP_##op] = kind##_##op,
static kernel *const kernels[WL_BASICS][OPS] = {ALL(ENTRY)};

/* MINLOC and MAXLOC of a value and an index. Of equal values, the one with the lower index. */
#define PAIR_LOOPS(place, handle, first, second) \
    LOOP_PAIR(loc_min_##place, first, second, <) LOOP_PAIR(loc_max_##place, first, second, >)
#define LOOP_PAIR(name, first, second, better)                                                \
    static void name(const void *in, void *inout, size_t count)                               \
    {                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                  \
            const unsigned char *x =                                                          \
                (const unsigned char *)in + i * (sizeof(first) + sizeof(second));             \
            unsigned char *y = (unsigned char *)inout + i * (sizeof(first) + sizeof(second)); \
            first a, b;                                                                       \
            second at, bt;                                                                    \
            memcpy(&a, x, sizeof(a));                                                         \
            memcpy(&at, x + sizeof(a), sizeof(at));                                           \
            memcpy(&b, y, sizeof(b));                                                         \
            memcpy(&bt, y + sizeof(b), sizeof(bt));                                           \
            if (a better b || (!(b better a) && at < bt)) {                                   \
                memcpy(y, x, sizeof(a) + sizeof(at));                                         \
            }                                                                                 \
        }                                                                                     \
    }
WL_PAIR_MAP(PAIR_LOOPS)

static const struct {
    uint32_t place;
    size_t size;
    kernel *min, *max;
} pair_kernels[] = {
#define PAIR_ENTRY(place, handle, first, second) \
    {place, sizeof(first) + sizeof(second), loc_min_##place, loc_max_##place},
    WL_PAIR_MAP(PAIR_ENTRY)};

static const struct wl_op predefined[OPS] = {
    {.predefined = 0, .commutes = true},         {.predefined = OP_MAX, .commutes = true},
    {.predefined = OP_MIN, .commutes = true},    {.predefined = OP_SUM, .commutes = true},
    {.predefined = OP_PROD, .commutes = true},   {.predefined = OP_LAND, .commutes = true},
    {.predefined = OP_BAND, .commutes = true},   {.predefined = OP_LOR, .commutes = true},
    {.predefined = OP_BOR, .commutes = true},    {.predefined = OP_LXOR, .commutes = true},
    {.predefined = OP_BXOR, .commutes = true},   {.predefined = OP_MINLOC, .commutes = true},
    {.predefined = OP_MAXLOC, .commutes = true}, {.predefined = OP_REPLACE, .commutes = false},
    {.predefined = OP_NO_OP, .commutes = false},
};

const struct wl_op *wl_op_of(const struct wl_rank *rank, MPI_Op handle)
{
    uint32_t place = wl_handle_place(handle);

    if ((uint32_t)handle >> WL_KIND_SHIFT == WL_OP && place > 0 && place < OPS) {
        return &predefined[place];
    }
    const struct wl_op *op = wl_table_get(&rank->ops, WL_OP, handle);
    if (op == NULL) {
        wl_fatal(rank, "there is no operation 0x%x", (unsigned)handle);
    }
    return op;
}

static const size_t basic_sizes[WL_BASICS] = {
#define X(name, type) [WL_BASIC_##name] = sizeof(type),
    WL_BASIC_MAP(X)
#undef X
        [WL_BASIC_BYTES] = 1,
};

/* The loop for the values of the type, and the size of a value. Null if there is none. */
static kernel *find_kernel(const struct wl_reduction *what, size_t *each)
{
    uint32_t op = what->op->predefined;

    *each = basic_sizes[what->type->basic];
    if (what->type->basic != WL_BASIC_PAIR) {
        return kernels[what->type->basic][op];
    }
    for (size_t i = 0; i < sizeof(pair_kernels) / sizeof(pair_kernels[0]); i++) {
        if (pair_kernels[i].place == wl_handle_place(what->handle)) {
            *each = pair_kernels[i].size;
            return op == OP_MINLOC   ? pair_kernels[i].min
                   : op == OP_MAXLOC ? pair_kernels[i].max
                                     : NULL;
        }
    }
    return NULL;
}

static void call_user(const struct wl_reduction *what, void *in, void *inout)
{
    MPI_Count count = (MPI_Count)what->count;
    int narrow = (int)what->count;
    MPI_Datatype handle = what->handle;

    if (what->op->adapter != NULL) {
        what->op->adapter->op((wl_any_function *)what->op->function, in, inout, narrow, handle);
    } else if (what->op->large != NULL) {
        what->op->large(in, inout, &count, &handle);
    } else {
        what->op->function(in, inout, &narrow, &handle);
    }
}

/* The program's function gets elements in the layout of its datatype. */
static void reduce_by_user(const struct wl_reduction *what, const void *in, void *inout)
{
    const struct wl_type *type = what->type;

    if (type->contiguous) {
        unsigned char *copy = wl_malloc(what->count * type->size);
        memcpy(copy, in, what->count * type->size);
        call_user(what, copy, inout);
        free(copy);
        return;
    }
    size_t span = what->count * (size_t)type->extent + (size_t)type->true_extent;
    unsigned char *memory = wl_calloc(2, span);
    unsigned char *a = memory - type->true_lb, *b = memory + span - type->true_lb;
    wl_unpack(type, in, what->count, a);
    wl_unpack(type, inout, what->count, b);
    call_user(what, a, b);
    wl_pack(type, b, what->count, inout);
    free(memory);
}

void wl_reduce(const struct wl_rank *rank, const struct wl_reduction *what, const void *in,
               void *inout)
{
    if (wl_op_is_user(what->op)) {
        reduce_by_user(what, in, inout);
        return;
    }
    if (what->op->predefined == OP_REPLACE) {
        memcpy(inout, in, what->count * what->type->size);
        return;
    }
    if (what->op->predefined == OP_NO_OP || what->count * what->type->size == 0) {
        return;
    }
    size_t each;
    kernel *loop = find_kernel(what, &each);
    if (loop == NULL) {
        wl_fatal(rank, "the operation is not defined for %s",
                 what->type->name != NULL ? what->type->name : "this datatype");
    }
    /* An element of a derived datatype may have several values. */
    loop(in, inout, what->count * what->type->size / each);
}

bool wl_reduction_is_defined(const struct wl_reduction *what)
{
    uint32_t op = what->op->predefined;
    size_t each;

    return op == OP_REPLACE || op == OP_NO_OP || what->count * what->type->size == 0 ||
           find_kernel(what, &each) != NULL;
}

static void note_first(void *arg, const struct wl_type *type)
{
    const struct wl_type **first = arg;

    *first = *first == NULL ? type : *first;
}

MPI_Datatype wl_pair_within(struct wl_rank *rank, const struct wl_type *type,
                            MPI_Datatype handle)
{
    const struct wl_type *first = NULL;

    if (type->basic == WL_BASIC_PAIR) {
        wl_type_visit(type, &(struct wl_visit){note_first, (void *)&first});
    }
    return first != NULL ? wl_type_handle(rank, first) : handle;
}

/* ---- the MPI functions ---- */

int wl_MPI_Op_create(struct wl_rank *rank, MPI_User_function *function, int commute, MPI_Op *op)
{
    struct wl_op *created = wl_malloc(sizeof(*created));

    *created = (struct wl_op){.commutes = commute != 0, .function = function};
    *op = wl_table_add(&rank->ops, WL_OP, created);
    wl_check_created(rank, *op);
    return MPI_SUCCESS;
}

int wl_MPI_Op_create_c(struct wl_rank *rank, MPI_User_function_c *function, int commute,
                       MPI_Op *op)
{
    struct wl_op *created = wl_malloc(sizeof(*created));

    *created = (struct wl_op){.commutes = commute != 0, .large = function};
    *op = wl_table_add(&rank->ops, WL_OP, created);
    wl_check_created(rank, *op);
    return MPI_SUCCESS;
}

int wl_MPI_Op_free(struct wl_rank *rank, MPI_Op *op)
{
    struct wl_op *own = wl_table_take(&rank->ops, WL_OP, *op);

    if (own == NULL) {
        wl_fatal(rank, "there is no operation 0x%x that the program could free", (unsigned)*op);
    }
    free(own);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int wl_MPI_Reduce_local(struct wl_rank *rank, const void *inbuf, void *inoutbuf,
                        MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
    const struct wl_reduction what = {wl_op_of(rank, op), wl_type_of(rank, datatype), datatype,
                                      (size_t)count};
    size_t bytes = what.count * what.type->size;
    unsigned char *packed = wl_malloc(2 * bytes);

    wl_pack(what.type, inbuf, what.count, packed);
    wl_pack(what.type, inoutbuf, what.count, packed + bytes);
    wl_reduce(rank, &what, packed, packed + bytes);
    wl_unpack(what.type, packed + bytes, what.count, inoutbuf);
    free(packed);
    return MPI_SUCCESS;
}
