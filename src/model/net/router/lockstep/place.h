/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The memory of a network (model/net/router/lockstep/state.h): how much it is, and where things are in it. Hosts only. */

#include "model/net/router/lockstep/state.h"
#include "model/net/stats/link_words.h"

/* Takes `bytes` from a block, aligned to 16. */
static inline void *wf_lockstep_carve(void *base, uint64_t *at, uint64_t bytes)
{
    void *part = (unsigned char *)base + *at;

    *at += (bytes + 15) & ~UINT64_C(15);
    return part;
}

/* Sets the pointers to packets and wheels in the state, with packets of so many bytes. */
static inline void wf_lockstep_place_packets(struct wf_lockstep_net *net, void *base,
                                             uint64_t *at, uint64_t bytes)
{
    const uint64_t n = net->n, words = n * net->n_words;
    const uint64_t places = n * net->n_ports * net->rules.vcs * net->queue,
                   injected = (uint64_t)net->n_nodes * net->n_injection * net->injection_length;

    net->packets = wf_lockstep_carve(base, at, places * bytes);
    net->injected = wf_lockstep_carve(base, at, injected * bytes);
    net->heads = wf_lockstep_carve(
        base, at, ((uint64_t)net->head_last + 1) * words * sizeof(*net->heads));
    net->credits = wf_lockstep_carve(
        base, at, ((uint64_t)net->credit_last + 1) * words * sizeof(*net->credits));
    if (net->has_more != 0) {
        net->more = wf_lockstep_carve(base, at, places * sizeof(*net->more));
        net->more_injected =
            wf_lockstep_carve(base, at, injected * sizeof(*net->more_injected));
    }
}

/* Sets the pointers into the state; returns its size. If only the size is wanted, `base` is any
 * pointer. */
static inline uint64_t wf_lockstep_place(struct wf_lockstep_net *net, void *base)
{
    const uint64_t n = net->n, channels = n * net->n_ports * net->rules.vcs,
                   words = n * net->n_words;
    uint64_t at = 0;

    net->inputs = wf_lockstep_carve(base, &at, n * net->n_inputs * sizeof(*net->inputs));
    net->channels = wf_lockstep_carve(base, &at, channels * sizeof(*net->channels));
    net->links = wf_lockstep_carve(base, &at, n * net->n_ports * sizeof(*net->links));
    net->routers = wf_lockstep_carve(base, &at, n * sizeof(*net->routers));
    net->nodes = wf_lockstep_carve(base, &at, net->n_nodes * sizeof(*net->nodes));
    net->wake = wf_lockstep_carve(base, &at, n * sizeof(*net->wake));
    net->next = wf_lockstep_carve(base, &at, n * sizeof(*net->next));
    net->busy = wf_lockstep_carve(base, &at, words * sizeof(*net->busy));
    wf_lockstep_place_packets(net, base, &at, sizeof(uint32_t) * WF_LOCKSTEP_PACKET_WORDS);
    return at;
}

/* Words of `own` of each router on a device: wf_lockstep_own_words(), for hosts. */
static inline uint32_t wf_lockstep_device_words(const struct wf_lockstep_net *net)
{
    uint32_t channels = net->n_ports * net->rules.vcs;

    return WF_LOCKSTEP_OWN_WORDS + (net->tight != 0
                                        ? net->n_inputs * WF_LOCKSTEP_INPUT_WORDS_TIGHT +
                                              channels * WF_LOCKSTEP_CHANNEL_WORDS_TIGHT +
                                              net->n_ports * WF_LOCKSTEP_LINK_WORDS_TIGHT
                                        : net->n_inputs * WF_LOCKSTEP_INPUT_WORDS +
                                              channels * WF_LOCKSTEP_CHANNEL_WORDS +
                                              net->n_ports * WF_LOCKSTEP_LINK_WORDS);
}

/* Likewise for a device. */
static inline uint64_t wf_lockstep_place_device(struct wf_lockstep_net *net, void *base)
{
    uint64_t at = 0, own = (uint64_t)net->n * wf_lockstep_device_words(net) * sizeof(uint32_t);

    net->own = wf_lockstep_carve(base, &at, own);
    wf_lockstep_place_packets(net, base, &at,
                              sizeof(uint32_t) * (net->tight != 0
                                                      ? WF_LOCKSTEP_PACKET_WORDS_TIGHT
                                                      : WF_LOCKSTEP_PACKET_WORDS));
    return at;
}

/* Whether small records have room for a network, of those that variants of the kernels are for. */
static inline bool wf_lockstep_is_small(const struct wf_lockstep_net *net)
{
    uint32_t longest = 0;

    for (uint32_t d = 0; d < net->rules.n_dims; d++) {
        longest += net->size[d];
    }
    return net->n < 1 << 24 && net->end < 1 << 24 && longest < 1 << 12 &&
           net->rules.n_dims <= 4 && net->rules.vcs <= 7 && net->queue < 1 << 7 &&
           net->injection_length < 1 << 8 && net->n_inputs <= 32;
}

/* Whether tiles can hold a network: all routers are nodes of a grid, and bits of a word are enough
 * for their queues. */
static inline bool wf_lockstep_fits_tiles(const struct wf_lockstep_net *net)
{
    return net->rules.n_dims > 0 && net->n_words == 1 && net->has_more == 0 &&
           net->before == NULL && net->limit == 0 && net->pattern != WF_LOCKSTEP_OTHER;
}

/* Whether such a network is what variants suppose, see wf_lockstep_specialise(). */
static inline bool wf_lockstep_is_usual(const struct wf_lockstep_net *net)
{
    return net->n_ports == 2 * net->rules.n_dims && net->n_nodes == net->n &&
           net->n_injection == 1 && net->has_kinds == 0 && net->slow == 0 &&
           net->has_scales == 0 && net->rules.arbitration == WF_ROUTER_ROUND_ROBIN &&
           net->rules.injection == WF_ROUTER_INJECT_SHORTEST && net->rules.transit == 0 &&
           net->stats == 0 && net->burst == 1 && wf_lockstep_is_small(net) &&
           (net->rules.scheme != WF_ROUTER_ADAPTIVE || net->rules.request == WF_ROUTER_SMART);
}

/* Sets the pointers to the tables; returns their size. */
static inline uint64_t wf_lockstep_place_tables(struct wf_lockstep_net *net, void *base)
{
    const uint64_t n = net->n, links = n * net->n_ports;
    uint64_t at = 0;

    net->kinds = wf_lockstep_carve(base, &at, net->n_kinds * sizeof(*net->kinds));
    net->neighbor = wf_lockstep_carve(base, &at, links * sizeof(*net->neighbor));
    net->in_port = wf_lockstep_carve(base, &at, links * sizeof(*net->in_port));
    net->coords = wf_lockstep_carve(base, &at, n * net->rules.n_dims * sizeof(*net->coords));
    net->size = wf_lockstep_carve(base, &at, net->rules.n_dims * sizeof(*net->size));
    net->partners = NULL;
    net->kind_of = NULL;
    net->scales = NULL;
    if (net->pattern == WF_LOCKSTEP_TABLE) {
        net->partners = wf_lockstep_carve(base, &at, net->n_nodes * sizeof(*net->partners));
    }
    if (net->has_kinds != 0) {
        net->kind_of = wf_lockstep_carve(base, &at, links * sizeof(*net->kind_of));
    }
    if (net->has_scales != 0) {
        net->scales = wf_lockstep_carve(base, &at, net->n_nodes * sizeof(*net->scales));
    }
    return at;
}
