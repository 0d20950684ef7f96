/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings as NCCL builds them: several at once, the channels, each with a part of the data. With m
 * ranks on each of N nodes there are m channels, and each enters and leaves the nodes at other
 * ranks, so that all network interfaces are used:
 *
 *   channel 0:   0 1 2 3 | 7 6 5 4 | 8 9 10 11 | ...      (m = 4)
 *   channel 1:   1 2 3 0 | 4 7 6 5 | 9 10 11 8 | ...
 *
 * Nodes with odd numbers are passed backwards. A message between nodes then stays on the rail of
 * its sender: rank 3 of a node sends to rank 3 of the next one. Only the last node of an odd
 * number of nodes sends to another rail. Within one node there is one channel.
 */
#include "model/coll/parts.h"

enum { CHANNELS_MAX = 64 };

struct ring {
    uint32_t node_size, size;
    uint32_t channel; /* below n_channels */
    uint32_t place;   /* of the rank on the ring */
};

/* Limited such that the numbers of steps and slots do not overflow. */
static uint32_t n_channels(const struct wf_coll_args *args)
{
    uint32_t m = wf_coll_node_size(args);
    uint32_t most = UINT32_MAX / 2 / args->size;

    if (m == 1 || m == args->size) {
        return 1;
    }
    m = m < CHANNELS_MAX ? m : CHANNELS_MAX;
    return m < most ? m : most > 0 ? most : 1;
}

static bool is_backwards(uint32_t node)
{
    return node % 2 != 0;
}

/* One rank on a node is the common case of large groups (replicas of a model), where the order
 * on the ring is that of the ranks. It needs no divisions: they were a quarter of the time of a
 * training step. */
static uint32_t place_of(const struct ring *ring, uint32_t rank)
{
    if (ring->node_size == 1) {
        return rank;
    }
    uint32_t node = rank / ring->node_size, local = rank % ring->node_size;
    uint32_t along = wf_coll_below(local, ring->channel, ring->node_size);

    return node * ring->node_size + (is_backwards(node) ? ring->node_size - 1 - along : along);
}

static uint32_t rank_at(const struct ring *ring, uint32_t place)
{
    if (ring->node_size == 1) {
        return place;
    }
    uint32_t node = place / ring->node_size, along = place % ring->node_size;

    along = is_backwards(node) ? ring->node_size - 1 - along : along;
    return node * ring->node_size + wf_coll_above(along, ring->channel, ring->node_size);
}

static struct ring ring_of(const struct wf_coll_args *args, uint32_t channel)
{
    struct ring ring = {
        .node_size = wf_coll_node_size(args), .size = args->size, .channel = channel};

    ring.place = place_of(&ring, args->rank);
    return ring;
}

/* Where the data of the rank at a place of the ring is. */
typedef uint32_t slot_fn(const struct ring *ring, uint32_t place, uint32_t channels);

static uint32_t piece_slot(const struct ring *ring, uint32_t place, uint32_t channels)
{
    (void)channels;
    return ring->channel * ring->size + place;
}

static uint32_t block_slot(const struct ring *ring, uint32_t place, uint32_t channels)
{
    return rank_at(ring, place) * channels + ring->channel;
}

/* Sends the part of the place `back` below, receives that of the place `back` + 1 below. */
static struct wf_coll_step turn(const struct ring *ring, uint32_t back, slot_fn *slot,
                                uint32_t channels)
{
    uint32_t n = ring->size;

    return (struct wf_coll_step){
        .send_to = rank_at(ring, wf_coll_above(ring->place, 1, n)),
        .recv_from = rank_at(ring, wf_coll_below(ring->place, 1, n)),
        .send = wf_coll_range(slot(ring, wf_coll_below(ring->place, back, n), channels), 1),
        .recv = wf_coll_range(slot(ring, wf_coll_below(ring->place, back + 1, n), channels), 1),
        .go_on = ring->channel + 1 < channels,
    };
}

/* Every round has a step for each channel. */
static uint32_t round_of(uint32_t k, uint32_t channels)
{
    return channels == 1 ? k : k / channels;
}

static bool allgather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t channels = n_channels(args), round = round_of(k, channels);

    if (round >= args->size - 1) {
        return false;
    }
    struct ring ring = ring_of(args, k - round * channels);
    *out = turn(&ring, round, block_slot, channels);
    return true;
}

static bool reduce_scatter(const struct wf_coll_args *args, uint32_t k,
                           struct wf_coll_step *out)
{
    uint32_t channels = n_channels(args), round = round_of(k, channels);

    if (round >= args->size - 1) {
        return false;
    }
    struct ring ring = ring_of(args, k - round * channels);
    *out = turn(&ring, round + 1, block_slot, channels);
    out->take = WF_COLL_COMBINE;
    return true;
}

static bool allreduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t channels = n_channels(args), round = round_of(k, channels), n = args->size - 1;

    if (round >= 2 * n) {
        return false;
    }
    struct ring ring = ring_of(args, k - round * channels);
    *out = turn(&ring, round < n ? round + 1 : round - n, piece_slot, channels);
    out->take = round < n ? WF_COLL_COMBINE : WF_COLL_STORE;
    return true;
}

static uint32_t n_slots(const struct wf_coll_args *args)
{
    return args->size * n_channels(args);
}

WF_COLL_OPS(ALLREDUCE, allreduce, channel_ring,
            "NCCL's rings: one for each rank of a node, all at once", .by_node = true,
            .n_slots = n_slots, .step = allreduce);
WF_COLL_OPS(ALLGATHER, allgather, channel_ring,
            "NCCL's rings: one for each rank of a node, all at once", .by_node = true,
            .n_slots = n_slots, .step = allgather);
WF_COLL_OPS(REDUCE_SCATTER_BLOCK, reduce_scatter_block, channel_ring,
            "NCCL's rings: one for each rank of a node, all at once", .by_node = true,
            .n_slots = n_slots, .step = reduce_scatter);
