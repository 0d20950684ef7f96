/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What nodes do: messages become packets, which enter injection queues; nobody injects while the
 * network is full. */

#include "model/net/router/rules/grid.h"

/* The packets of a message; an empty one is a packet, too. */
static inline uint64_t wf_router_packets_of(uint64_t bytes, uint64_t packet)
{
    return bytes <= packet ? 1 : (bytes - 1) / packet + 1;
}

/* Two nodes of a grid, and its sizes; null where there is no grid. */
struct wf_router_ends {
    const uint32_t *size;
    const uint16_t *here, *there;
};

/* The injection queue that a packet enters, of n from `first` on: by its directions on a grid, or else
 * the shortest. */
WF_ROUTER_RULE uint32_t wf_router_injection_queue(const struct wf_router_here *at,
                                                  struct wf_router_ends ends, uint32_t down,
                                                  uint32_t first, uint32_t n)
{
    const struct wf_router_reads *reads = at->reads;
    uint32_t best = first;

    if (at->rules->injection != WF_ROUTER_INJECT_SHORTEST && at->rules->n_dims > 0) {
        return first + wf_router_injector(at->rules, ends.size, ends.here, ends.there, down, n);
    }
    for (uint32_t i = first + 1; i < first + n; i++) {
        if (reads->first(at->router, i, WF_ROUTER_WAITING) <
            reads->first(at->router, best, WF_ROUTER_WAITING)) {
            best = i;
        }
    }
    return best;
}

/* Whether a message enters an injection queue when it is sent: it is one packet, no other waits before
 * it, and a cycle begins. Otherwise its packets wait at the node until the router decides. */
static inline bool wf_router_enters_at_once(uint64_t packets, bool others_wait,
                                            bool cycle_begins)
{
    return packets == 1 && !others_wait && cycle_begins;
}

/* Whether an injection queue with n packets takes another one. */
static inline bool wf_router_queue_takes(uint32_t n, uint64_t length)
{
    return n < length;
}

/* ---- the global restriction ----
 *
 * Routers report in the next round how many packets they have added to the network. All nodes know
 * what follows from the sum `every` cycles after that. */

/* The next cycle in which routers report or look at their queues: a multiple of `every`. */
static inline uint64_t wf_router_next_round(uint64_t cycle, uint64_t every)
{
    return (cycle / every + 1) * every;
}

/* Whether a round changes what nodes may do: they must not inject (*shut) while more than `limit`
 * packets are in the network. */
static inline bool wf_router_gate_moves(bool *shut, int64_t inside, uint64_t limit)
{
    bool was = *shut;

    *shut = limit > 0 && inside > (int64_t)limit;
    return *shut != was;
}

/* Whether the first packet of a queue may ask for a channel. */
static inline bool wf_router_gate_passes(bool shut, bool injected)
{
    return !shut || !injected;
}

/* ---- the watchdog ---- */

/* Cycles for which a packet has been the first of its queue: since it arrived, or since the one
 * before it began to leave. */
static inline uint32_t wf_router_first_for(uint32_t since_head, uint32_t since_left)
{
    return since_head < since_left ? since_head : since_left;
}
