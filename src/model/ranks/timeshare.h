/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Time sharing: ranks that share the cores of their node. A rank claims its core for some CPU
 * time; a core serves claims in the order in which they are made, or in slices of time, round
 * robin. Claims must be made at the engine's time, so ranks of such nodes do not run ahead. A
 * claim costs one event, and one more for each slice if other ranks wait. The state is part of
 * a node's state: 48 bytes for each rank and each core, and nothing if no core is shared. See
 * docs/models/node.md.
 */

#include "engine/model.h"
#include "model/ranks/cores.h"
#include "model/ranks/noise.h"

struct wf_net;
struct wf_node_params;

/* Does not change during a run. */
struct wf_timeshare {
    struct wf_cores cores;
    const struct wf_noise *noise;
    const struct wf_net *net;
    int64_t slice;              /* 0: a claim is served without interruption */
    int64_t switch_cost;        /* before a core serves another rank than the last one */
    size_t cores_at, claims_at; /* offsets in the state of a node */
};

/* A core; all zero at the start. Slots are numbered from 1 here, 0 is none. */
struct wf_timeshare_core {
    int64_t begin;       /* when the claim that is being served began to use the core... */
    int64_t work;        /* ...and how much of it will be done at the next event */
    int64_t free_at;     /* task graphs: when the core has served all claims made so far */
    uint32_t running;    /* slot whose claim is being served */
    uint32_t last;       /* slot whose claim was served last */
    uint32_t head, tail; /* slots that wait, in order */
    uint32_t ticket;     /* events with another number are stale */
    uint32_t padding;
};

/* The claim of a rank on its core; all zero at the start. */
struct wf_timeshare_claim {
    int64_t owed;         /* CPU time that the rank has to spend from its clock on */
    int64_t left;         /* part of a claim that is not yet served; 0: there is no claim */
    int64_t busy;         /* how long the core has served the claim */
    int64_t wait_ps;      /* time that the rank has waited for its core... */
    int64_t coll_wait_ps; /* ...and in the current blocking collective, not yet counted */
    uint32_t next;        /* the slot that waits after this one */
    uint8_t computing;    /* a computation, which noise interrupts */
    uint8_t receiving;    /* CPU time of receives */
    uint8_t taking;       /* the rank will take its awaited requests when it resumes */
    uint8_t padding;
};

/* For nodes with up to `slots_max` ranks and *size bytes of other state, to which it adds its
 * own; null if every rank has a core. The parameters have been checked. Keeps the pointers. The
 * caller releases it with free(). */
struct wf_timeshare *wf_timeshare_new(const struct wf_node_params *params,
                                      const struct wf_net *net, const struct wf_noise *noise,
                                      uint32_t slots_max, size_t *size);

/* The claim of a slot, to read; wf_timeshare_edit() announces a change. */
static inline struct wf_timeshare_claim *wf_timeshare_claim(const struct wf_timeshare *shared,
                                                            void *node, uint32_t slot)
{
    return (struct wf_timeshare_claim *)(void *)((unsigned char *)node + shared->claims_at) +
           slot;
}
struct wf_timeshare_claim *wf_timeshare_edit(const struct wf_timeshare *shared,
                                             struct wf_ctx *ctx, void *node, uint32_t slot);

/* The slot claims its core now for `work` > 0; it has no other claim. */
void wf_timeshare_begin(const struct wf_timeshare *shared, struct wf_ctx *ctx, void *node,
                        uint32_t slot, int64_t work);

/* The payload of the events, whose kind is WF_NODE_CORE. */
struct wf_timeshare_event {
    uint32_t core, ticket;
};

/* Handles an event. True if a claim has been served: *slot is its slot, and the core already
 * serves the next one. */
bool wf_timeshare_next(const struct wf_timeshare *shared, struct wf_ctx *ctx, void *node,
                       const struct wf_timeshare_event *event, uint32_t *slot);

/* For task graphs, whose tasks run without interruption: the slot claims its core from `ready`
 * on. Returns when it gets the core, which wf_timeshare_release() frees at the time `until`. */
int64_t wf_timeshare_acquire(const struct wf_timeshare *shared, struct wf_ctx *ctx, void *node,
                             uint32_t slot, int64_t ready);
void wf_timeshare_release(const struct wf_timeshare *shared, void *node, uint32_t slot,
                          int64_t until);
