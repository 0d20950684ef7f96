/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A whole cycle of a router by one thread: the phases of model/net/router/lockstep/step.h one after the other.
 */

#include "model/net/router/lockstep/step.h"
#include "model/net/router/lockstep/watch.h"

/* Every input with packets requests. Returns whether packets are to be consumed. */
static inline bool wf_lockstep_ask_all(const struct wf_lockstep_net *net, uint32_t r,
                                       uint32_t cycle, struct wf_lockstep_work *work)
{
    uint32_t n_channels = net->n_ports * net->rules.vcs;
    bool eats = false;

    for (uint32_t w = 0; w < net->n_words; w++) {
        uint32_t bits = *wf_lockstep_busy(net, r, w);
        for (; bits != 0; bits &= bits - 1) {
            uint32_t i = w * 32 + (uint32_t)__builtin_ctz(bits);
            uint32_t channel = wf_lockstep_ask(net, r, i, cycle, work->ports);
            if (channel == WF_ROUTER_NONE) {
                continue;
            }
            eats = eats || channel == WF_ROUTER_CONSUME;
            channel = channel == WF_ROUTER_CONSUME ? n_channels : channel;
            work->asking[channel * net->n_words + w] |= UINT32_C(1) << i % 32;
        }
    }
    return eats;
}

/* Sets words to 0. */
static inline void wf_lockstep_clear(uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        words[i] = 0;
    }
}

/* Returns the next cycle in which a link can send that packets wait for. */
static inline uint32_t wf_lockstep_give_all(const struct wf_lockstep_net *net, uint32_t r,
                                            uint32_t cycle, struct wf_lockstep_work *work)
{
    uint32_t next = WF_LOCKSTEP_NEVER, n_ports = wf_lockstep_ports(net, r);

    for (uint32_t port = 0; port < n_ports; port++) {
        uint32_t *asking = work->asking + (size_t)port * net->rules.vcs * net->n_words;
        uint32_t at = wf_lockstep_give(net, r, port, asking, cycle, &work->count);
        wf_lockstep_clear(asking, net->rules.vcs * net->n_words);
        next = at < next ? at : next;
    }
    return next;
}

/* Returns the next cycle in which an input needs a decision. */
static inline uint32_t wf_lockstep_rest_all(const struct wf_lockstep_net *net, uint32_t r,
                                            uint32_t cycle, struct wf_lockstep_work *work)
{
    uint32_t next = WF_LOCKSTEP_NEVER;
    bool waits = false;

    for (uint32_t w = 0; w < net->n_words; w++) {
        for (uint32_t bits = wf_lockstep_settle(net, r, w); bits != 0; bits &= bits - 1) {
            uint32_t i = w * 32 + (uint32_t)__builtin_ctz(bits);
            if (work->again && !wf_lockstep_may_ask(net, r, i)) {
                continue;
            }
            uint32_t at = wf_lockstep_rest(net, r, i, cycle, work->ports, &waits);
            next = at < next ? at : next;
        }
    }
    if (waits) {
        wf_lockstep_watch(net, r, cycle);
    }
    return next;
}

static inline void wf_lockstep_decide(const struct wf_lockstep_net *net, uint32_t r,
                                      uint32_t cycle, struct wf_lockstep_work *work)
{
    uint64_t injected = work->count.injected;
    bool waiting = false; /* messages of the node wait for injection */

    net->wake[r] = 0;
    if (net->mail.needed != 0 && r < net->n_nodes) {
        waiting = wf_lockstep_messages_inject(net, r, cycle);
    }
    if (wf_lockstep_ask_all(net, r, cycle, work)) {
        uint32_t *asking = work->asking + (size_t)net->n_ports * net->rules.vcs * net->n_words;
        wf_lockstep_eat_all(net, r, asking, cycle, &work->count);
        wf_lockstep_clear(asking, net->n_words);
    }
    uint32_t link = wf_lockstep_give_all(net, r, cycle, work);
    uint32_t input = wf_lockstep_rest_all(net, r, cycle, work);
    uint32_t next = link < input ? link : input;
    if (waiting && injected != work->count.injected) { /* there is space for the next */
        next = cycle + 1;
    }
    if (next != WF_LOCKSTEP_NEVER) {
        wf_lockstep_wake(net, r, next);
    }
}

static inline void wf_lockstep_cycle(const struct wf_lockstep_net *net, uint32_t r,
                                     uint32_t cycle, struct wf_lockstep_work *work)
{
    if (net->mail.rounds > 0 && r < net->n_nodes) {
        wf_lockstep_messages_react(net, r, cycle);
    }
    for (uint32_t word = 0; word < net->n_words; word++) {
        wf_lockstep_take_word(net, r, word, cycle);
    }
    if (r < net->n_nodes && net->next[r] == cycle) {
        wf_lockstep_send_burst(net, r, cycle);
    }
    /* A message that was injected during a decision is asked for in another one. */
    for (work->again = false; wf_lockstep_decides(net, r, cycle); work->again = true) {
        wf_lockstep_decide(net, r, cycle, work);
    }
}
