/* SPDX-License-Identifier: Apache-2.0 */
/* How each kind of collective moves its data: what a member puts into the exchange, and what it
 * takes from it. */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/coll/collective.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/payload.h"

#include <stdlib.h>
#include <string.h>

/* ---- send and receive buffers ---- */

static const struct wl_type *type_at(const struct wl_collective *coll,
                                     const struct wl_side *side, uint32_t i)
{
    if (side->held != NULL) {
        return side->held[i];
    }
    return side->types != NULL ? wl_type_of(coll->rank, side->types[i]) : side->type;
}

unsigned char *wl_side_place(const struct wl_side *side, uint32_t i)
{
    unsigned char *buffer = side->buffer;

    MPI_Aint at = side->wide_displs != NULL ? side->wide_displs[i]
                  : side->displs != NULL    ? side->displs[i]
                                            : (MPI_Aint)i * (MPI_Aint)side->count;

    return buffer + (side->types != NULL ? at : at * side->type->extent);
}

size_t wl_side_bytes(const struct wl_collective *coll, const struct wl_side *side, uint32_t i)
{
    return wl_side_count(side, i) * type_at(coll, side, i)->size;
}

static struct wl_part pack(const struct wl_type *type, const void *buffer, size_t count)
{
    struct wl_part part = {.size = count * type->size};

    if (part.size > 0 && wl_payload_wanted(part.size)) {
        part.bytes = wl_malloc(part.size);
        wl_pack(type, buffer, count, part.bytes);
    }
    return part;
}

/* Of a checked rank, a block of data that one member has for another begins with a label that
 * says which values are in it. The bytes of that label: */
static size_t label_size(void)
{
    return wl_checks() ? sizeof(struct wl_sent) : 0;
}

/* Writes a block with its label. Returns its end. */
static unsigned char *write_block(const struct wl_collective *coll, const struct wl_type *type,
                                  const void *buffer, size_t count, unsigned char *to)
{
    if (wl_checks()) {
        wl_check_label(coll, type, count, to);
    }
    wl_pack(type, buffer, count, to + label_size());
    return to + label_size() + count * type->size;
}

static struct wl_part pack_block(const struct wl_collective *coll, const struct wl_type *type,
                                 const void *buffer, size_t count)
{
    struct wl_part part = {.size = label_size() + count * type->size};

    if (part.size > 0 && wl_payload_wanted(count * type->size)) {
        part.bytes = wl_malloc(part.size);
        (void)write_block(coll, type, buffer, count, part.bytes);
    }
    return part;
}

static struct wl_part pack_at(const struct wl_collective *coll, const struct wl_side *side,
                              uint32_t i)
{
    return pack_block(coll, type_at(coll, side, i), wl_side_place(side, i),
                      wl_side_count(side, i));
}

static void unpack_at(const struct wl_collective *coll, const struct wl_side *side, uint32_t i,
                      struct wl_part part)
{
    size_t capacity = wl_side_bytes(coll, side, i);

    if (part.bytes != NULL && part.size > capacity) {
        wl_fatal(coll->rank, "member %u sends %zu bytes, but the receive buffer has %zu", i,
                 part.size, capacity);
    }
    if (part.bytes != NULL) {
        wl_unpack_bytes(type_at(coll, side, i), part.bytes, part.size, wl_side_place(side, i));
    }
}

static void unpack_block(const struct wl_collective *coll, const struct wl_side *side,
                         uint32_t i, struct wl_part part)
{
    if (wl_checks() && part.bytes != NULL) {
        wl_check_block(coll, type_at(coll, side, i), wl_side_count(side, i), part.bytes);
        part.bytes += label_size();
        part.size -= label_size();
    }
    unpack_at(coll, side, i, part);
}

/* Whether this member looks at the block that it gets from member i. */
static bool takes_block(const struct wl_collective *coll, uint32_t i)
{
    return wl_checks() || wl_side_bytes(coll, &coll->recv, i) > 0;
}

static struct wl_part part_of(const struct wl_collective *coll, uint32_t member)
{
    return wl_exchange_part(coll->view.comm, coll->exchange, member);
}

