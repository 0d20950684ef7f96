/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Messages within a node. Latency and bandwidth depend on what the two ranks share: a memory
 * domain, a socket, or only the node. If the memory bandwidth of a domain is limited, messages
 * pass the memory of the domains that they touch one after another, in the order in which
 * their first bytes arrive. Costs 8 bytes a domain, and nothing otherwise.
 * See docs/models/node.md.
 */

#include "engine/model.h"
#include "model/ranks/cores.h"

struct wf_mpi_params;
struct wf_node_params;

/* Set by wf_local_init(); does not change during a run. */
struct wf_local {
    struct wf_cores cores;
    bool uniform; /* one latency and one bandwidth for all */
    int64_t latency[WF_CORES_DISTANCES];
    uint64_t bandwidth[WF_CORES_DISTANCES];
    uint64_t memory_bandwidth; /* WF_PARAM_WORD: unlimited */
    uint32_t n_memories;       /* domains whose state a node keeps; 0: unlimited */
    size_t offset;             /* of that state in the state of a node */
};

/* WF_EUSAGE if a list has neither one nor three values. */
enum wf_status wf_local_check(const struct wf_node_params *params, struct wf_err *err);

/* For nodes with up to `slots_max` ranks and `offset` bytes of other state. Returns the size of
 * a node's state in all. The parameters have been checked. */
size_t wf_local_init(struct wf_local *local, const struct wf_node_params *params,
                     const struct wf_mpi_params *mpi, uint32_t slots_max, size_t offset);

static inline enum wf_cores_distance wf_local_distance(const struct wf_local *local,
                                                       uint32_t from, uint32_t to)
{
    return local->uniform ? WF_CORES_DOMAIN : wf_cores_distance(&local->cores, from, to);
}

/* The time from the first to the last byte of a message that shares memory with no other. */
int64_t wf_local_transfer(const struct wf_local *local, enum wf_cores_distance distance,
                          uint64_t bytes);

/* Whether only the arrival of a message decides when its last byte leaves the sender. */
static inline bool wf_local_leaves_later(const struct wf_local *local)
{
    return local->n_memories > 0;
}

/* When the last byte of a message leaves the sender and when it arrives. */
struct wf_local_times {
    int64_t left, arrival;
};

/* In the event in which the first byte of a message between two slots arrives. */
struct wf_local_times wf_local_carry(const struct wf_local *local, struct wf_ctx *ctx,
                                     void *node, uint32_t from, uint32_t to, uint64_t bytes);
