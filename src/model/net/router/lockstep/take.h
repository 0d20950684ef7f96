/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The messages of nodes, which are those of model/traffic/traffic.c: a part of the first phase of a cycle
 * (model/net/router/lockstep/step.h).
 */

#ifdef WF_LOCKSTEP_TILES
#include "model/net/router/lockstep/inject.h"
#else
#include "model/net/router/lockstep/messages.h"
#endif

/* The cycle of a node's next burst, after one in `cycle`. */
static inline uint32_t wf_lockstep_next_burst(const struct wf_lockstep_net *net, uint32_t node,
                                              uint32_t cycle)
{
    double scale = net->scales != NULL ? net->scales[node] : net->scale;

    if (net->silent != 0 || scale < 0) {
        return WF_LOCKSTEP_NEVER;
    }
    uint64_t random =
        wf_traffic_draw_gap(net->rules.seed, node, wf_lockstep_node(net, node)->bursts++);
    double gap = wf_traffic_gap_cycles(random, scale);
    return gap < (double)net->end ? cycle + 1 + (uint32_t)gap : WF_LOCKSTEP_NEVER;
}

/* Before cycle 0. */
static inline void wf_lockstep_begin_traffic(const struct wf_lockstep_net *net, uint32_t node)
{
#ifndef WF_LOCKSTEP_TILES
    if (net->mail.needed != 0) {
        wf_lockstep_messages_begin(net, node);
        return;
    }
#endif
    *wf_lockstep_next(net, node) = wf_lockstep_next_burst(net, node, 0);
}

/* A burst of a node in the cycle next[node]. */
static inline void wf_lockstep_send_burst(const struct wf_lockstep_net *net, uint32_t node,
                                          uint32_t cycle)
{
#ifndef WF_LOCKSTEP_TILES
    if (net->mail.needed != 0) {
        wf_lockstep_messages_burst(net, node, cycle);
        return;
    }
#endif
    struct wf_traffic_batch *batch = wf_lockstep_batch(net, cycle * net->cycle_ps);
    struct wf_lockstep_node *own = wf_lockstep_node(net, node);

    for (uint32_t i = 0; i < net->burst; i++) {
        struct wf_lockstep_lots lots = {.node = node, .message = own->messages++};
        uint32_t dst = wf_lockstep_destination(net, &lots);
        const struct wf_lockstep_new_packet packet = {
            .dst = dst, .index = 1, .more = {.src = node, .number = own->numbers}};
        if (dst == WF_LOCKSTEP_NONE) {
            continue;
        }
        WF_LOCKSTEP_ADD64(&batch->offered, 1);
        WF_LOCKSTEP_ADD64(&batch->offered_bytes, net->message_bytes);
        if (wf_lockstep_inject(net, node, &packet, cycle)) {
            own->numbers++;
        } else {
            WF_LOCKSTEP_ADD64(&batch->dropped, 1);
            WF_LOCKSTEP_ADD64(&batch->dropped_bytes, net->message_bytes);
        }
    }
    *wf_lockstep_next(net, node) = wf_lockstep_next_burst(net, node, cycle);
}
