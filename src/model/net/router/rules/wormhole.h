/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Routes of packets with wormhole switching on grids. */

#include "model/net/router/rules/grid.h"

/* A port, and the channels of it that a packet may take, a bit for each. */
struct wf_router_exit {
    uint32_t port, vcs;
};

/* Where a packet is, where it goes, by which directions, and the port and channel it came by. */
struct wf_router_stop {
    const uint16_t *here, *there;
    uint32_t down, in, vc;
};

/* All of n virtual channels. */
static inline uint32_t wf_router_all_vcs(uint32_t n)
{
    return (UINT32_C(1) << n) - 1;
}

/* Dimension order. On a ring, packets to a lower coordinate use the upper half of the channels until
 * they leave the ring, the others the lower half. In neither half can packets wait for each other all
 * around the ring, as routes cover at most half of it. BookSim2 does the same. At its destination the
 * packet leaves by `local`. Without branches, which processors could not predict. */
static inline struct wf_router_exit wf_router_wormhole_exit(const struct wf_router_rules *rules,
                                                            const struct wf_router_stop *at,
                                                            uint32_t local, uint32_t vcs)
{
    const uint16_t *here = at->here, *there = at->there;
    const uint32_t left = wf_router_left(rules, here, there), half = vcs / 2;
    const uint32_t dim = (uint32_t)__builtin_ctz(left | (left == 0));
    const uint32_t port = left == 0 ? local : wf_router_dim_port(at->down, dim);
    const bool straight = at->in == (port ^ 1u),
               upper = straight ? at->vc >= half : there[dim] < here[dim];
    const bool halves = rules->scheme == WF_ROUTER_DATELINE && (rules->rings >> dim & 1) != 0;

    return (struct wf_router_exit){port, halves && left != 0
                                             ? wf_router_all_vcs(half) << (upper ? half : 0)
                                             : wf_router_all_vcs(vcs)};
}

/* ---- allocation: one round of iSLIP for channels, and one for the switch ----
 *
 * Whatever is free is offered to one of those that want it, and each of these accepts one of its
 * offers; both take the first in turn (rules/turns.h). Turns go on only when an offer is accepted; one
 * that is not is lost for the cycle. A turn may be the number after the last. */

/* A queue has taken a channel: who gets the channel's next offer first, and what the queue accepts
 * first. */
static inline void wf_router_channel_taken(uint16_t *grant, uint16_t *accept, uint32_t queue,
                                           uint32_t channel)
{
    *grant = (uint16_t)(queue + 1);
    *accept = (uint16_t)(channel + 1);
}

/* Virtual channel `vc` of an input has got the switch to output `out`: which of its channels asks
 * first, and which output it accepts first; the output's next offer goes to the input after it. */
static inline void wf_router_switch_taken(uint16_t *turn, uint16_t *accept, uint16_t *grant,
                                          uint32_t vc, uint32_t out, uint32_t next_input)
{
    *turn = (uint16_t)(vc + 1);
    *accept = (uint16_t)(out + 1);
    *grant = (uint16_t)next_input;
}

/* The channel by which a node sends its next packet, *vc: the next in turn of those with room, if
 * there is any. */
static inline bool wf_router_source_vc(uint64_t with_room, uint32_t *vc)
{
    *vc = with_room == 0 ? *vc : wf_router_first_in(with_room, *vc + 1);
    return with_room != 0;
}
