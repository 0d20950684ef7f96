/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The watchdog of model/net/router/events/detector.c, as far as lock step needs it: it finds queues whose
 * first packet has not moved for long and can continue only into full queues. A run in which
 * there are such queues needs the deadlock detector, which is a process of the events.
 */

#include "model/net/router/lockstep/ask.h"

/* Whether the first packet of an input can continue only into full queues, and which ones.
 * Packets with more than WF_LOCKSTEP_TARGETS_MAX channels to choose from are not examined. The
 * queue must not be empty. */
static inline bool wf_lockstep_is_blocked(const struct wf_lockstep_net *net, uint32_t r,
                                          uint32_t number, uint32_t *ports,
                                          struct wf_lockstep_wait *wait)
{
    const struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);

    wait->router = r;
    wait->input = number;
    wait->n = 0;
    if (input->taken != 0 || wf_lockstep_is_injected(net, r, number)) {
        return false;
    }
    const struct wf_lockstep_site site = {net, r, 0};
    const struct wf_router_here here = wf_lockstep_here(&site);
    bool arrived;
    const struct wf_router_asker asker =
        wf_lockstep_asker_of(net, r, number, 0, ports, &arrived);
    wait->is_full = input->n >= wf_lockstep_kind_in(net, r, number / net->rules.vcs).queue;
    return !arrived &&
           wf_router_is_stuck(&here, &asker, wait->targets, &wait->n, WF_LOCKSTEP_TARGETS_MAX);
}

#ifdef WF_LOCKSTEP_TIGHT

/* Whether the first packet of a queue has been the first since the watchdog looked the last time. */
static inline bool wf_lockstep_is_old(const struct wf_lockstep_net *net, uint32_t r,
                                      uint32_t number, uint32_t cycle)
{
    struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);
    bool seen = input->seen != 0;

    (void)cycle;
    input->seen = 1;
    return seen;
}

#else

static inline bool wf_lockstep_is_old(const struct wf_lockstep_net *net, uint32_t r,
                                      uint32_t number, uint32_t cycle)
{
    const struct wf_lockstep_input *input = wf_lockstep_input(net, r, number);
    uint32_t at = wf_lockstep_read(net, r, number, input->first).at;

    return wf_router_first_for(cycle - at, wf_lockstep_since_left(input, cycle)) >=
           net->watchdog;
}

#endif

/* Looks at the packets of a router in a cycle that is a multiple of `watchdog`, after its
 * decisions. Queues that are blocked are counted in `out`. Returns whether a packet may be found
 * blocked the next time. */
static inline bool wf_lockstep_look_at(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t cycle, uint32_t *ports)
{
    struct wf_lockstep_wait wait;
    bool again = false;

    for (uint32_t w = 0; w < net->n_words; w++) {
        for (uint32_t bits = *wf_lockstep_busy(net, r, w); bits != 0; bits &= bits - 1) {
            uint32_t i = w * 32 + (uint32_t)__builtin_ctz(bits);
            if (!wf_lockstep_is_old(net, r, i, cycle)) {
                again = true;
            } else if (wf_lockstep_is_blocked(net, r, i, ports, &wait)) {
                WF_LOCKSTEP_ADD64(&net->out->blocked, 1);
            }
        }
    }
    return again;
}

#ifndef WF_LOCKSTEP_TILES

/* A packet of the router got nothing: looks at it later. */
static inline void wf_lockstep_watch(const struct wf_lockstep_net *net, uint32_t r,
                                     uint32_t cycle)
{
    if (net->watchdog > 0 && net->routers[r].watch == 0) {
        net->routers[r].watch = (uint32_t)wf_router_next_round(cycle, net->watchdog);
    }
}

/* wf_lockstep_look_at(), if some packet of the router got nothing. */
static inline void wf_lockstep_look(const struct wf_lockstep_net *net, uint32_t r,
                                    uint32_t cycle, uint32_t *ports)
{
    if (net->routers[r].watch == cycle) {
        bool again = wf_lockstep_look_at(net, r, cycle, ports);
        net->routers[r].watch = again ? cycle + net->watchdog : 0;
    }
}

#endif