static bool is_root(const struct wl_collective *coll)
{
    return coll->view.rank == coll->root;
}

/* In an intercommunicator, the other members of the root's group take no part. */
static bool is_not_root(const struct wl_collective *coll)
{
    return !is_root(coll) && coll->root != WL_NO_ROOT;
}

/* Whether this member has something for the root. */
static bool puts_for_root(const struct wl_collective *coll)
{
    return coll->view.inter ? is_not_root(coll) : true;
}

static bool always(const struct wl_collective *coll)
{
    return true;
}

static uint64_t *vector(const struct wl_collective *coll, const struct wl_side *side,
                        uint32_t n)
{
    uint64_t *out = wl_malloc(n * sizeof(uint64_t));

    for (uint32_t i = 0; i < n; i++) {
        out[i] = wl_side_bytes(coll, side, i);
    }
    return out;
}

/* Puts this member's part for those that need it. */
static void put_own(const struct wl_collective *coll, struct wl_part part)
{
    bool one = coll->kind == WL_GATHER || coll->kind == WL_REDUCE;

    if (one || coll->kind >= WL_NEIGHBOR_ALLGATHER) {
        wl_exchange_put_for(
            coll->view.comm, coll->exchange, coll->view.rank, part,
            one ? (struct wl_members){&coll->root, 1}
                : (struct wl_members){coll->destinations, coll->n_destinations});
    } else {
        wl_exchange_put(coll->view.comm, coll->exchange, coll->view.rank, part);
    }
}

/* ---- bcast ---- */

static void bcast_put(const struct wl_collective *coll)
{
    if (is_root(coll)) {
        wl_exchange_put(coll->view.comm, coll->exchange, WL_FOR_ALL,
                        pack(coll->send.type, coll->send.buffer, coll->send.count));
    }
}

static void bcast_take(const struct wl_collective *coll)
{
    unpack_at(coll, &coll->send, 0, wl_exchange_result(coll->view.comm, coll->exchange));
}

static bool bcast_fits(const struct wl_collective *coll)
{
    return wl_exchange_result(coll->view.comm, coll->exchange).size ==
           wl_side_bytes(coll, &coll->send, 0);
}

static void send_measure(const struct wl_collective *coll, struct wf_op *op)
{
    op->bytes = coll->send.count * coll->send.type->size;
}

/* ---- gather, allgather ---- */

/* With MPI_IN_PLACE a member's own elements are in its receive buffer. */
static struct wl_part own_block(const struct wl_collective *coll)
{
    return wl_in_place(&coll->send)
               ? pack_at(coll, &coll->recv, coll->view.rank)
               : pack_block(coll, coll->send.type, coll->send.buffer, coll->send.count);
}

static void gather_put(const struct wl_collective *coll)
{
    if (coll->kind == WL_ALLGATHER || puts_for_root(coll)) {
        put_own(coll, own_block(coll));
    }
}

static void gather_take(const struct wl_collective *coll)
{
    for (uint32_t i = 0; i < coll->view.n_peers; i++) {
        if (i != coll->view.rank || coll->view.inter || !wl_in_place(&coll->send)) {
            struct wl_part part = part_of(coll, coll->view.peers + i);
            unpack_block(coll, &coll->recv, i, part);
        }
    }
}

static bool gather_fits(const struct wl_collective *coll)
{
    bool fits = true;

    for (uint32_t i = 0; i < coll->view.n_peers; i++) {
        size_t size = part_of(coll, coll->view.peers + i).size;
        fits = fits && size == wl_side_bytes(coll, &coll->recv, i);
    }
    return fits;
}

