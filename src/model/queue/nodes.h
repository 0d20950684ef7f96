/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The nodes of the machine, and the interface of placements, which choose nodes for a job: one
 * file with a const struct wf_queue_place and one line in places.def.
 */

#include "base/registry.h"
#include "model/queue/queue.h"

struct wf_queue_nodes {
    const struct wf_queue_config *config;
    uint32_t n, n_free;
    struct wf_queue_range
        *free; /* the free nodes: runs in ascending order, none next to another */
    size_t n_runs, runs_capacity;
    struct wf_queue_range *changed; /* while runs change */
    size_t changed_capacity;
    uint32_t *free_list; /* for wf_queue_nodes_list() */
    uint32_t *group_of;  /* null without a topology */
    uint32_t n_groups;
    uint32_t *scratch; /* for choose(): as many numbers as nodes */
};

struct wf_queue_place {
    const char *name, *summary;
    bool needs_topo;
    /* Sets `out` to `n` free nodes; at least that many are free. `draw` is a random number that
     * depends on seed and job. */
    void (*choose)(const struct wf_queue_nodes *nodes, uint32_t n, uint64_t draw,
                   uint32_t *out);
};

#define WF_QUEUE_PLACE(name) extern const struct wf_queue_place wf_queue_place_##name;
#include "model/queue/places.def"

/* All placements, null-terminated. */
const struct wf_queue_place *const *wf_queue_places(void);

void wf_queue_nodes_init(struct wf_queue_nodes *nodes, const struct wf_queue_config *config);
void wf_queue_nodes_fini(struct wf_queue_nodes *nodes);

/* The free nodes in ascending order, as long as nothing changes. Takes time proportional to their
 * number. */
const uint32_t *wf_queue_nodes_list(const struct wf_queue_nodes *nodes);

/* Takes `n` nodes for a job, in ascending order; and gives them back. */
void wf_queue_nodes_take(struct wf_queue_nodes *nodes, uint32_t job, uint32_t n, uint32_t *out);
void wf_queue_nodes_give(struct wf_queue_nodes *nodes, const uint32_t *list, uint32_t n);

/* Takes one node, which is free. */
void wf_queue_nodes_take_one(struct wf_queue_nodes *nodes, uint32_t node);

/* Hops between two nodes, by their first interfaces. */
uint32_t wf_queue_nodes_distance(const struct wf_queue_nodes *nodes, uint32_t a, uint32_t b);

/* The groups that these nodes are in, and the mean distance of a sample of pairs of them; 0
 * without a topology. */
void wf_queue_nodes_spread(const struct wf_queue_nodes *nodes, const uint32_t *list, uint32_t n,
                           struct wf_queue_outcome *out);
