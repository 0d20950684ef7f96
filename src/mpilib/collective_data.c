/* SPDX-License-Identifier: Apache-2.0 */
/* What each kind of collective does with data. */
#include "mpilib/collective.h"
#include "mpilib/communicator_registry.h"
#include "mpilib/memory.h"
#include "mpilib/payload.h"

#include <stdlib.h>
#include <string.h>

/* ---- sides ---- */

static const struct wl_type *type_at(const struct wl_coll *coll, const struct wl_side *side,
                                     uint32_t i)
{
    if (side->held != NULL) {
        return side->held[i];
    }
    return side->types != NULL ? wl_type_of(coll->rank, side->types[i], coll->function)
                               : side->type;
}

static size_t count_at(const struct wl_side *side, uint32_t i)
{
    return side->counts != NULL ? (size_t)side->counts[i] : side->count;
}

/* Where the elements of member i are. */
static unsigned char *place_at(const struct wl_side *side, uint32_t i)
{
    unsigned char *buffer = side->buffer;

    if (side->types != NULL) {
        return buffer + (side->wide_displs != NULL ? side->wide_displs[i] : side->displs[i]);
    }
    MPI_Aint elements =
        side->displs != NULL ? side->displs[i] : (MPI_Aint)i * (MPI_Aint)side->count;
    return buffer + elements * side->type->extent;
}

size_t wl_side_bytes(const struct wl_coll *coll, const struct wl_side *side, uint32_t i)
{
    return count_at(side, i) * type_at(coll, side, i)->size;
}

static struct wl_part pack(const struct wl_type *type, const void *buffer, size_t count)
{
    struct wl_part part = {.size = count * type->size};

    if (part.size > 0 && wl_data_wanted(part.size)) {
        part.bytes = wl_malloc(part.size);
        wl_pack(type, buffer, count, part.bytes);
    }
    return part;
}

static struct wl_part pack_at(const struct wl_coll *coll, const struct wl_side *side,
                              uint32_t i)
{
    return pack(type_at(coll, side, i), place_at(side, i), count_at(side, i));
}

static void unpack_at(const struct wl_coll *coll, const struct wl_side *side, uint32_t i,
                      struct wl_part part)
{
    size_t room = wl_side_bytes(coll, side, i);

    if (part.bytes != NULL && part.size > room) {
        wl_fatal(coll->rank, coll->function, "%zu bytes from member %u, room for %zu",
                 part.size, i, room);
    }
    if (part.bytes != NULL) {
        wl_unpack_bytes(type_at(coll, side, i), part.bytes, part.size, place_at(side, i));
    }
}

static struct wl_part part_of(const struct wl_coll *coll, uint32_t member)
{
    return wl_meeting_part(coll->view.comm, coll->meeting, member);
}

static bool is_root(const struct wl_coll *coll)
{
    return coll->view.rank == coll->root;
}

/* Of the group of the root of an intercommunicator nobody but the root takes part. */
static bool is_not_root(const struct wl_coll *coll)
{
    return !is_root(coll) && coll->root != WL_NO_ROOT;
}

/* Whether it has something for the root. */
static bool gives(const struct wl_coll *coll)
{
    return coll->view.inter ? is_not_root(coll) : true;
}

static bool always(const struct wl_coll *coll)
{
    (void)coll;
    return true;
}

static uint64_t *vector(const struct wl_coll *coll, const struct wl_side *side, uint32_t n)
{
    uint64_t *out = wl_malloc(n * sizeof(uint64_t));

    for (uint32_t i = 0; i < n; i++) {
        out[i] = wl_side_bytes(coll, side, i);
    }
    return out;
}

/* To those who need it. */
static void bring_own(const struct wl_coll *coll, struct wl_part part)
{
    bool one = coll->kind == WL_GATHER || coll->kind == WL_REDUCE;

    if (one || coll->kind >= WL_NEIGHBOR_ALLGATHER) {
        wl_meeting_bring_to(
            coll->view.comm, coll->meeting, coll->view.rank, part,
            one ? (struct wl_members){&coll->root, 1}
                : (struct wl_members){coll->destinations, coll->n_destinations});
    } else {
        wl_meeting_bring(coll->view.comm, coll->meeting, coll->view.rank, part);
    }
}

/* ---- bcast ---- */

static void bcast_bring(const struct wl_coll *coll)
{
    if (is_root(coll)) {
        wl_meeting_bring_for_all(coll->view.comm, coll->meeting,
                                 pack(coll->send.type, coll->send.buffer, coll->send.count));
    }
}

