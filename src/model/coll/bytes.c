/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arith.h"
#include "model/coll/coll.h"

/* How the kind of collective determines the lengths of the slots. */
enum length {
    LENGTH_NONE,   /* no bytes */
    LENGTH_PIECES, /* `bytes`, cut into equal pieces */
    LENGTH_BLOCKS, /* `counts`, or `bytes` for each block */
    LENGTH_SIDES,  /* `counts` for sent and `recv_counts` for received slots, or `bytes` each */
};

static const uint8_t lengths[WF_COLL_KINDS] = {
    [WF_COLL_BARRIER] = LENGTH_NONE,
    [WF_COLL_BCAST] = LENGTH_PIECES,
    [WF_COLL_REDUCE] = LENGTH_PIECES,
    [WF_COLL_ALLREDUCE] = LENGTH_PIECES,
    [WF_COLL_GATHER] = LENGTH_BLOCKS,
    [WF_COLL_GATHERV] = LENGTH_BLOCKS,
    [WF_COLL_SCATTER] = LENGTH_BLOCKS,
    [WF_COLL_SCATTERV] = LENGTH_BLOCKS,
    [WF_COLL_ALLGATHER] = LENGTH_BLOCKS,
    [WF_COLL_ALLGATHERV] = LENGTH_BLOCKS,
    [WF_COLL_ALLTOALL] = LENGTH_BLOCKS,
    [WF_COLL_ALLTOALLV] = LENGTH_SIDES,
    [WF_COLL_REDUCE_SCATTER] = LENGTH_BLOCKS,
    [WF_COLL_REDUCE_SCATTER_BLOCK] = LENGTH_BLOCKS,
    [WF_COLL_SCAN] = LENGTH_PIECES,
    [WF_COLL_EXSCAN] = LENGTH_PIECES,
    [WF_COLL_NEIGHBOR_ALLGATHER] = LENGTH_SIDES,
    [WF_COLL_NEIGHBOR_ALLTOALL] = LENGTH_SIDES,
};

/* How many numbers below `count` have a bit of the mask set. Takes constant time if the mask
 * has one bit. */
static uint32_t n_selected(uint32_t count, uint32_t mask)
{
    uint32_t n = 0;

    if (mask == 0) {
        return count;
    }
    if ((mask & (mask - 1)) == 0) {
        uint32_t rest = count & (mask | (mask - 1));
        return (count & ~(mask | (mask - 1))) / 2 + (rest > mask ? rest - mask : 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        n += (i & mask) != 0;
    }
    return n;
}

/* The number of bytes before piece i of n. */
static uint64_t offset(uint64_t bytes, uint32_t n, uint64_t i)
{
    return bytes / n * i + wf_min_u64(bytes % n, i);
}

static uint64_t piece_bytes(uint64_t bytes, uint32_t n_slots, const struct wf_coll_slots *slots)
{
    uint64_t end = (uint64_t)slots->first + slots->count;
    uint64_t sum = 0;

    if (slots->mask == 0) {
        sum = offset(bytes, n_slots, wf_min_u64(end, n_slots)) -
              offset(bytes, n_slots, slots->first);
        return end <= n_slots ? sum : sum + offset(bytes, n_slots, end - n_slots);
    }
    for (uint32_t i = 0; i < slots->count; i++) {
        if ((i & slots->mask) != 0) {
            uint64_t piece = ((uint64_t)slots->first + i) % n_slots;
            sum += offset(bytes, n_slots, piece + 1) - offset(bytes, n_slots, piece);
        }
    }
    return sum;
}

static uint64_t block_bytes(const uint64_t *counts, uint32_t n_slots,
                            const struct wf_coll_slots *slots)
{
    uint32_t slot = slots->first;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < slots->count; i++) {
        sum += slots->mask == 0 || (i & slots->mask) != 0 ? counts[slot] : 0;
        slot = slot + 1 == n_slots ? 0 : slot + 1;
    }
    return sum;
}

/* Blocks that are cut into pieces. */
static uint64_t cut_bytes(const struct wf_coll_args *args, uint32_t n_slots,
                          const struct wf_coll_slots *slots)
{
    uint32_t pieces = n_slots / args->size;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < slots->count; i++) {
        uint32_t slot = (uint32_t)(((uint64_t)slots->first + i) % n_slots);
        uint64_t bytes = args->counts != NULL ? args->counts[slot / pieces] : args->bytes;
        uint32_t piece = slot % pieces;
        if (slots->mask == 0 || (i & slots->mask) != 0) {
            sum += offset(bytes, pieces, piece + 1) - offset(bytes, pieces, piece);
        }
    }
    return sum;
}

uint64_t wf_coll_bytes(const struct wf_coll_args *args, uint32_t n_slots,
                       const struct wf_coll_slots *slots, bool received)
{
    enum length length = (enum length)lengths[args->kind];
    const uint64_t *counts =
        length == LENGTH_SIDES && received ? args->recv_counts : args->counts;

    if (length == LENGTH_NONE) {
        return 0;
    }
    if (length == LENGTH_PIECES) {
        return piece_bytes(args->bytes, n_slots, slots);
    }
    if (length == LENGTH_BLOCKS && n_slots > args->size) {
        return cut_bytes(args, n_slots, slots);
    }
    if (counts == NULL) {
        return args->bytes * n_selected(slots->count, slots->mask);
    }
    return block_bytes(counts, n_slots, slots);
}
