/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/coll.h"

#include "base/units.h"
#include "program/ops/fields.h"

#include <stddef.h>

/* How the bytes sent and received follow from the block size of a collective. */
enum shape {
    EMPTY,
    BCAST,
    GATHER, /* and reduce: the root receives from all */
    SCATTER,
    ALLREDUCE,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    NO_OP,
};

struct row {
    const char *name;
    enum wf_op_kind kind, nonblocking;
    enum shape shape;
};

/* Indexed by OTF2's numbers of the collectives. */
static const struct row rows[] = {
    {"BARRIER", WF_OP_BARRIER, WF_OP_IBARRIER, EMPTY},
    {"BCAST", WF_OP_BCAST, WF_OP_IBCAST, BCAST},
    {"GATHER", WF_OP_GATHER, WF_OP_IGATHER, GATHER},
    {"GATHERV", WF_OP_GATHERV, WF_OP_IGATHERV, GATHER},
    {"SCATTER", WF_OP_SCATTER, WF_OP_ISCATTER, SCATTER},
    {"SCATTERV", WF_OP_SCATTERV, WF_OP_ISCATTERV, SCATTER},
    {"ALLGATHER", WF_OP_ALLGATHER, WF_OP_IALLGATHER, ALLGATHER},
    {"ALLGATHERV", WF_OP_ALLGATHERV, WF_OP_IALLGATHERV, ALLGATHER},
    {"ALLTOALL", WF_OP_ALLTOALL, WF_OP_IALLTOALL, ALLTOALL},
    {"ALLTOALLV", WF_OP_ALLTOALLV, WF_OP_IALLTOALLV, ALLTOALL},
    {"ALLTOALLW", WF_OP_ALLTOALLW, WF_OP_IALLTOALLW, ALLTOALL},
    {"ALLREDUCE", WF_OP_ALLREDUCE, WF_OP_IALLREDUCE, ALLREDUCE},
    {"REDUCE", WF_OP_REDUCE, WF_OP_IREDUCE, GATHER},
    {"REDUCE_SCATTER", WF_OP_REDUCE_SCATTER, WF_OP_IREDUCE_SCATTER, REDUCE_SCATTER},
    {"SCAN", WF_OP_SCAN, WF_OP_ISCAN, SCAN},
    {"EXSCAN", WF_OP_EXSCAN, WF_OP_IEXSCAN, EXSCAN},
    {"REDUCE_SCATTER_BLOCK", WF_OP_REDUCE_SCATTER_BLOCK, WF_OP_IREDUCE_SCATTER_BLOCK,
     REDUCE_SCATTER},
    {"CREATE_HANDLE", WF_OP_CALL, WF_OP_CALL, NO_OP},
    {"DESTROY_HANDLE", WF_OP_CALL, WF_OP_CALL, NO_OP},
    {"ALLOCATE", WF_OP_CALL, WF_OP_CALL, NO_OP},
    {"DEALLOCATE", WF_OP_CALL, WF_OP_CALL, NO_OP},
    {"CREATE_HANDLE_AND_ALLOCATE", WF_OP_CALL, WF_OP_CALL, NO_OP},
    {"DESTROY_HANDLE_AND_DEALLOCATE", WF_OP_CALL, WF_OP_CALL, NO_OP},
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

const char *wf_otf2_coll_name(uint32_t number)
{
    return number < ROWS ? rows[number].name : NULL;
}

enum wf_op_kind wf_otf2_coll_kind(uint32_t number, bool blocking)
{
    if (number >= ROWS) {
        return WF_OP_CALL;
    }
    return blocking ? rows[number].kind : rows[number].nonblocking;
}

uint32_t wf_otf2_coll_number(enum wf_op_kind kind)
{
    uint32_t number = 0;

    while (number < ROWS && (rows[number].shape == NO_OP ||
                             (rows[number].kind != kind && rows[number].nonblocking != kind))) {
        number++;
    }
    return number < ROWS ? number : UINT32_MAX;
}

static uint64_t times(uint64_t bytes, uint32_t n)
{
    return n > 0 && bytes > UINT64_MAX / n ? UINT64_MAX : bytes * n;
}

static uint64_t *add_equal(struct wf_buf *counts, uint64_t all, uint32_t n)
{
    uint64_t *items = wf_buf_extend(counts, (size_t)n * sizeof(*items));

    for (uint32_t i = 0; i < n; i++) {
        items[i] = all / n + (i < all % n ? 1 : 0);
    }
    return items;
}

/* Returns the block size of a root that received `all` bytes, with its own block unless it used
 * MPI_IN_PLACE. */
static uint64_t block_of_root(uint64_t own, uint64_t all, uint32_t n)
{
    if (own > 0 || all == 0) {
        return own;
    }
    return n > 1 && all % (n - 1) == 0 ? all / (n - 1) : all / n;
}

/* Returns the block size if `all` bytes came from n ranks. With MPI_IN_PLACE, the rank's own
 * block is missing. This is visible only if the sum is not divisible by n. */
static uint64_t block_of_all(uint64_t all, uint32_t n)
{
    return n > 1 && all % n != 0 && all % (n - 1) == 0 ? all / (n - 1) : all / n;
}

/* In a scan, a rank sends to itself and all later ranks, and receives from itself and all
 * earlier ranks. With MPI_IN_PLACE, it does not count itself. */
static uint64_t block_of_scan(const struct wf_otf2_sizes *sizes, const struct wf_group *group)
{
    uint32_t n = group->size, rank = group->rank;
    uint64_t block = sizes->sent / (n - rank);

    if (times(block, rank + 1) == sizes->received || n == 1) {
        return block;
    }
    return wf_count_add(sizes->sent, sizes->received) / (n - 1);
}

/* Returns the sum of a list of lengths, with the rank's own. */
static uint64_t total_of_root(uint64_t own, uint64_t all, uint32_t n)
{
    return own > 0 ? all : times(block_of_root(own, all, n), n);
}

/* Sets the lists of lengths, if the kind of collective has them. */
static bool read_lists(struct wf_op *op, const struct wf_group *group,
                       const struct wf_otf2_sizes *sizes, struct wf_buf *counts)
{
    uint32_t n = group->size;
    enum wf_op_kind kind = rows[wf_otf2_coll_number(op->kind)].kind;

    counts->size = 0;
    wf_buf_reserve(counts, (size_t)n * 2 * sizeof(uint64_t));
    if (kind == WF_OP_GATHERV || kind == WF_OP_SCATTERV) {
        if (group->rank == op->root) {
            uint64_t own = kind == WF_OP_GATHERV ? sizes->sent : sizes->received;
            uint64_t all = kind == WF_OP_GATHERV ? sizes->received : sizes->sent;
            op->counts = add_equal(counts, total_of_root(own, all, n), n);
        }
        return true;
    }
    if (kind == WF_OP_ALLGATHERV) {
        op->counts = add_equal(counts, sizes->received, n);
    } else if (kind == WF_OP_REDUCE_SCATTER) {
        op->counts = add_equal(counts, sizes->sent, n);
    } else if (kind == WF_OP_ALLTOALLV || kind == WF_OP_ALLTOALLW) {
        op->counts = add_equal(counts, sizes->sent, n);
        op->recv_counts = add_equal(counts, sizes->received, n);
    } else {
        return false;
    }
    return true;
}

void wf_otf2_coll_read(struct wf_op *op, const struct wf_group *group,
                       const struct wf_otf2_sizes *sizes, struct wf_buf *counts, bool *equal)
{
    uint32_t n = group->size;
    bool is_root = group->rank == op->root;

    switch (rows[wf_otf2_coll_number(op->kind)].shape) {
    case BCAST:
        op->bytes = sizes->received > 0 ? sizes->received : sizes->sent / n;
        break;
    case GATHER:
        op->bytes = is_root ? block_of_root(sizes->sent, sizes->received, n) : sizes->sent;
        break;
    case SCATTER:
        op->bytes = is_root ? block_of_root(sizes->received, sizes->sent, n) : sizes->received;
        break;
    case ALLGATHER:
        op->bytes = block_of_all(sizes->received, n);
        break;
    case ALLREDUCE:
    case ALLTOALL:
    case REDUCE_SCATTER:
        op->bytes = block_of_all(sizes->sent, n);
        break;
    case SCAN:
        op->bytes = block_of_scan(sizes, group);
        break;
    case EXSCAN:
        op->bytes = n > 1 ? wf_count_add(sizes->sent, sizes->received) / (n - 1) : 0;
        break;
    case EMPTY:
    case NO_OP:
        break;
    }
    *equal = read_lists(op, group, sizes, counts);
}

static uint64_t sum(const uint64_t *counts, uint64_t each, uint32_t n)
{
    uint64_t all = 0;

    for (uint32_t i = 0; counts != NULL && i < n; i++) {
        all = wf_count_add(all, counts[i]);
    }
    return counts != NULL ? all : times(each, n);
}

struct wf_otf2_sizes wf_otf2_coll_sizes(const struct wf_op *op, const struct wf_group *group)
{
    bool has_counts = wf_op_layout_of(op->kind)->n_arrays > 0;
    const uint64_t *counts = has_counts ? op->counts : NULL;
    uint32_t n = group->size, rank = group->rank;
    uint64_t b = op->bytes, all = sum(counts, b, n);
    bool is_root = rank == op->root;
    /* The rank's own entry of the list. */
    uint64_t own = counts != NULL ? counts[rank] : b;

    switch (rows[wf_otf2_coll_number(op->kind)].shape) {
    case BCAST:
        return (struct wf_otf2_sizes){is_root ? all : 0, b};
    case GATHER:
        return (struct wf_otf2_sizes){own, is_root ? all : 0};
    case SCATTER:
        return (struct wf_otf2_sizes){is_root ? all : 0, own};
    case ALLREDUCE:
        return (struct wf_otf2_sizes){all, all};
    case ALLGATHER:
        return (struct wf_otf2_sizes){times(own, n), all};
    case ALLTOALL:
        return (struct wf_otf2_sizes){all, sum(has_counts ? op->recv_counts : NULL, b, n)};
    case REDUCE_SCATTER:
        return (struct wf_otf2_sizes){all, times(own, n)};
    case SCAN:
        return (struct wf_otf2_sizes){times(b, n - rank), times(b, rank + 1)};
    case EXSCAN:
        return (struct wf_otf2_sizes){times(b, n - rank - 1), times(b, rank)};
    case EMPTY:
    case NO_OP:
        break;
    }
    return (struct wf_otf2_sizes){0, 0};
}
