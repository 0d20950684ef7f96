/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* When a packet can continue: after the packet before it, when there is room for it in a ring, and when
 * enough of it is here. */

#include "model/net/router/rules/options.h"

/* Cycles until the first packet of a queue may request a channel. */
static inline uint32_t wf_router_ready_in(const struct wf_router_rules *rules,
                                          uint32_t since_left, uint32_t pace)
{
    uint64_t all = (uint64_t)rules->phits * pace + rules->turnaround;

    return since_left >= all || since_left == WF_ROUTER_LONG ? 0 : (uint32_t)all - since_left;
}

/* Phits of a packet that have passed entirely after so many cycles. */
static inline uint32_t wf_router_moved(uint32_t cycles, uint32_t pace)
{
    return pace <= 1 ? cycles : cycles / pace; /* most links move one in each cycle */
}

/* The queue at a router from which packets of a ring continue on a channel. */
static inline uint32_t wf_router_ring_input(const struct wf_router_rules *rules,
                                            uint32_t channel)
{
    return (channel / rules->vcs ^ 1) * rules->vcs + channel % rules->vcs;
}

/* The free space, in packets, that this queue must have before the packet may enter the ring; 0 if it
 * may always enter. */
static inline uint32_t wf_router_room_needed(const struct wf_router_rules *rules,
                                             const struct wf_router_asker *asker,
                                             uint32_t channel)
{
    uint32_t room = asker->injected ? rules->restriction : 0;

    if (rules->bubble != 0 && (rules->rings >> (channel / rules->vcs / 2) & 1) != 0 &&
        (rules->escapes == 0 || channel % rules->vcs == WF_ROUTER_ESCAPE) &&
        (asker->injected || asker->input != wf_router_ring_input(rules, channel))) {
        room = room < 2 ? 2 : room;
    }
    return room;
}

/* Cycles until a queue has this room, if no packet arrives: packets count in phits. Only the last may
 * have arrived partly, and only the one before the first may have left partly. */
static inline uint32_t wf_router_room_in(const struct wf_router_rules *rules,
                                         struct wf_router_queue_now queue, uint32_t room)
{
    /* Most queues have the room even if a packet is leaving. */
    if (queue.n + 1 + room <= queue.capacity) {
        return 0;
    }
    uint32_t gone = wf_router_moved(queue.since_left, queue.pace);
    uint32_t here = wf_router_moved(queue.since_head, queue.link_pace) + 1;
    bool leaving = gone < rules->phits;
    uint32_t packets = queue.n + leaving;
    int32_t over = (int32_t)(packets + room) - (int32_t)queue.capacity;
    uint32_t missing =
        (leaving ? gone : 0) + (packets > 0 && here < rules->phits ? rules->phits - here : 0);

    /* What is missing of two packets is less than two of them. */
    if (over <= 0 || (over == 1 && missing >= rules->phits)) {
        return 0;
    }
    return leaving ? rules->phits * queue.pace - queue.since_left : WF_ROUTER_NOT_SOON;
}

/* Cycles until a packet can begin to leave by a link without gaps: from a slower one it comes phit by
 * phit, and the last phit must be here when its turn comes. */
static inline uint32_t wf_router_flow_in(const struct wf_router_rules *rules,
                                         const struct wf_router_asker *asker, uint32_t pace)
{
    if (asker->pace <= pace || asker->injected) {
        return 0;
    }
    uint64_t all = (uint64_t)(rules->phits - 1) * (asker->pace - pace);
    return asker->since >= all ? 0 : (uint32_t)all - asker->since;
}
