/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains and binary trees. Data moves in one piece, or in a pipeline of many: while a rank
 * receives a piece, it forwards the one before. Described in Pjesivac-Grbovic and others,
 * "Performance analysis of MPI collective operations", 2007. Open MPI uses trees of the same
 * shape with another numbering, and lets the user choose the length of pieces. Places are ranks
 * counted from the root; the children of place p are f p + 1 to f p + f, where the fan f is 1
 * or 2.
 */
#include "model/coll/parts.h"

/* The length of pieces grows with the data from SHORT to LONG, so that short data still has a
 * few pieces and long data not too many. */
enum {
    SHORT = 8 << 10,
    LONG = 128 << 10,
    MANY = 128,     /* from this number of pieces on, pieces become longer */
    AT_MOST = 4096, /* largest number of pieces */
};

static uint64_t pieces_of(uint64_t bytes, uint64_t length)
{
    return bytes / length + (bytes % length != 0);
}

static uint32_t n_pieces(const struct wf_coll_args *args)
{
    uint64_t n = pieces_of(args->bytes, SHORT);

    if (n > MANY) {
        n = pieces_of(args->bytes, LONG);
        n = n < MANY ? MANY : n < AT_MOST ? n : AT_MOST;
    }
    return n == 0 ? 1 : (uint32_t)n;
}

struct place {
    uint32_t number, fan;
    uint32_t parent; /* rank of the parent */
};

static struct place find_place(const struct wf_coll_args *args, uint32_t fan)
{
    struct place place = {wf_coll_below(args->rank, args->root, args->size), fan,
                          WF_COLL_NOBODY};

    if (place.number != 0) {
        place.parent = wf_coll_above((place.number - 1) / fan, args->root, args->size);
    }
    return place;
}

static uint32_t child(const struct wf_coll_args *args, const struct place *place, uint32_t i)
{
    uint64_t number = (uint64_t)place->number * place->fan + 1 + i;

    return number < args->size ? wf_coll_above((uint32_t)number, args->root, args->size)
                               : WF_COLL_NOBODY;
}

enum direction { DOWN, UP };

/* In round s a rank receives piece s and sends piece s - 1; a round has a step for each child, and
 * the first one is also for the parent. */
static bool forward(const struct wf_coll_args *args, enum direction direction, uint32_t fan,
                    uint32_t n, uint32_t k, struct wf_coll_step *out)
{
    struct place place = find_place(args, fan);
    uint32_t round = k / fan, below = child(args, &place, k % fan);
    uint32_t above = k % fan == 0 ? place.parent : WF_COLL_NOBODY;

    if (round > n) {
        return false;
    }
    *out = wf_coll_idle();
    if (round < n) {
        out->recv_from = direction == DOWN ? above : below;
        out->recv = wf_coll_range(round, 1);
        out->take = direction == DOWN ? WF_COLL_STORE : WF_COLL_COMBINE;
    }
    if (round > 0) {
        out->send_to = direction == DOWN ? below : above;
        out->send = wf_coll_range(round - 1, 1);
    }
    out->go_on = k % fan != fan - 1;
    return true;
}

#define STEP(name, direction, fan, n)                                                       \
    static bool name(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out) \
    {                                                                                       \
        return forward(args, direction, fan, n, k, out);                                    \
    }

STEP(bcast_chain, DOWN, 1, 1)
STEP(bcast_pipeline, DOWN, 1, n_pieces(args))
STEP(bcast_binary, DOWN, 2, 1)
STEP(bcast_binary_pipeline, DOWN, 2, n_pieces(args))
STEP(reduce_chain, UP, 1, 1)
STEP(reduce_pipeline, UP, 1, n_pieces(args))
STEP(reduce_binary, UP, 2, 1)
STEP(reduce_binary_pipeline, UP, 2, n_pieces(args))

/* A chain goes through every node once. */
static void chain_hops(const struct wf_coll_args *args, uint32_t *within, uint32_t *between)
{
    *between = args->size / wf_coll_node_size(args) - 1;
    *within = args->size - 1 - *between;
}

WF_COLL_OPS(BCAST, bcast, chain, "down a chain of all ranks, in one piece",
            .n_slots = wf_coll_one_slot, .step = bcast_chain);
WF_COLL_OPS(BCAST, bcast, pipeline, "down a chain of all ranks, in pieces of 8 to 128 KiB",
            .hops = chain_hops, .n_slots = n_pieces, .step = bcast_pipeline);
WF_COLL_OPS(BCAST, bcast, binary, "down a binary tree, in one piece",
            .n_slots = wf_coll_one_slot, .step = bcast_binary);
WF_COLL_OPS(BCAST, bcast, binary_pipeline, "down a binary tree, in pieces of 8 to 128 KiB",
            .n_slots = n_pieces, .step = bcast_binary_pipeline);
WF_COLL_OPS(REDUCE, reduce, chain, "up a chain of all ranks, in one piece",
            .n_slots = wf_coll_one_slot, .step = reduce_chain);
WF_COLL_OPS(REDUCE, reduce, pipeline, "up a chain of all ranks, in pieces of 8 to 128 KiB",
            .hops = chain_hops, .n_slots = n_pieces, .step = reduce_pipeline);
WF_COLL_OPS(REDUCE, reduce, binary, "up a binary tree, in one piece",
            .n_slots = wf_coll_one_slot, .step = reduce_binary);
WF_COLL_OPS(REDUCE, reduce, binary_pipeline, "up a binary tree, in pieces of 8 to 128 KiB",
            .n_slots = n_pieces, .step = reduce_binary_pipeline);
