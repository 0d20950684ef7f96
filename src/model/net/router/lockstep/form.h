/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the threads of model/net/router/lockstep/run.c do with the routers of a network, for each form of their state:
 * one for all networks, and one for frequent kinds of grids, which is faster.
 */

#include "model/net/router/lockstep/step.h"
#include "model/net/router/lockstep/watch.h"

/* Routers from `first` to before `end`. */
struct wf_lockstep_share {
    uint32_t first, end;
};

struct wf_lockstep_form {
    /* Sets the pointers into the state; returns its size. If only the size is wanted, `base` is any
     * pointer. */
    uint64_t (*place)(struct wf_lockstep_net *net, void *base);
    /* Before cycle 0. */
    void (*begin)(const struct wf_lockstep_net *net, struct wf_lockstep_share share);
    void (*cycle)(const struct wf_lockstep_net *net, struct wf_lockstep_share share,
                  uint32_t cycle, struct wf_lockstep_work *work);
    /* The watchdog, after cycles that are multiples of net->watchdog. */
    void (*look)(const struct wf_lockstep_net *net, struct wf_lockstep_share share,
                 uint32_t cycle, uint32_t *ports);
    /* The packets that a channel has carried. */
    uint32_t (*packets)(const struct wf_lockstep_net *net, uint32_t r, uint32_t channel);
    /* wf_lockstep_is_blocked(); false if the queue is empty. */
    bool (*is_blocked)(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                       uint32_t *ports, struct wf_lockstep_wait *wait);
};

/* The last two, for the form of the file that includes this. */
static inline uint32_t wf_lockstep_form_packets(const struct wf_lockstep_net *net, uint32_t r,
                                                uint32_t channel)
{
    return wf_lockstep_channel(net, r, channel)->packets;
}

static inline bool wf_lockstep_form_is_blocked(const struct wf_lockstep_net *net, uint32_t r,
                                               uint32_t input, uint32_t *ports,
                                               struct wf_lockstep_wait *wait)
{
    return wf_lockstep_input(net, r, input)->n > 0 &&
           wf_lockstep_is_blocked(net, r, input, ports, wait);
}

/* For all networks: model/net/router/lockstep/any.c. */
extern const struct wf_lockstep_form wf_lockstep_any;

/* For the kind of grid that a network is, model/net/router/lockstep/grids.c; null if it is none of them. */
const struct wf_lockstep_form *wf_lockstep_grid(const struct wf_lockstep_net *net);