static void bcast_take(const struct wl_coll *coll)
{
    unpack_at(coll, &coll->send, 0, wl_meeting_for_all(coll->view.comm, coll->meeting));
}

static void send_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->bytes = coll->send.count * coll->send.type->size;
}

/* ---- gather, allgather ---- */

/* In place, a member's own elements are where they belong already. */
static struct wl_part own_block(const struct wl_coll *coll)
{
    return wl_in_place(&coll->send)
               ? pack_at(coll, &coll->recv, coll->view.rank)
               : pack(coll->send.type, coll->send.buffer, coll->send.count);
}

static void gather_bring(const struct wl_coll *coll)
{
    if (coll->kind == WL_ALLGATHER || gives(coll)) {
        bring_own(coll, own_block(coll));
    }
}

static void gather_take(const struct wl_coll *coll)
{
    for (uint32_t i = 0; i < coll->view.n_peers; i++) {
        if (i != coll->view.rank || coll->view.inter || !wl_in_place(&coll->send)) {
            unpack_at(coll, &coll->recv, i, part_of(coll, coll->view.peers + i));
        }
    }
}

/* Of the v-variants the root knows all sizes, the others their own. */
static void gather_measure(const struct wl_coll *coll, struct wf_op *op)
{
    bool root = is_root(coll);

    op->count = coll->view.comm->size;
    op->bytes = wl_in_place(&coll->send) ? wl_side_bytes(coll, &coll->recv, coll->view.rank)
                                         : coll->send.count * coll->send.type->size;
    if (root && op->kind == WF_OP_GATHERV) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

static void allgather_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = wl_side_bytes(coll, &coll->recv, coll->view.rank);
    if (op->kind == WF_OP_ALLGATHERV) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

/* ---- scatter ---- */

static void scatter_bring(const struct wl_coll *coll)
{
    for (uint32_t i = 0; is_root(coll) && i < coll->view.n_peers; i++) {
        uint32_t to = coll->view.peers + i;
        wl_meeting_bring_to(coll->view.comm, coll->meeting, to, pack_at(coll, &coll->send, i),
                            (struct wl_members){&to, 1});
    }
}

static bool scatter_gets(const struct wl_coll *coll)
{
    return coll->view.inter ? is_not_root(coll) : !wl_in_place(&coll->recv);
}

static void scatter_take(const struct wl_coll *coll)
{
    unpack_at(coll, &coll->recv, 0, part_of(coll, coll->view.rank));
}

static void scatter_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = wl_in_place(&coll->recv) ? wl_side_bytes(coll, &coll->send, coll->view.rank)
                                         : coll->recv.count * coll->recv.type->size;
    if (is_root(coll) && op->kind == WF_OP_SCATTERV) {
        op->counts = vector(coll, &coll->send, op->count);
    }
}

/* ---- alltoall and neighbours ---- */

/* The blocks for n others in one piece: first where each begins, then all. */
static struct wl_part pack_blocks(const struct wl_coll *coll, const struct wl_side *side,
                                  uint32_t n)
{
    size_t head = (n + (size_t)1) * sizeof(uint64_t), size = head;

    for (uint32_t i = 0; i < n; i++) {
        size += wl_side_bytes(coll, side, i);
    }
    if (!wl_data_wanted(size)) {
        return (struct wl_part){.size = size};
    }
    struct wl_part part = {.bytes = wl_malloc(size), .size = size};
    uint64_t *begins = (uint64_t *)(void *)part.bytes;
    size = head;
    for (uint32_t i = 0; i < n; i++) {
        begins[i] = size;
        wl_pack(type_at(coll, side, i), place_at(side, i), count_at(side, i),
                part.bytes + size);
        size += wl_side_bytes(coll, side, i);
    }
    begins[n] = size;
    return part;
}

/* Block i of what somebody has packed; empty if he has brought nothing. */
static struct wl_part block_of(struct wl_part part, uint32_t i)
{
    const uint64_t *begins = (const uint64_t *)(const void *)part.bytes;

    return part.bytes == NULL
               ? part
               : (struct wl_part){part.bytes + begins[i], begins[i + 1] - begins[i]};
}

/* Of what one member has for its peers, the blocks for those in one process; the others are
 * empty. */