/* In a gatherv the root knows all sizes, other members only their own. */
static void gather_measure(const struct wl_collective *coll, struct wf_op *op)
{
    bool root = is_root(coll);

    op->count = coll->view.comm->size;
    op->bytes = wl_in_place(&coll->send) ? wl_side_bytes(coll, &coll->recv, coll->view.rank)
                                         : coll->send.count * coll->send.type->size;
    if (root && op->kind == WF_OP_GATHERV) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

static void allgather_measure(const struct wl_collective *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = wl_side_bytes(coll, &coll->recv, coll->view.rank);
    if (op->kind == WF_OP_ALLGATHERV) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

/* ---- scatter ---- */

static void scatter_put(const struct wl_collective *coll)
{
    for (uint32_t i = 0; is_root(coll) && i < coll->view.n_peers; i++) {
        uint32_t to = coll->view.peers + i;
        wl_exchange_put_for(coll->view.comm, coll->exchange, to, pack_at(coll, &coll->send, i),
                            (struct wl_members){&to, 1});
    }
}

static bool scatter_takes(const struct wl_collective *coll)
{
    return coll->view.inter ? is_not_root(coll) : !wl_in_place(&coll->recv);
}

static void scatter_take(const struct wl_collective *coll)
{
    unpack_block(coll, &coll->recv, 0, part_of(coll, coll->view.rank));
}

static bool scatter_fits(const struct wl_collective *coll)
{
    return part_of(coll, coll->view.rank).size == wl_side_bytes(coll, &coll->recv, 0);
}

static void scatter_measure(const struct wl_collective *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = wl_in_place(&coll->recv) ? wl_side_bytes(coll, &coll->send, coll->view.rank)
                                         : coll->recv.count * coll->recv.type->size;
    if (is_root(coll) && op->kind == WF_OP_SCATTERV) {
        op->counts = vector(coll, &coll->send, op->count);
    }
}

/* ---- alltoall ---- */

/* The blocks for n members in one part: first the n + 1 offsets of blocks, then the blocks. */
static struct wl_part pack_blocks(const struct wl_collective *coll, const struct wl_side *side,
                                  uint32_t n)
{
    size_t head = (n + (size_t)1) * sizeof(uint64_t), size = head;

    for (uint32_t i = 0; i < n; i++) {
        size += wl_side_bytes(coll, side, i);
    }
    if (!wl_payload_wanted(size)) {
        return (struct wl_part){.size = size};
    }
    size += n * label_size();
    struct wl_part part = {.bytes = wl_malloc(size), .size = size};
    uint64_t *begins = (uint64_t *)(void *)part.bytes;
    begins[0] = head;
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *end =
            write_block(coll, type_at(coll, side, i), wl_side_place(side, i),
                        wl_side_count(side, i), part.bytes + begins[i]);
        begins[i + 1] = (uint64_t)(end - part.bytes);
    }
    return part;
}

/* Blocks of one size, without labels. */
static bool is_even(const struct wl_side *side)
{
    return !wl_side_varies(side) && side->types == NULL && !wl_checks();
}

/* Likewise, but the blocks alone, all of one size: with many members the offsets would be most of
 * the part. */
static struct wl_part pack_even_blocks(const struct wl_side *side, uint32_t n)
{
    struct wl_part part = {.block = side->count * side->type->size};

    part.size = n * part.block;
    if (part.size > 0 && wl_payload_wanted(part.size)) {
        part.bytes = wl_malloc(part.size);
        wl_pack(side->type, side->buffer, n * side->count, part.bytes);
    }
    return part;
}

/* Block i of such a part. */
static struct wl_part block_of(struct wl_part part, uint32_t i)
{
    const uint64_t *begins = (const uint64_t *)(const void *)part.bytes;

    if (part.block > 0 && part.bytes != NULL) {
        return (struct wl_part){.bytes = part.bytes + i * part.block, .size = part.block};
    }
    return part.bytes == NULL ? part
                              : (struct wl_part){.bytes = part.bytes + begins[i],
                                                 .size = begins[i + 1] - begins[i]};
}

/* Sends to a process the blocks of its members; the other blocks are empty. */
static void send_blocks(const struct wl_collective *coll, struct wl_part all, uint32_t process)
{
    const struct wl_comm *comm = coll->view.comm;
    uint32_t n = coll->view.n_peers;
    const uint64_t *from = (const uint64_t *)(const void *)all.bytes;
    struct wl_part some = {.bytes = wl_malloc(all.size), .size = from[0]};
    uint64_t *begins = (uint64_t *)(void *)some.bytes;

    for (uint32_t i = 0; i < n; i++) {
        begins[i] = some.size;
        if (wl_process_of(wl_member(comm, coll->view.peers + i)) == process) {
            memcpy(some.bytes + some.size, all.bytes + from[i], from[i + 1] - from[i]);
            some.size += from[i + 1] - from[i];
        }
    }
    begins[n] = some.size;
    wl_exchange_put_remote(comm, coll->exchange, coll->view.rank, some, process);
    free(some.bytes);
}

static void alltoall_put(const struct wl_collective *coll)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;
    struct wl_comm *comm = coll->view.comm;
    struct wl_part part = comm->n_processes == 0 && is_even(side)
                              ? pack_even_blocks(side, coll->view.n_peers)
                              : pack_blocks(coll, side, coll->view.n_peers);

    for (uint32_t i = 0; part.bytes != NULL && i < comm->n_processes; i++) {
        send_blocks(coll, part, comm->processes[i]);
    }
    wl_exchange_put_local(comm, coll->exchange, coll->view.rank, part);
}

