/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The random numbers of synthetic traffic: functions of the seed, the node, the number of the
 * burst or message, and a count. What happens in the network does not change them. Compiled for
 * devices, too.
 */

#include "base/rng_pure.h"

/* Streams; those of routers and of the engine have other numbers. */
#define WF_TRAFFIC_DRAW_GAPS     (UINT64_C(2) << 60)
#define WF_TRAFFIC_DRAW_MESSAGES (UINT64_C(3) << 60)

enum { WF_TRAFFIC_DRAW_BITS = 16 }; /* of the count, above which is the number of the message */

/* For the time before a burst of a node. */
static inline uint64_t wf_traffic_draw_gap(uint64_t seed, uint32_t node, uint64_t burst)
{
    return wf_rng_draw(seed, WF_TRAFFIC_DRAW_GAPS | node, burst);
}

/* The `count`-th number for a message of a node: first for its destination, then its size. */
static inline uint64_t wf_traffic_draw_message(uint64_t seed, uint32_t node, uint64_t message,
                                               uint32_t count)
{
    return wf_rng_draw(seed, WF_TRAFFIC_DRAW_MESSAGES | node,
                       message << WF_TRAFFIC_DRAW_BITS | count);
}

/* Cycles until the next burst, rounded down, for a Bernoulli process: `scale` is -ln(1 - chance),
 * or 0 if the chance is 1. The result may be too large for an integer. */
static inline double wf_traffic_gap_cycles(uint64_t random, double scale)
{
    return scale > 0 ? wf_rng_exponential_of(random) / scale : 0;
}