static void ship_blocks(const struct wl_coll *coll, struct wl_part all, uint32_t process)
{
    const struct wl_comm *comm = coll->view.comm;
    uint32_t n = coll->view.n_peers;
    const uint64_t *from = (const uint64_t *)(const void *)all.bytes;
    struct wl_part some = {.bytes = wl_malloc(all.size), .size = from[0]};
    uint64_t *begins = (uint64_t *)(void *)some.bytes;

    for (uint32_t i = 0; i < n; i++) {
        begins[i] = some.size;
        if (wl_home(wl_member(comm, coll->view.peers + i)) == process) {
            memcpy(some.bytes + some.size, all.bytes + from[i], from[i + 1] - from[i]);
            some.size += from[i + 1] - from[i];
        }
    }
    begins[n] = some.size;
    wl_meeting_ship(comm, coll->meeting, coll->view.rank, some, process);
    free(some.bytes);
}

static void alltoall_bring(const struct wl_coll *coll)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;
    struct wl_comm *comm = coll->view.comm;
    struct wl_part part = pack_blocks(coll, side, coll->view.n_peers);

    for (uint32_t i = 0; part.bytes != NULL && i < comm->n_hosts; i++) {
        ship_blocks(coll, part, comm->hosts[i]);
    }
    wl_meeting_keep(comm, coll->meeting, coll->view.rank, part);
}

static void alltoall_take(const struct wl_coll *coll)
{
    uint32_t own = wl_own_rank(&coll->view);

    for (uint32_t i = 0; i < coll->view.n_peers; i++) {
        if (wl_side_bytes(coll, &coll->recv, i) > 0) {
            struct wl_part part = part_of(coll, coll->view.peers + i);
            unpack_at(coll, &coll->recv, i, block_of(part, own));
        }
    }
}

static void alltoall_measure(const struct wl_coll *coll, struct wf_op *op)
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

static void reduce_bring(const struct wl_coll *coll)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;

    if (coll->kind != WL_REDUCE || gives(coll)) {
        bring_own(coll, pack(coll->reduction.type, side->buffer, coll->reduction.count));
    }
}

static size_t reduced_bytes(const struct wl_coll *coll)
{
    return coll->reduction.count * coll->reduction.type->size;
}

/* Of some members in the order of ranks, so that it does not depend on who is first, nor on
 * anything else. Puts it to `to`; false if there is nothing. */
static bool reduce_members(const struct wl_coll *coll, uint32_t first, uint32_t last, void *to)
{
    struct wl_part own = part_of(coll, last);
    size_t bytes = reduced_bytes(coll);

    if (own.bytes == NULL) {
        return false;
    }
    if (own.size != bytes) {
        wl_fatal(coll->rank, coll->function, "%zu bytes from member %u, and not %zu", own.size,
                 last, bytes);
    }
    memcpy(to, own.bytes, bytes);
    for (uint32_t i = last; i-- > first;) {
        wl_reduce(coll->rank, &coll->reduction, part_of(coll, i).bytes, to);
    }
    return true;
}

/* Of both groups of an intercommunicator, the one that comes first first. */
static struct wl_part reduce_all(void *arg)
{
    const struct wl_coll *coll = arg;
    const struct wl_view *view = &coll->view;
    size_t bytes = reduced_bytes(coll);
    uint32_t end = view->peers == 0 ? view->n_peers : view->size;
    struct wl_part both = {.size = view->inter ? 2 * bytes : bytes};

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

/* What the peers have brought, reduced; null if it is nothing. */
static const unsigned char *reduced(const struct wl_coll *coll)
{
    struct wl_part both =
        wl_meeting_compute(coll->view.comm, coll->meeting, reduce_all, (void *)(uintptr_t)coll);

    return both.bytes == NULL || coll->view.peers == 0 ? both.bytes
                                                       : both.bytes + reduced_bytes(coll);
}

static void allreduce_take(const struct wl_coll *coll)
{
    const unsigned char *result = reduced(coll);

    if (result != NULL) {
        wl_unpack_bytes(coll->reduction.type, result, reduced_bytes(coll), coll->recv.buffer);
    }
}

/* For this member alone. */
static void take_members(const struct wl_coll *coll, uint32_t first, uint32_t last)
{
    unsigned char *result = wl_malloc(reduced_bytes(coll));

    if (reduce_members(coll, first, last, result)) {
        wl_unpack_bytes(coll->reduction.type, result, reduced_bytes(coll), coll->recv.buffer);
    }
    free(result);
}

static void reduce_take(const struct wl_coll *coll)
{
    take_members(coll, coll->view.peers, coll->view.peers + coll->view.n_peers - 1);
}

static void reduce_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->bytes = reduced_bytes(coll);
}

static void scan_take(const struct wl_coll *coll)
{
    take_members(coll, 0, coll->view.rank);
}

static bool exscan_gets(const struct wl_coll *coll)
{
    return coll->view.rank > 0;
}