/* Short blocks of many members: each is in a cache line of its own, which is asked for early. */
static void take_even_blocks(const struct wl_collective *coll, const struct wl_part *parts,
                             uint32_t own)
{
    enum { EARLY = 16 };
    uint32_t n = coll->view.n_peers;
    size_t bytes = wl_side_bytes(coll, &coll->recv, 0);
    unsigned char *to = coll->recv.buffer;

    for (uint32_t i = 0; i < n && bytes > 0; i++) {
        const struct wl_part *early = &parts[i + EARLY < n ? i + EARLY : i];
        __builtin_prefetch(early->bytes + own * early->block);
        if (parts[i].block != bytes || parts[i].bytes == NULL) {
            unpack_block(coll, &coll->recv, i, block_of(parts[i], own));
        } else if (bytes == sizeof(uint32_t)) {
            memcpy(to + i * sizeof(uint32_t), parts[i].bytes + own * sizeof(uint32_t),
                   sizeof(uint32_t));
        } else if (bytes == sizeof(uint64_t)) {
            memcpy(to + i * sizeof(uint64_t), parts[i].bytes + own * sizeof(uint64_t),
                   sizeof(uint64_t));
        } else {
            memcpy(to + i * bytes, parts[i].bytes + own * bytes, bytes);
        }
    }
}

static void alltoall_take(const struct wl_collective *coll)
{
    uint32_t own = wl_own_rank(&coll->view);
    const struct wl_part *parts = wl_exchange_parts(coll->view.comm, coll->exchange);

    if (parts != NULL && is_even(&coll->recv) && !wl.port->checks_data &&
        coll->recv.type->contiguous) {
        take_even_blocks(coll, parts + coll->view.peers, own);
        return;
    }
    for (uint32_t i = 0; i < coll->view.n_peers; i++) {
        if (takes_block(coll, i)) {
            struct wl_part part = part_of(coll, coll->view.peers + i);
            unpack_block(coll, &coll->recv, i, block_of(part, own));
        }
    }
}

static bool alltoall_fits(const struct wl_collective *coll)
{
    uint32_t own = wl_own_rank(&coll->view);
    bool fits = true;

    for (uint32_t i = 0; i < coll->view.n_peers; i++) {
        struct wl_part part = part_of(coll, coll->view.peers + i);
        fits = fits && (part.bytes == NULL ||
                        block_of(part, own).size == wl_side_bytes(coll, &coll->recv, i));
    }
    return fits;
}

static void alltoall_measure(const struct wl_collective *coll, struct wf_op *op)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;

    op->count = coll->view.comm->size;
    if (op->kind == WF_OP_ALLTOALL) {
        op->bytes = wl_side_bytes(coll, side, 0);
        return;
    }
    op->counts = vector(coll, side, op->count);
    op->recv_counts = vector(coll, &coll->recv, op->count);
}

/* ---- reductions ---- */

static void reduce_put(const struct wl_collective *coll)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;

    if (coll->kind != WL_REDUCE || puts_for_root(coll)) {
        put_own(coll, pack(coll->reduction.type, side->buffer, coll->reduction.count));
    }
}

