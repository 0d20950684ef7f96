/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Calls of collectives: their arguments, and the initial data of the ranks. */

#include "harness/coll_world.h"

/* The length of a block, for collectives whose blocks differ in length. */
static uint64_t some_bytes(const struct trial *trial, uint32_t a, uint32_t b)
{
    uint64_t random = wf_test_rand(trial->seed, a, b);

    return random % 4 == 0 ? 0 : trial->bytes == 0 ? random % 5 : (random >> 8) % trial->bytes;
}

/* Random edges; some occur several times. */
static void make_graph(struct world *w, const struct trial *trial)
{
    uint32_t n_edges = trial->size * (uint32_t)(trial->seed % 5);
    bool equal = trial->seed % 2 == 0;
    bool gather = trial->ops->kind == WF_COLL_NEIGHBOR_ALLGATHER;

    for (uint32_t i = 0; i < n_edges; i++) {
        uint32_t from = (uint32_t)(wf_test_rand(trial->seed, 1000, i) % trial->size);
        uint32_t to = (uint32_t)(wf_test_rand(trial->seed, 1001, i) % trial->size);
        struct wf_coll_args *source = &w->ranks[from].args;
        struct wf_coll_args *target = &w->ranks[to].args;
        uint64_t bytes = gather ? some_bytes(trial, from, 0) : some_bytes(trial, 1002, i);

        if (source->n_destinations == N_NEIGHBORS || target->n_sources == N_NEIGHBORS) {
            continue;
        }
        w->counts[from][source->n_destinations] = equal ? trial->bytes : bytes;
        w->recv_counts[to][target->n_sources] = equal ? trial->bytes : bytes;
        w->destinations[from][source->n_destinations++] = to;
        w->sources[to][target->n_sources++] = from;
    }
    for (uint32_t i = 0; i < trial->size; i++) {
        struct wf_coll_args *args = &w->ranks[i].args;
        args->destinations = w->destinations[i];
        args->sources = w->sources[i];
        args->counts = equal || gather ? NULL : w->counts[i];
        args->recv_counts = equal ? NULL : w->recv_counts[i];
        args->bytes = gather && !equal ? some_bytes(trial, i, 0) : trial->bytes;
    }
}

/* Ranks that share a node: a number that divides the size, another one for each seed. */
static uint32_t some_node_size(const struct trial *trial)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 8, N_RANKS};
    enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

    for (uint64_t i = 0; i < N_SIZES; i++) {
        uint32_t m = sizes[(trial->seed + i) % N_SIZES];
        if (trial->size % m == 0) {
            return m;
        }
    }
    return 1;
}

static void make_args(struct world *w, const struct trial *trial)
{
    enum wf_coll_kind kind = trial->ops->kind;

    for (uint32_t i = 0; i < trial->size; i++) {
        struct wf_coll_args *args = &w->ranks[i].args;
        bool own_only = (kind == WF_COLL_GATHERV || kind == WF_COLL_SCATTERV) && i != w->root;

        *args = (struct wf_coll_args){
            .kind = kind, .rank = i, .size = trial->size, .root = trial->root};
        args->bytes = trial->bytes;
        args->node_size = some_node_size(trial);
        for (uint32_t j = 0; j < trial->size; j++) {
            w->counts[i][j] = some_bytes(trial, kind == WF_COLL_ALLTOALLV ? i : 0, j);
            w->recv_counts[i][j] = some_bytes(trial, j, i);
        }
        if (kind == WF_COLL_GATHERV || kind == WF_COLL_SCATTERV || kind == WF_COLL_ALLGATHERV ||
            kind == WF_COLL_REDUCE_SCATTER || kind == WF_COLL_ALLTOALLV) {
            args->counts = own_only ? NULL : w->counts[i];
            args->bytes = own_only ? w->counts[i][i] : 0;
        }
        args->recv_counts = kind == WF_COLL_ALLTOALLV ? w->recv_counts[i] : NULL;
    }
    if (is_neighborhood(kind)) {
        make_graph(w, trial);
    }
}

