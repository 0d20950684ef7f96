/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's double binary tree: Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth
 * broadcast, reduction and scan", 2009, with the trees of ncclGetDtree() (src/graph/trees.cc).
 * Two trees connect the nodes, and an inner node of one is a leaf of the other. On each node a
 * chain leads to the rank that is part of the tree. With m ranks on a node there are 2 m lanes:
 * m channels, whose chains begin at different ranks, with two trees each. All lanes work at once,
 * each with its part of the data, in a pipeline of segments.
 *
 * Rounds are the same for all lanes, in which a rank is at different depths. With H the greatest
 * depth, a rank at depth d of a lane receives segment s from its children in round s + H - d and
 * sends it up in the next round. The sum comes back to it in round s + H + d and goes down in the
 * next round. So both sides of a message are in the same round, and ranks never wait in a circle.
 */
#include "base/arith.h"
#include "model/coll/parts.h"

enum {
    LANES_MAX = 128,
    SEGMENT_MIN = 32 << 10,
    SEGMENT_MAX = 512 << 10,
    SEGMENTS_MAX = 1024,
    CHILDREN = 3, /* two of the tree, one of the chain */
    STEPS = CHILDREN + 1,
};

struct lane {
    uint32_t m, n;        /* ranks on a node, nodes */
    uint32_t head;        /* place on its node of the rank in the tree */
    uint32_t tree;        /* 0 or 1 */
    uint32_t node, chain; /* of the rank: its node, its distance from the head */
};

static uint32_t n_lanes(const struct wf_coll_args *args)
{
    uint32_t m = wf_coll_node_size(args);

    if (m == args->size) {
        return 1;
    }
    return m < LANES_MAX / 2 ? 2 * m : LANES_MAX;
}

static struct lane lane_of(const struct wf_coll_args *args, uint32_t number)
{
    uint32_t m = wf_coll_node_size(args);
    struct lane lane = {.m = m, .n = args->size / m, .head = number / 2, .tree = number % 2};

    lane.node = args->rank / m;
    lane.chain = wf_coll_below(args->rank % m, lane.head, m);
    return lane;
}

static uint32_t rank_of(const struct lane *lane, uint32_t node, uint32_t chain)
{
    return node * lane->m + wf_coll_above(chain, lane->head, lane->m);
}

/* ---- the trees ---- */

/* The second tree is the first one with other numbers: mirrored, or shifted by one. */
static uint32_t to_first_tree(const struct lane *lane, uint32_t node)
{
    return lane->tree == 0    ? node
           : lane->n % 2 == 0 ? lane->n - 1 - node
                              : wf_coll_below(node, 1, lane->n);
}

static uint32_t from_first_tree(const struct lane *lane, uint32_t node)
{
    return lane->tree == 0    ? node
           : lane->n % 2 == 0 ? lane->n - 1 - node
                              : wf_coll_above(node, 1, lane->n);
}

/* The parent of node i > 0 in the first tree. */
static uint32_t parent_in_first(uint32_t i, uint32_t n)
{
    uint32_t bit = i & (~i + 1), clear = i ^ bit;
    uint64_t up = (uint64_t)clear | (uint64_t)bit << 1;

    return up < n ? (uint32_t)up : clear;
}

/* Child 0 or 1 of node i in the first tree of n > 1 nodes. */
static uint32_t child_in_first(uint32_t i, uint32_t n, uint32_t which)
{
    if (i == 0) {
        return which == 0 ? WF_COLL_NOBODY : UINT32_C(1) << wf_coll_log2_down(n - 1);
    }
    uint32_t half = (i & (~i + 1)) / 2;
    if (half == 0) {
        return WF_COLL_NOBODY;
    }
    if (which == 0) {
        return i - half;
    }
    while (half > 0 && i + half >= n) {
        half /= 2;
    }
    return half > 0 ? i + half : WF_COLL_NOBODY;
}

/* ---- the place of a rank ---- */

static uint32_t depth_of(const struct lane *lane)
{
    uint32_t depth = lane->chain;

    for (uint32_t i = to_first_tree(lane, lane->node); i != 0; depth++) {
        i = parent_in_first(i, lane->n);
    }
    return depth;
}