static size_t reduced_bytes(const struct wl_collective *coll)
{
    return coll->reduction.count * coll->reduction.type->size;
}

static void check_reduced(const struct wl_collective *coll, uint32_t member, size_t bytes)
{
    if (bytes != reduced_bytes(coll)) {
        wl_fatal(coll->rank, "member %u reduces %zu bytes, this rank %zu", member, bytes,
                 reduced_bytes(coll));
    }
}

/* Whether members first to last reduce as much as this one. */
static bool members_fit(const struct wl_collective *coll, uint32_t first, uint32_t last)
{
    bool fit = true;

    for (uint32_t i = first; i <= last; i++) {
        fit = fit && part_of(coll, i).size == reduced_bytes(coll);
    }
    return fit;
}

/* Reduces the parts of members first to last, always in this order: the result does not depend
 * on which member computes it. Returns false if the data was not wanted. */
static bool reduce_members(const struct wl_collective *coll, uint32_t first, uint32_t last,
                           void *to)
{
    struct wl_part own = part_of(coll, last);
    size_t bytes = reduced_bytes(coll);

    if (own.bytes == NULL) {
        return false;
    }
    check_reduced(coll, last, own.size);
    memcpy(to, own.bytes, bytes);
    for (uint32_t i = last; i-- > first;) {
        struct wl_part part = part_of(coll, i);
        check_reduced(coll, i, part.size);
        wl_reduce(coll->rank, &coll->reduction, part.bytes, to);
    }
    return true;
}

/* In place of the size of a result: members reduce different numbers of elements. */
#define NO_SIZE SIZE_MAX

static size_t n_results(const struct wl_collective *coll)
{
    return coll->view.inter ? 2 : 1;
}

/* The results for all; of an intercommunicator one for each group, the first group's first. */
static struct wl_part reduce_all(void *arg)
{
    const struct wl_collective *coll = arg;
    const struct wl_view *view = &coll->view;
    size_t bytes = reduced_bytes(coll);
    uint32_t end = view->peers == 0 ? view->n_peers : view->size;
    struct wl_part both = {.size = n_results(coll) * bytes};

    if (coll->errors_of != 0 && !members_fit(coll, 0, view->comm->size - 1)) {
        return (struct wl_part){.size = NO_SIZE};
    }
    both.bytes = wl_malloc(both.size);
    bool there = reduce_members(coll, 0, end - 1, both.bytes);
    if (view->inter && there) {
        there = reduce_members(coll, end, view->comm->size - 1, both.bytes + bytes);
    }
    if (!there) {
        free(both.bytes);
        both.bytes = NULL;
    }
    return both;
}

static struct wl_part reduce_once(const struct wl_collective *coll)
{
    return wl_exchange_compute(coll->view.comm, coll->exchange, reduce_all,
                               (void *)(uintptr_t)coll);
}

static bool allreduce_fits(const struct wl_collective *coll)
{
    return reduce_once(coll).size == n_results(coll) * reduced_bytes(coll);
}

/* The reduction of what the peers have put; null if the data was not wanted. */
static const unsigned char *reduced(const struct wl_collective *coll)
{
    struct wl_part both = reduce_once(coll);

    if (both.size == NO_SIZE) {
        wl_fatal(coll->rank, "the members reduce different numbers of elements");
    }
    return both.bytes == NULL || coll->view.peers == 0 ? both.bytes
                                                       : both.bytes + reduced_bytes(coll);
}

static void allreduce_take(const struct wl_collective *coll)
{
    const unsigned char *result = reduced(coll);

    if (result != NULL) {
        wl_unpack_bytes(coll->reduction.type, result, reduced_bytes(coll), coll->recv.buffer);
    }
}

/* Reduces for this member alone. */
static void take_members(const struct wl_collective *coll, uint32_t first, uint32_t last)
{
    unsigned char *result = wl_malloc(reduced_bytes(coll));

    if (reduce_members(coll, first, last, result)) {
        wl_unpack_bytes(coll->reduction.type, result, reduced_bytes(coll), coll->recv.buffer);
    }
    free(result);
}