/* Which ranks have which slots at the beginning, and how the lengths are determined. */
static const struct data {
    enum { EVERYBODY, THE_ROOT, THE_RANK, NEIGHBORS } owner;
    enum { NOTHING, PIECES, BLOCKS } length;
} data_of[WF_COLL_KINDS] = {
    [WF_COLL_BARRIER] = {EVERYBODY, NOTHING},
    [WF_COLL_BCAST] = {THE_ROOT, PIECES},
    [WF_COLL_REDUCE] = {EVERYBODY, PIECES},
    [WF_COLL_ALLREDUCE] = {EVERYBODY, PIECES},
    [WF_COLL_GATHER] = {THE_RANK, BLOCKS},
    [WF_COLL_GATHERV] = {THE_RANK, BLOCKS},
    [WF_COLL_SCATTER] = {THE_ROOT, BLOCKS},
    [WF_COLL_SCATTERV] = {THE_ROOT, BLOCKS},
    [WF_COLL_ALLGATHER] = {THE_RANK, BLOCKS},
    [WF_COLL_ALLGATHERV] = {THE_RANK, BLOCKS},
    [WF_COLL_ALLTOALL] = {EVERYBODY, BLOCKS},
    [WF_COLL_ALLTOALLV] = {EVERYBODY, BLOCKS},
    [WF_COLL_REDUCE_SCATTER] = {EVERYBODY, BLOCKS},
    [WF_COLL_REDUCE_SCATTER_BLOCK] = {EVERYBODY, BLOCKS},
    [WF_COLL_SCAN] = {EVERYBODY, PIECES},
    [WF_COLL_EXSCAN] = {EVERYBODY, PIECES},
    [WF_COLL_NEIGHBOR_ALLGATHER] = {NEIGHBORS, BLOCKS},
    [WF_COLL_NEIGHBOR_ALLTOALL] = {NEIGHBORS, BLOCKS},
};

static struct content first_content(const struct world *w, uint32_t self, uint32_t slot)
{
    const struct rank *rank = &w->ranks[self];
    struct data data = data_of[w->ops->kind];
    struct content content = {.from = UINT64_C(1) << self, .piece = slot};
    bool is_cut = data.length == BLOCKS && data.owner != NEIGHBORS && rank->n_slots > w->size;
    uint32_t cut = is_cut ? rank->n_slots / w->size : 1;

    if ((data.owner == THE_ROOT && self != w->root) ||
        (data.owner == THE_RANK && self != slot / cut) ||
        (data.owner == NEIGHBORS && slot >= rank->args.n_destinations)) {
        return (struct content){0};
    }
    if (data.length == PIECES) { /* its share of the bytes, which are dealt out in turn */
        content.length = (rank->args.bytes + rank->n_slots - 1 - slot) / rank->n_slots;
    } else if (data.length == BLOCKS) {
        uint64_t block =
            rank->args.counts != NULL ? rank->args.counts[slot / cut] : rank->args.bytes;
        content.length = (block + cut - 1 - slot % cut) / cut;
    }
    return content;
}

static void begin(struct world *w, const struct trial *trial)
{
    enum wf_coll_kind kind = trial->ops->kind;

    memset(w, 0, sizeof(*w));
    w->ops = trial->ops;
    w->size = trial->size;
    w->root = trial->root;
    w->synchronous = trial->synchronous;
    w->two_sided =
        kind == WF_COLL_ALLTOALL || kind == WF_COLL_ALLTOALLV || is_neighborhood(kind);
    make_args(w, trial);
    for (uint32_t i = 0; i < trial->size; i++) {
        struct rank *rank = &w->ranks[i];
        rank->n_slots = trial->ops->n_slots(&rank->args);
        if (rank->n_slots > N_SLOTS) {
            fail(w, "too many slots");
            return;
        }
        for (uint32_t j = 0; j < rank->n_slots; j++) {
            rank->own[j] = first_content(w, i, j);
            rank->result[j] = rank->own[j];
            rank->result[j].from = kind == WF_COLL_SCAN ? rank->own[j].from : 0;
        }
        for (uint32_t j = 0; j < trial->size; j++) {
            w->wires[i][j].end = &w->wires[i][j].first;
        }
    }
}
