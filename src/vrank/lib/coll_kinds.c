/* SPDX-License-Identifier: Apache-2.0 */
/* What each kind of collective does with data. */
#include "vrank/lib/coll.h"
#include "vrank/lib/data.h"
#include "vrank/lib/hosts.h"
#include "vrank/lib/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- sides ---- */

static const struct wl_type *type_at(const struct wl_coll *coll, const struct wl_side *side,
                                     uint32_t i)
{
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

static size_t bytes_at(const struct wl_coll *coll, const struct wl_side *side, uint32_t i)
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
    size_t room = bytes_at(coll, side, i);

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

static bool is_not_root(const struct wl_coll *coll)
{
    return !is_root(coll);
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
        out[i] = bytes_at(coll, side, i);
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
    bring_own(coll, own_block(coll));
}

static void gather_take(const struct wl_coll *coll)
{
    for (uint32_t i = 0; i < coll->view.comm->size; i++) {
        if (i != coll->view.rank || !wl_in_place(&coll->send)) {
            unpack_at(coll, &coll->recv, i, part_of(coll, i));
        }
    }
}

/* Of the v-variants the root knows all sizes, the others their own. */
static void gather_measure(const struct wl_coll *coll, struct wf_op *op)
{
    bool root = is_root(coll);

    op->count = coll->view.comm->size;
    op->bytes = wl_in_place(&coll->send) ? bytes_at(coll, &coll->recv, coll->view.rank)
                                         : coll->send.count * coll->send.type->size;
    if (root && op->kind == WF_OP_GATHERV) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

static void allgather_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = bytes_at(coll, &coll->recv, coll->view.rank);
    if (op->kind == WF_OP_ALLGATHERV) {
        op->counts = vector(coll, &coll->recv, op->count);
    }
}

/* ---- scatter ---- */

static void scatter_bring(const struct wl_coll *coll)
{
    for (uint32_t i = 0; is_root(coll) && i < coll->view.comm->size; i++) {
        wl_meeting_bring_to(coll->view.comm, coll->meeting, i, pack_at(coll, &coll->send, i),
                            (struct wl_members){&i, 1});
    }
}

static bool scatter_gets(const struct wl_coll *coll)
{
    return !wl_in_place(&coll->recv);
}

static void scatter_take(const struct wl_coll *coll)
{
    unpack_at(coll, &coll->recv, 0, part_of(coll, coll->view.rank));
}

static void scatter_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->count = coll->view.comm->size;
    op->bytes = wl_in_place(&coll->recv) ? bytes_at(coll, &coll->send, coll->view.rank)
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
        size += bytes_at(coll, side, i);
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
        size += bytes_at(coll, side, i);
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

/* Of what one member has for all, the blocks for those in one process; the others are empty. */
static void ship_blocks(const struct wl_coll *coll, struct wl_part all, uint32_t process)
{
    const struct wl_comm *comm = coll->view.comm;
    const uint64_t *from = (const uint64_t *)(const void *)all.bytes;
    struct wl_part some = {.bytes = wl_malloc(all.size), .size = from[0]};
    uint64_t *begins = (uint64_t *)(void *)some.bytes;

    for (uint32_t i = 0; i < comm->size; i++) {
        begins[i] = some.size;
        if (wl_home(wl_member(comm, i)) == process) {
            memcpy(some.bytes + some.size, all.bytes + from[i], from[i + 1] - from[i]);
            some.size += from[i + 1] - from[i];
        }
    }
    begins[comm->size] = some.size;
    wl_meeting_ship(comm, coll->meeting, coll->view.rank, some, process);
    free(some.bytes);
}

static void alltoall_bring(const struct wl_coll *coll)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;
    struct wl_comm *comm = coll->view.comm;
    struct wl_part part = pack_blocks(coll, side, comm->size);

    for (uint32_t i = 0; i < comm->n_hosts; i++) {
        ship_blocks(coll, part, comm->hosts[i]);
    }
    wl_meeting_keep(comm, coll->meeting, coll->view.rank, part);
}

static void alltoall_take(const struct wl_coll *coll)
{
    for (uint32_t i = 0; i < coll->view.comm->size; i++) {
        if (bytes_at(coll, &coll->recv, i) > 0) {
            unpack_at(coll, &coll->recv, i, block_of(part_of(coll, i), coll->view.rank));
        }
    }
}