static void reduce_take(const struct wl_collective *coll)
{
    take_members(coll, coll->view.peers, coll->view.peers + coll->view.n_peers - 1);
}

static bool reduce_fits(const struct wl_collective *coll)
{
    return members_fit(coll, coll->view.peers, coll->view.peers + coll->view.n_peers - 1);
}

static void reduce_measure(const struct wl_collective *coll, struct wf_op *op)
{
    op->bytes = reduced_bytes(coll);
}

static void scan_take(const struct wl_collective *coll)
{
    take_members(coll, 0, coll->view.rank);
}

static bool scan_fits(const struct wl_collective *coll)
{
    return members_fit(coll, 0, coll->view.rank);
}

static bool exscan_takes(const struct wl_collective *coll)
{
    return coll->view.rank > 0;
}

static void exscan_take(const struct wl_collective *coll)
{
    take_members(coll, 0, coll->view.rank - 1);
}

/* The blocks of all members follow each other in the result. */
static size_t elements_before(const struct wl_collective *coll, uint32_t member)
{
    size_t n = 0;

    for (uint32_t i = 0; i < member; i++) {
        n += wl_side_count(&coll->recv, i);
    }
    return n;
}

static void reduce_scatter_take(const struct wl_collective *coll)
{
    size_t size = coll->reduction.type->size;
    uint32_t own = wl_own_rank(&coll->view);
    const unsigned char *result = reduced(coll);

    if (result != NULL) {
        wl_unpack_bytes(coll->reduction.type, result + elements_before(coll, own) * size,
                        wl_side_count(&coll->recv, own) * size, coll->recv.buffer);
    }
}

static void reduce_scatter_measure(const struct wl_collective *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = wl_side_count(&coll->recv, coll->view.rank) * coll->reduction.type->size;
    if (op->kind == WF_OP_REDUCE_SCATTER) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

/* ---- neighborhood collectives ---- */

static void neighbor_allgather_put(const struct wl_collective *coll)
{
    put_own(coll, pack_block(coll, coll->send.type, coll->send.buffer, coll->send.count));
}

static void neighbor_allgather_take(const struct wl_collective *coll)
{
    for (uint32_t i = 0; i < coll->n_sources; i++) {
        if (coll->sources[i] != WF_PROC_NULL) {
            struct wl_part part = part_of(coll, coll->sources[i]);
            unpack_block(coll, &coll->recv, i, part);
        }
    }
}

static bool neighbor_allgather_fits(const struct wl_collective *coll)
{
    bool fits = true;

    for (uint32_t i = 0; i < coll->n_sources; i++) {
        fits = fits &&
               (coll->sources[i] == WF_PROC_NULL ||
                part_of(coll, coll->sources[i]).size == wl_side_bytes(coll, &coll->recv, i));
    }
    return fits;
}

/* The list of destinations follows the blocks. The receiver finds its block in it by
 * counting. */
static void neighbor_alltoall_put(const struct wl_collective *coll)
{
    struct wl_part part = pack_blocks(coll, &coll->send, coll->n_destinations);
    size_t list = coll->n_destinations * sizeof(uint32_t);

    if (part.bytes != NULL && list > 0) {
        part.bytes = wl_realloc(part.bytes, part.size + list, 1);
        memcpy(part.bytes + part.size, coll->destinations, list);
        part.size += list;
    }
    put_own(coll, part);
}

/* The block from the source at a place in the list. If a source is there several times, its blocks for
 * this member come in the order of its list of destinations. On a grid they come from its end: on a
 * ring of two ranks, what is sent to the left comes from the right. */
static struct wl_part block_from(const struct wl_collective *coll, uint32_t place)
{
    struct wl_part part = part_of(coll, coll->sources[place]);
    uint32_t nth = 0;

    if (part.bytes == NULL) {
        return part;
    }
    for (uint32_t k = 0; k < place; k++) {
        nth += coll->sources[k] == coll->sources[place];
    }
    const uint64_t *begins = (const uint64_t *)(const void *)part.bytes;
    uint32_t n = (uint32_t)(begins[0] / sizeof(uint64_t)) - 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t to, i = coll->mirrored ? n - 1 - k : k;
        memcpy(&to, part.bytes + begins[n] + i * sizeof(to), sizeof(to));
        if (to == coll->view.rank && nth-- == 0) {
            return block_of(part, i);
        }
    }
    return (struct wl_part){.bytes = NULL};
}

