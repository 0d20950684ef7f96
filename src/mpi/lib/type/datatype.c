/* SPDX-License-Identifier: Apache-2.0 */
/* Predefined datatypes, references, packing, and what programs ask of a datatype. */
#include "mpi/lib/type/datatype.h"

#include "mpi/lib/comm/properties.h"
#include "mpi/lib/type/contents.h"
#include "mpi/lib/type/predefined.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define RUN(place, ctype)                                 \
    {                                                     \
        .at = (place), .bytes = sizeof(ctype), .count = 1 \
    }

/* A pair may have a hole between its two runs of bytes. */
#define PLAIN(place, handle, ctype, kind)                          \
    [place] = {.basic = WL_BASIC_##kind,                           \
               .extent = sizeof(ctype),                            \
               .true_extent = sizeof(ctype),                       \
               .size = sizeof(ctype),                              \
               .align = _Alignof(ctype),                           \
               .n_blocks = 1,                                      \
               .contiguous = true,                                 \
               .committed = true,                                  \
               .predefined = true,                                 \
               .blocks = (const struct wl_block[]){RUN(0, ctype)}, \
               .name = #handle},

#define PAIR_STRUCT(first, second) \
    struct {                       \
        first a;                   \
        second b;                  \
    }
#define PAIR_OFFSET(first, second) \
    ((sizeof(first) + _Alignof(second) - 1) / _Alignof(second) * _Alignof(second))
#define PAIR(place, handle, first, second)                                                     \
    [place] = {                                                                                \
        .basic = WL_BASIC_PAIR,                                                                \
        .extent = sizeof(PAIR_STRUCT(first, second)),                                          \
        .true_extent = PAIR_OFFSET(first, second) + sizeof(second),                            \
        .size = sizeof(first) + sizeof(second),                                                \
        .align = _Alignof(PAIR_STRUCT(first, second)),                                         \
        .n_blocks = 2,                                                                         \
        .contiguous = sizeof(PAIR_STRUCT(first, second)) == sizeof(first) + sizeof(second),    \
        .committed = true,                                                                     \
        .predefined = true,                                                                    \
        .blocks =                                                                              \
            (const struct wl_block[]){RUN(0, first), RUN(PAIR_OFFSET(first, second), second)}, \
        .name = #handle},

/* The markers of MPI-1 for the lower and the upper bound of a struct. */
#define MARKER(place, handle) \
    [place] = {.committed = true, .predefined = true, .contiguous = true, .name = #handle},

static const struct wl_type predefined[] = {WL_TYPE_MAP(PLAIN) WL_PAIR_MAP(PAIR)
                                                MARKER(58, MPI_LB) MARKER(59, MPI_UB)};
enum { N_PREDEFINED = sizeof(predefined) / sizeof(predefined[0]) };

const struct wl_type *wl_type_of(const struct wl_rank *rank, MPI_Datatype handle)
{
    uint32_t place = wl_handle_place(handle);

    if ((uint32_t)handle >> WL_KIND_SHIFT == WL_TYPE && place > 0 && place < N_PREDEFINED) {
        return &predefined[place];
    }
    const struct wl_type *type = wl_table_get(&rank->types, WL_TYPE, handle);
    if (type == NULL) {
        wl_fatal(rank, "there is no datatype 0x%x", (unsigned)handle);
    }
    return type;
}

MPI_Datatype wl_type_handle(struct wl_rank *rank, const struct wl_type *type)
{
    if (type->predefined) {
        return wl_handle(WL_TYPE, (uint32_t)(type - predefined));
    }
    wl_type_hold(type);
    return wl_table_add(&rank->types, WL_TYPE, (void *)(uintptr_t)type);
}

/* Atomic, because the target of a one-sided access releases the type that its origin holds. */
void wl_type_hold(const struct wl_type *type)
{
    struct wl_type *own = (struct wl_type *)(uintptr_t)type;

    if (!type->predefined) {
        (void)__atomic_add_fetch(&own->refs, 1, __ATOMIC_RELAXED);
    }
}

void wl_type_release(const struct wl_type *type)
{
    struct wl_type *own = (struct wl_type *)(uintptr_t)type;

    if (type != NULL && !type->predefined &&
        __atomic_sub_fetch(&own->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        free((void *)(uintptr_t)type->blocks);
        wl_contents_free(type->contents);
        wl_properties_free(type->properties);
        free(own);
    }
}

/* ---- packing ---- */

/* Copies `count` runs of a size that the compiler knows. */
#define COPY_RUNS(bytes)                                           \
    for (size_t i = 0; i < count; i++, from += step, to += jump) { \
        memcpy(to, from, bytes);                                   \
    }

/* Copies runs whose beginnings are `step` bytes apart here and `jump` bytes there. */
static void copy_runs(size_t bytes, size_t count, const unsigned char *from, MPI_Aint step,
                      unsigned char *to, MPI_Aint jump)
{
    switch (bytes) {
    case 4:
        COPY_RUNS(4)
        break;
    case 8:
        COPY_RUNS(8)
        break;
    case 16:
        COPY_RUNS(16)
        break;
    default:
        COPY_RUNS(bytes)
        break;
    }
}

/* Packs n blocks. Returns where the next data goes. */
static unsigned char *pack_blocks(const struct wl_block *blocks, uint32_t n,
                                  const unsigned char *from, unsigned char *to)
{
    for (const struct wl_block *b = blocks; b < blocks + n; b += 1 + b->n_inner) {
        if (b->n_inner == 0) {
            copy_runs(b->bytes, b->count, from + b->at, b->stride, to, (MPI_Aint)b->bytes);
            to += b->count * b->bytes;
            continue;
        }
        for (size_t i = 0; i < b->count; i++) {
            to = pack_blocks(b + 1, b->n_inner, from + b->at + (MPI_Aint)i * b->stride, to);
        }
    }
    return to;
}

void wl_pack(const struct wl_type *type, const void *from, size_t count, void *to)
{
    const unsigned char *element = from;
    unsigned char *out = to;

    if (type->contiguous) {
        if (count * type->size > 0) {
            memcpy(to, from, count * type->size);
        }
        return;
    }
    for (size_t i = 0; i < count; i++, element += type->extent) {
        out = pack_blocks(type->blocks, type->n_blocks, element, out);
    }
}

/* Packed data that is being unpacked. */
struct packed {
    const unsigned char *at;
    size_t left;
};

static void unpack_runs(const struct wl_block *run, struct packed *from, unsigned char *to)
{
    size_t whole = from->left / run->bytes;
    size_t count = whole < run->count ? whole : run->count;

    copy_runs(run->bytes, count, from->at, (MPI_Aint)run->bytes, to, run->stride);
    from->at += count * run->bytes;
    from->left -= count * run->bytes;
    if (count < run->count && from->left > 0) { /* a part of a run, the end of the data */
        memcpy(to + (MPI_Aint)count * run->stride, from->at, from->left);
        from->left = 0;
    }
}

static void unpack_blocks(const struct wl_block *blocks, uint32_t n, struct packed *from,
                          unsigned char *to)
{
    for (const struct wl_block *b = blocks; b < blocks + n && from->left > 0;
         b += 1 + b->n_inner) {
        if (b->n_inner == 0) {
            unpack_runs(b, from, to + b->at);
            continue;
        }
        for (size_t i = 0; i < b->count && from->left > 0; i++) {
            unpack_blocks(b + 1, b->n_inner, from, to + b->at + (MPI_Aint)i * b->stride);
        }
    }
}

void wl_unpack_bytes(const struct wl_type *type, const void *from, size_t bytes, void *to)
{
    struct packed packed = {from, bytes};
    unsigned char *element = to;

    if (type->contiguous) {
        if (bytes > 0) {
            memcpy(to, from, bytes);
        }
        return;
    }
    for (; packed.left > 0; element += type->extent) {
        unpack_blocks(type->blocks, type->n_blocks, &packed, element);
    }
}

MPI_Aint wl_type_locate(const struct wl_type *type, size_t packed, size_t *run)
{
    const struct wl_block *b = type->blocks;
    MPI_Aint at = 0;

    for (;;) {
        while (packed >= b->count * b->bytes) {
            packed -= b->count * b->bytes;
            b += 1 + b->n_inner;
        }
        at += b->at + (MPI_Aint)(packed / b->bytes) * b->stride;
        packed %= b->bytes;
        if (b->n_inner == 0) {
            *run = b->bytes - packed;
            return at + (MPI_Aint)packed;
        }
        b++;
    }
}

/* How a sequence of runs lies in memory: where its first and its last one begin, the end of all, and
 * their order. */
struct span {
    MPI_Aint first, last, end;
    enum wl_order order;
    bool empty;
};

/* Two sequences as one. */
static struct span joined(struct span one, struct span other)
{
    struct span both = {.first = one.first, .last = other.last};

    if (one.empty || other.empty) {
        return one.empty ? other : one;
    }
    both.end = one.end > other.end ? one.end : other.end;
    both.order = one.order > other.order ? one.order : other.order;
    if (other.first < one.last) {
        both.order = WL_ORDER_NONE;
    } else if (other.first < one.end && both.order == WL_ORDER_APART) {
        both.order = WL_ORDER_OVERLAPS;
    }
    return both;
}

static struct span moved(struct span span, MPI_Aint by)
{
    span.first += by;
    span.last += by;
    span.end += by;
    return span;
}

/* The repetitions of a block follow each other as the first two do. */
static struct span repeated(struct span once, const struct wl_block *b)
{
    struct span all = once;

    if (b->count > 1) {
        all.order = joined(once, moved(once, b->stride)).order;
        all = joined(all, moved(once, (MPI_Aint)(b->count - 1) * b->stride));
    }
    return all;
}

static struct span span_of(const struct wl_block *b, uint32_t n)
{
    struct span all = {.empty = true};

    for (const struct wl_block *end = b + n; b < end; b += 1 + b->n_inner) {
        struct span once = b->n_inner > 0 ? span_of(b + 1, b->n_inner)
                                          : (struct span){.end = (MPI_Aint)b->bytes};
        if (b->count > 0) {
            all = joined(all, repeated(moved(once, b->at), b));
        }
    }
    return all;
}

enum wl_order wl_type_order(const struct wl_type *type)
{
    return span_of(type->blocks, type->n_blocks).order;
}

void wl_unpack(const struct wl_type *type, const void *from, size_t count, void *to)
{
    wl_unpack_bytes(type, from, count * type->size, to);
}

/* ---- the MPI functions ---- */

int wl_MPI_Type_commit(struct wl_rank *rank, MPI_Datatype *datatype)
{
    const struct wl_type *type = wl_type_of(rank, *datatype);

    if (!type->predefined) {
        ((struct wl_type *)(uintptr_t)type)->committed = true;
    }
    return MPI_SUCCESS;
}

int wl_MPI_Type_free(struct wl_rank *rank, MPI_Datatype *datatype)
{
    wl_attributes_delete(rank, *datatype, &wl_type_of(rank, *datatype)->properties);
    struct wl_type *type = wl_table_take(&rank->types, WL_TYPE, *datatype);

    if (type == NULL) {
        wl_fatal(rank, "there is no datatype 0x%x that can be freed", (unsigned)*datatype);
    }
    wl_type_release(type);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int wl_MPI_Type_get_extent(struct wl_rank *rank, MPI_Datatype datatype, MPI_Count *lb,
                           MPI_Count *extent)
{
    const struct wl_type *type = wl_type_of(rank, datatype);

    *lb = type->lb;
    *extent = type->extent;
    return MPI_SUCCESS;
}

MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint displacement)
{
    return base + displacement;
}

MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other)
{
    return one - other;
}

int wl_MPI_Pack(struct wl_rank *rank, const void *inbuf, MPI_Count incount,
                MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position,
                MPI_Comm comm)
{
    const struct wl_type *type = wl_type_of(rank, datatype);
    size_t bytes = (size_t)incount * type->size;

    if (bytes > (size_t)outsize - (size_t)*position) {
        wl_fatal(rank, "%zu bytes do not fit after byte %td of a buffer of %td", bytes,
                 *position, outsize);
    }
    wl_pack(type, inbuf, (size_t)incount, (unsigned char *)outbuf + *position);
    *position += (MPI_Count)bytes;
    return MPI_SUCCESS;
}

int wl_MPI_Unpack(struct wl_rank *rank, const void *inbuf, MPI_Count insize,
                  MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype,
                  MPI_Comm comm)
{
    const struct wl_type *type = wl_type_of(rank, datatype);
    size_t bytes = (size_t)outcount * type->size;

    if (bytes > (size_t)insize - (size_t)*position) {
        wl_fatal(rank, "there are no %zu bytes after byte %td of a buffer of %td", bytes,
                 *position, insize);
    }
    wl_unpack(type, (const unsigned char *)inbuf + *position, (size_t)outcount, outbuf);
    *position += (MPI_Count)bytes;
    return MPI_SUCCESS;
}
