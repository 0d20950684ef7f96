/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The placement of ranks on nodes. The ranks of all jobs are numbered together; a node has a
 * slot for each rank on it.
 */

#include <stddef.h>
#include <stdint.h>

struct wf_place {
    uint32_t n_ranks, n_nodes;
    uint32_t slots_max; /* ranks on the fullest node, >= 1 */
    /* Null if ranks fill nodes in order, slots_max on each; else three tables. */
    const uint32_t *node_of; /* [n_ranks] */
    const uint32_t *slot_of; /* [n_ranks] */
    const uint32_t *first;   /* [n_nodes + 1]: index of each node's first rank in... */
    const uint32_t *rank_at; /* [n_ranks] ...this list, in the order of rank slots */
};

/* Fills nodes in order, with `ranks_per_node` >= 1 ranks on each. */
static inline struct wf_place wf_place_linear(uint32_t n_ranks, uint32_t ranks_per_node)
{
    return (struct wf_place){.n_ranks = n_ranks,
                             .n_nodes = (n_ranks - 1) / ranks_per_node + 1,
                             .slots_max = ranks_per_node};
}

static inline uint32_t wf_place_node(const struct wf_place *place, uint32_t rank)
{
    if (place->node_of != NULL) {
        return place->node_of[rank];
    }
    return place->slots_max == 1 ? rank : rank / place->slots_max; /* saves a division */
}

static inline uint32_t wf_place_slot(const struct wf_place *place, uint32_t rank)
{
    if (place->node_of != NULL) {
        return place->slot_of[rank];
    }
    return place->slots_max == 1 ? 0 : rank % place->slots_max;
}

static inline uint32_t wf_place_rank(const struct wf_place *place, uint32_t node, uint32_t slot)
{
    return place->node_of != NULL ? place->rank_at[place->first[node] + slot]
                                  : node * place->slots_max + slot;
}

static inline uint32_t wf_place_n_slots(const struct wf_place *place, uint32_t node)
{
    if (place->node_of != NULL) {
        return place->first[node + 1] - place->first[node];
    }
    uint64_t begin = (uint64_t)node * place->slots_max;
    uint64_t left = begin < place->n_ranks ? place->n_ranks - begin : 0;
    return left < place->slots_max ? (uint32_t)left : place->slots_max;
}

/* The job of a rank, where first[j] is the first rank of job j; each job has at least one. */
static inline uint32_t wf_place_job(const uint32_t *first, uint32_t n_jobs, uint32_t rank)
{
    uint32_t low = 0, high = n_jobs;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        *(rank < first[middle] ? &high : &low) = middle;
    }
    return low;
}