static void exscan_take(const struct wl_coll *coll)
{
    take_members(coll, 0, coll->view.rank - 1);
}

/* The block of each member behind those of the members before it. */
static size_t elements_before(const struct wl_coll *coll, uint32_t member)
{
    size_t n = 0;

    for (uint32_t i = 0; i < member; i++) {
        n += count_at(&coll->recv, i);
    }
    return n;
}

static void reduce_scatter_take(const struct wl_coll *coll)
{
    size_t size = coll->reduction.type->size;
    uint32_t own = wl_own_rank(&coll->view);
    const unsigned char *result = reduced(coll);

    if (result != NULL) {
        wl_unpack_bytes(coll->reduction.type, result + elements_before(coll, own) * size,
                        count_at(&coll->recv, own) * size, coll->recv.buffer);
    }
}

static void reduce_scatter_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = count_at(&coll->recv, coll->view.rank) * coll->reduction.type->size;
    if (op->kind == WF_OP_REDUCE_SCATTER) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

/* ---- neighbours ---- */

static void neighbor_allgather_bring(const struct wl_coll *coll)
{
    bring_own(coll, pack(coll->send.type, coll->send.buffer, coll->send.count));
}

static void neighbor_allgather_take(const struct wl_coll *coll)
{
    for (uint32_t i = 0; i < coll->n_sources; i++) {
        if (coll->sources[i] != WF_PROC_NULL) {
            unpack_at(coll, &coll->recv, i, part_of(coll, coll->sources[i]));
        }
    }
}

/* Each block goes with the number of its destination among the sender's; which of its sources
 * that is, the receiver finds by counting. Behind the blocks comes the list of destinations. */
static void neighbor_alltoall_bring(const struct wl_coll *coll)
{
    struct wl_part part = pack_blocks(coll, &coll->send, coll->n_destinations);
    size_t list = coll->n_destinations * sizeof(uint32_t);

    part.bytes = wl_realloc(part.bytes, part.size + list, 1);
    if (list > 0) {
        memcpy(part.bytes + part.size, coll->destinations, list);
    }
    part.size += list;
    bring_own(coll, part);
}

/* The block of the `nth` time that `from` names this member. On a grid counted from the end: on
 * a ring of two, what goes to the left comes from the right. */
static struct wl_part block_from(const struct wl_coll *coll, uint32_t from, uint32_t nth)
{
    struct wl_part part = part_of(coll, from);

    if (part.bytes == NULL) {
        return part;
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

static void neighbor_alltoall_take(const struct wl_coll *coll)
{
    for (uint32_t i = 0; i < coll->n_sources; i++) {
        uint32_t nth = 0;

        for (uint32_t k = 0; k < i; k++) {
            nth += coll->sources[k] == coll->sources[i];
        }
        if (coll->sources[i] != WF_PROC_NULL && wl_side_bytes(coll, &coll->recv, i) > 0) {
            unpack_at(coll, &coll->recv, i, block_from(coll, coll->sources[i], nth));
        }
    }
}

static void neighbor_measure(const struct wl_coll *coll, struct wf_op *op)
{
    bool alike = coll->send.counts == NULL && coll->recv.counts == NULL;

    op->bytes = coll->send.counts == NULL && coll->send.types == NULL
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

const struct wl_coll_ops wl_coll_kinds[WL_COLL_KINDS] = {
    [WL_BCAST] = {bcast_bring, is_not_root, bcast_take, send_measure},
    [WL_GATHER] = {gather_bring, is_root, gather_take, gather_measure},
    [WL_SCATTER] = {scatter_bring, scatter_gets, scatter_take, scatter_measure},
    [WL_ALLGATHER] = {gather_bring, always, gather_take, allgather_measure},
    [WL_ALLTOALL] = {alltoall_bring, always, alltoall_take, alltoall_measure},
    [WL_REDUCE] = {reduce_bring, is_root, reduce_take, reduce_measure},
    [WL_ALLREDUCE] = {reduce_bring, always, allreduce_take, reduce_measure},
    [WL_REDUCE_SCATTER] = {reduce_bring, always, reduce_scatter_take, reduce_scatter_measure},
    [WL_SCAN] = {reduce_bring, always, scan_take, reduce_measure},
    [WL_EXSCAN] = {reduce_bring, exscan_gets, exscan_take, reduce_measure},
    [WL_NEIGHBOR_ALLGATHER] = {neighbor_allgather_bring, always, neighbor_allgather_take,
                               neighbor_measure},
    [WL_NEIGHBOR_ALLTOALL] = {neighbor_alltoall_bring, always, neighbor_alltoall_take,
                              neighbor_measure},
};
