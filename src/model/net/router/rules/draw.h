/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Random numbers and the digest of the router model, as functions of what they are for. They do
 * not depend on what was drawn before, so that events and lock step (src/model/net/router/lockstep) decide
 * alike. Compiled for devices, too.
 */

#include "base/rng_pure.h"

/* What a router draws for. */
enum {
    WF_ROUTER_DRAW_INPUT = 0,     /* + input: the request of its first packet */
    WF_ROUTER_DRAW_GRANT = 1024,  /* + channel: which request gets it */
    WF_ROUTER_DRAW_EAT = 2048,    /* which packet is consumed */
    WF_ROUTER_DRAW_BITS = 12,     /* all of these, and counts, are below 2^12 */
    WF_ROUTER_DRAW_FLOW = 0xfff,  /* count: number of a flow that is a single packet */
    WF_ROUTER_FACT_EATEN = 0xfff, /* instead of a channel: the packet is consumed */
};
#define WF_ROUTER_DRAW_STREAMS (UINT64_C(1) << 60) /* other streams have lower numbers */

/* The `count`-th number that a router draws for something in a cycle. */
static inline uint64_t wf_router_draw(uint64_t seed, uint32_t vertex, uint32_t what,
                                      uint64_t cycle, uint32_t count)
{
    uint64_t stream = (uint64_t)vertex << WF_ROUTER_DRAW_BITS | what;

    return wf_rng_draw(seed, WF_ROUTER_DRAW_STREAMS | stream,
                       cycle << WF_ROUTER_DRAW_BITS | count);
}

/* What the digest adds up: a packet begins to leave a router by a channel, or is consumed
 * there. The sum over a run is the same in any order. */
static inline uint64_t wf_router_fact(uint64_t cycle, uint32_t vertex, uint32_t channel,
                                      uint32_t dst, uint64_t born)
{
    uint64_t where = (uint64_t)vertex << 32 | dst, when = cycle << WF_ROUTER_DRAW_BITS;

    return wf_rng_mix(where * UINT64_C(0xd6e8feb86659fd93) + (when | channel) * WF_RNG_GOLDEN +
                      born * UINT64_C(0xbf58476d1ce4e5b9));
}