static void alltoall_measure(const struct wl_coll *coll, struct wf_op *op)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;

    op->count = coll->view.comm->size;
    if (op->kind == WF_OP_ALLTOALL) {
        op->bytes = bytes_at(coll, side, 0);
        return;
    }
    op->counts = vector(coll, side, op->count);
    op->recv_counts = vector(coll, &coll->recv, op->count);
}

/* ---- reductions ---- */

static void reduce_bring(const struct wl_coll *coll)
{
    const struct wl_side *side = wl_in_place(&coll->send) ? &coll->recv : &coll->send;

    bring_own(coll, pack(coll->reduction.type, side->buffer, coll->reduction.count));
}

/* Of the members 0 to last in the order of ranks, so that it does not depend on who is first,
 * nor on anything else. */
static struct wl_part reduce_up_to(const struct wl_coll *coll, uint32_t last)
{
    struct wl_part own = part_of(coll, last);
    struct wl_part result = {.bytes = wl_malloc(own.size), .size = own.size};

    if (own.bytes == NULL) {
        free(result.bytes);
        return (struct wl_part){.size = own.size};
    }
    if (own.size > 0) {
        memcpy(result.bytes, own.bytes, own.size);
    }
    for (uint32_t i = last; i-- > 0 && own.size > 0;) {
        wl_reduce(coll->rank, &coll->reduction, part_of(coll, i).bytes, result.bytes);
    }
    return result;
}

static struct wl_part reduce_all(void *arg)
{
    const struct wl_coll *coll = arg;

    return reduce_up_to(coll, coll->view.comm->size - 1);
}

static struct wl_part reduced(const struct wl_coll *coll)
{
    return wl_meeting_compute(coll->view.comm, coll->meeting, reduce_all,
                              (void *)(uintptr_t)coll);
}

static void unpack_result(const struct wl_coll *coll, const unsigned char *bytes, size_t size)
{
    if (bytes != NULL) {
        wl_unpack_bytes(coll->reduction.type, bytes, size, coll->recv.buffer);
    }
}

static void reduce_take(const struct wl_coll *coll)
{
    struct wl_part result = reduced(coll);

    unpack_result(coll, result.bytes, result.size);
}

static void reduce_measure(const struct wl_coll *coll, struct wf_op *op)
{
    op->bytes = coll->reduction.count * coll->reduction.type->size;
}

static void scan_take(const struct wl_coll *coll)
{
    struct wl_part result = reduce_up_to(coll, coll->view.rank);

    unpack_result(coll, result.bytes, result.size);
    free(result.bytes);
}

static bool exscan_gets(const struct wl_coll *coll)
{
    return coll->view.rank > 0;
}

static void exscan_take(const struct wl_coll *coll)
{
    struct wl_part result = reduce_up_to(coll, coll->view.rank - 1);

    unpack_result(coll, result.bytes, result.size);
    free(result.bytes);
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
    struct wl_part result = reduced(coll);

    if (result.bytes != NULL) {
        unpack_result(coll, result.bytes + elements_before(coll, coll->view.rank) * size,
                      count_at(&coll->recv, coll->view.rank) * size);
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
        if (coll->sources[i] != WF_PROC_NULL && bytes_at(coll, &coll->recv, i) > 0) {
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
                                                         : bytes_at(coll, &coll->send, i);
        }
        for (uint32_t i = 0; i < coll->n_sources; i++) {
            in[i] = bytes_at(coll, &coll->recv, i);
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
    [WL_ALLREDUCE] = {reduce_bring, always, reduce_take, reduce_measure},
    [WL_REDUCE_SCATTER] = {reduce_bring, always, reduce_scatter_take, reduce_scatter_measure},
    [WL_SCAN] = {reduce_bring, always, scan_take, reduce_measure},
    [WL_EXSCAN] = {reduce_bring, exscan_gets, exscan_take, reduce_measure},
    [WL_NEIGHBOR_ALLGATHER] = {neighbor_allgather_bring, always, neighbor_allgather_take,
                               neighbor_measure},
    [WL_NEIGHBOR_ALLTOALL] = {neighbor_alltoall_bring, always, neighbor_alltoall_take,
                              neighbor_measure},
};