static uint32_t parent_of(const struct lane *lane)
{
    uint32_t i = to_first_tree(lane, lane->node);

    if (lane->chain > 0) {
        return rank_of(lane, lane->node, lane->chain - 1);
    }
    return i == 0 ? WF_COLL_NOBODY
                  : rank_of(lane, from_first_tree(lane, parent_in_first(i, lane->n)), 0);
}

static uint32_t child_of(const struct lane *lane, uint32_t which)
{
    if (which == CHILDREN - 1) {
        return lane->chain + 1 < lane->m ? rank_of(lane, lane->node, lane->chain + 1)
                                         : WF_COLL_NOBODY;
    }
    if (lane->chain > 0 || lane->n == 1) {
        return WF_COLL_NOBODY;
    }
    uint32_t i = child_in_first(to_first_tree(lane, lane->node), lane->n, which);
    return i == WF_COLL_NOBODY ? i : rank_of(lane, from_first_tree(lane, i), 0);
}

/* ---- segments ---- */

/* Enough to fill the pipeline, but not shorter than SEGMENT_MIN and not longer than
 * SEGMENT_MAX, if that is possible with SEGMENTS_MAX. */
static uint32_t n_segments(const struct wf_coll_args *args)
{
    enum { PER_LEVEL = 8 };
    uint32_t m = wf_coll_node_size(args);
    uint64_t levels = m + wf_coll_log2_up(args->size / m);
    uint64_t bytes = args->bytes / n_lanes(args);
    uint64_t n = wf_max_u64(PER_LEVEL * levels, bytes / SEGMENT_MAX);

    n = wf_min_u64(n, wf_min_u64(bytes / SEGMENT_MIN, SEGMENTS_MAX));
    return n > 0 ? (uint32_t)n : 1;
}

static uint32_t n_slots(const struct wf_coll_args *args)
{
    return n_lanes(args) * n_segments(args);
}

/* The number of steps must not overflow. */
static bool applies(const struct wf_coll_args *args)
{
    return wf_coll_node_size(args) <= UINT32_C(1) << 20;
}

/* The slot of a segment, or no slot if there is no such segment. */
static bool find_slot(uint32_t lane, uint32_t segments, int64_t segment,
                      struct wf_coll_slots *out)
{
    if (segment < 0 || segment >= segments) {
        return false;
    }
    *out = wf_coll_range(lane * segments + (uint32_t)segment, 1);
    return true;
}

/* A round has STEPS steps for each lane: up and down along the edge to each child, then along
 * that to the parent. */
static bool allreduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t lanes = n_lanes(args), segments = n_segments(args);
    uint32_t round = k / (lanes * STEPS), number = k / STEPS % lanes, edge = k % STEPS;
    struct lane lane = lane_of(args, number);
    uint32_t deepest = lane.m - 1 + wf_coll_log2_up(lane.n), depth = depth_of(&lane);
    int64_t up = (int64_t)round - deepest + depth, down = (int64_t)round - deepest - depth;

    if (round > segments + 2 * deepest) {
        return false;
    }
    *out = wf_coll_idle();
    out->go_on = number + 1 < lanes || edge + 1 < STEPS;
    if (edge < CHILDREN) {
        uint32_t child = child_of(&lane, edge);
        out->take = WF_COLL_COMBINE;
        out->recv_from = find_slot(number, segments, up, &out->recv) ? child : WF_COLL_NOBODY;
        out->send_to =
            find_slot(number, segments, down - 1, &out->send) ? child : WF_COLL_NOBODY;
        return true;
    }
    uint32_t parent = parent_of(&lane);
    out->recv_from = find_slot(number, segments, down, &out->recv) ? parent : WF_COLL_NOBODY;
    out->send_to = find_slot(number, segments, up - 1, &out->send) ? parent : WF_COLL_NOBODY;
    return true;
}

/* Up and down. */
static void hops(const struct wf_coll_args *args, uint32_t *within, uint32_t *between)
{
    uint32_t m = wf_coll_node_size(args);

    *within = 2 * (m - 1);
    *between = 2 * wf_coll_log2_up(args->size / m);
}

WF_COLL_OPS(ALLREDUCE, allreduce, double_tree,
            "NCCL's two binary trees of nodes, up and down in a pipeline", .by_node = true,
            .hops = hops, .applies = applies, .n_slots = n_slots, .step = allreduce);
