/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Steps of routers whose words are in one piece (WF_LOCKSTEP_TILES). Such a router knows which of its
 * queues hold a channel and which of its ports packets wait for, so that a decision looks at the others
 * only.
 */

#include "model/net/router/lockstep/step.h"
#include "model/net/router/lockstep/watch.h"

/* Fixes what variants (model/net/router/lockstep/variants.def) suppose of a network. If the arguments are constants, a
 * compiler that knows the network as a local variable resolves loops, divisions and conditions. */
static inline void wf_lockstep_specialise(struct wf_lockstep_net *net, uint32_t dims,
                                          uint32_t vcs, uint32_t scheme)
{
    net->n_words = 1;
    net->has_more = 0;
    net->rules.n_dims = dims;
    net->n_ports = net->node_ports = net->other_ports = 2 * dims;
    net->rules.vcs = vcs;
    net->rules.scheme = scheme;
    net->n_inputs = 2 * dims * vcs + 1;
    net->n_injection = 1;
    net->n_nodes = net->n;
    net->kind_of = NULL;
    net->has_kinds = net->slow = 0;
    net->kind.pace = 1;
    net->has_scales = 0;
    net->scales = NULL;
    net->rules.arbitration = WF_ROUTER_ROUND_ROBIN;
    net->rules.request = WF_ROUTER_SMART;
    net->rules.injection = WF_ROUTER_INJECT_SHORTEST;
    net->rules.transit = 0;
    net->stats = 0;
    net->burst = 1;
}

#ifdef WF_LOCKSTEP_TILES

/* A packet has begun to leave: its queue asks again when the tail has left. */
static inline void wf_lockstep_tile_left(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t input, uint32_t cycle)
{
    uint32_t bit = UINT32_C(1) << input;
    struct wf_lockstep_own *own = wf_lockstep_own(net, r);
    const struct wf_lockstep_input *queue = wf_lockstep_input(net, r, input);

    WF_LOCKSTEP_CLEAR(&own->held, bit);
    if (queue->n > 0) {
        wf_lockstep_wake(net, r, cycle + wf_lockstep_ready_in(net, queue, cycle));
    } else {
        WF_LOCKSTEP_CLEAR(&own->busy, bit);
    }
}

/* Gives the channels of a port, and starts a packet if the link is idle: wf_lockstep_give(). `asking`
 * has a word for each channel, and is 0 afterwards. */
static inline void wf_lockstep_tile_give(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t port, uint32_t *asking, uint32_t cycle,
                                         struct wf_lockstep_count *count)
{
    const struct wf_lockstep_link *link = wf_lockstep_link(net, r, port);

    for (uint32_t vc = 0; vc < net->rules.vcs; vc++) {
        if (asking[vc] != 0) {
            wf_lockstep_grant(net, r, port * net->rules.vcs + vc, asking + vc, cycle);
            asking[vc] = 0;
        }
    }
    if (link->waiting > 0 && link->free <= cycle) {
        wf_lockstep_tile_left(net, r, wf_lockstep_send(net, r, port, cycle, count), cycle);
    }
    if (link->waiting > 0) {
        wf_lockstep_wake(net, r, link->free);
    } else {
        WF_LOCKSTEP_CLEAR(&wf_lockstep_own(net, r)->sending, UINT32_C(1) << port);
    }
}

/* After the grants: when an input that asked needs a decision again. One without packets is no longer
 * busy. */
static inline void wf_lockstep_tile_rest(const struct wf_lockstep_net *net, uint32_t r,
                                         uint32_t input, uint32_t cycle)
{
    const struct wf_lockstep_input *queue = wf_lockstep_input(net, r, input);
    struct wf_lockstep_own *own = wf_lockstep_own(net, r);
    bool waits = false;

    if (queue->n == 0) {
        WF_LOCKSTEP_CLEAR(&own->busy, UINT32_C(1) << input);
        return;
    }
    if (queue->taken != 0) {
        WF_LOCKSTEP_SET(&own->held, UINT32_C(1) << input);
        return;
    }
    uint32_t next = wf_lockstep_rest(net, r, input, cycle, NULL, &waits);
    if (next != WF_LOCKSTEP_NEVER) {
        wf_lockstep_wake(net, r, next);
    }
}

#endif