static void neighbor_alltoall_take(const struct wl_collective *coll)
{
    for (uint32_t i = 0; i < coll->n_sources; i++) {
        if (coll->sources[i] != WF_PROC_NULL && takes_block(coll, i)) {
            unpack_block(coll, &coll->recv, i, block_from(coll, i));
        }
    }
}

/* Whether what comes from a source has the size that this member expects. Data that the run does not
 * want has no blocks. */
static bool block_fits(const struct wl_collective *coll, uint32_t place)
{
    struct wl_part block = block_from(coll, place);

    return block.bytes == NULL || block.size == wl_side_bytes(coll, &coll->recv, place);
}

static bool neighbor_alltoall_fits(const struct wl_collective *coll)
{
    bool fits = true;

    for (uint32_t i = 0; i < coll->n_sources; i++) {
        fits = fits && (coll->sources[i] == WF_PROC_NULL || block_fits(coll, i));
    }
    return fits;
}

static void neighbor_measure(const struct wl_collective *coll, struct wf_op *op)
{
    bool alike = !wl_side_varies(&coll->send) && !wl_side_varies(&coll->recv);

    op->bytes = !wl_side_varies(&coll->send) && coll->send.types == NULL
                    ? coll->send.count * coll->send.type->size
                    : 0;
    if (!alike) {
        op->count =
            coll->n_sources > coll->n_destinations ? coll->n_sources : coll->n_destinations;
        uint64_t *out = wl_calloc(op->count, sizeof(uint64_t));
        uint64_t *in = wl_calloc(op->count, sizeof(uint64_t));
        for (uint32_t i = 0; i < coll->n_destinations; i++) {
            out[i] = coll->kind == WL_NEIGHBOR_ALLGATHER ? op->bytes
                                                         : wl_side_bytes(coll, &coll->send, i);
        }
        for (uint32_t i = 0; i < coll->n_sources; i++) {
            in[i] = wl_side_bytes(coll, &coll->recv, i);
        }
        op->counts = out;
        op->recv_counts = in;
    }
}

const struct wl_collective_ops wl_collective_ops[WL_COLLECTIVES] = {
    [WL_BCAST] = {bcast_put, is_not_root, bcast_take, bcast_fits, send_measure},
    [WL_GATHER] = {gather_put, is_root, gather_take, gather_fits, gather_measure},
    [WL_SCATTER] = {scatter_put, scatter_takes, scatter_take, scatter_fits, scatter_measure},
    [WL_ALLGATHER] = {gather_put, always, gather_take, gather_fits, allgather_measure},
    [WL_ALLTOALL] = {alltoall_put, always, alltoall_take, alltoall_fits, alltoall_measure},
    [WL_REDUCE] = {reduce_put, is_root, reduce_take, reduce_fits, reduce_measure},
    [WL_ALLREDUCE] = {reduce_put, always, allreduce_take, allreduce_fits, reduce_measure},
    [WL_REDUCE_SCATTER] = {reduce_put, always, reduce_scatter_take, allreduce_fits,
                           reduce_scatter_measure},
    [WL_SCAN] = {reduce_put, always, scan_take, scan_fits, reduce_measure},
    [WL_EXSCAN] = {reduce_put, exscan_takes, exscan_take, scan_fits, reduce_measure},
    [WL_NEIGHBOR_ALLGATHER] = {neighbor_allgather_put, always, neighbor_allgather_take,
                               neighbor_allgather_fits, neighbor_measure},
    [WL_NEIGHBOR_ALLTOALL] = {neighbor_alltoall_put, always, neighbor_alltoall_take,
                              neighbor_alltoall_fits, neighbor_measure},
};
