/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/nic.h"

#include <string.h>

/* The interface that a message leaves by. */
static uint32_t number_of(const struct wf_node_nics *nics, const struct wf_net_message *msg)
{
    return wf_net_interface_of(&nics->net->ends, msg->src_node).nic;
}

/* Schedules an event for the time `at`, in which the message goes on. */
static void schedule_departure(const struct wf_node_nics *nics, struct wf_ctx *ctx,
                               uint16_t kind, uint32_t dst, const struct wf_net_message *msg,
                               int64_t at)
{
    struct wf_node_departure departure = {.bytes = msg->bytes, .dst = dst};
    uint32_t nic = number_of(nics, msg);

    memcpy(departure.header, msg->header, sizeof(departure.header));
    wf_schedule(ctx, wf_self(ctx), at == WF_TIME_MAX ? at : at - wf_now(ctx),
                (uint16_t)(kind | nic << WF_NET_NIC_SHIFT), &departure, sizeof(departure));
}

static int64_t hand_over(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                         uint32_t dst, const struct wf_net_message *msg, int64_t at)
{
    void *part = wf_net_part(nics->net, node, number_of(nics, msg));
    int64_t left = nics->net->ops->send(nics->net, ctx, part, dst, msg, at);

    return left == WF_NET_LATER ? left : wf_time_add(left, nics->costs->injection);
}

/* Messages depart in the order in which they come here, at least a gap apart. */
static int64_t depart(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                      uint32_t dst, const struct wf_net_message *msg, int64_t start)
{
    int64_t gap = nics->costs->gap;

    if (gap > 0) {
        struct wf_node_nic *nic = wf_node_nic_at(nics, node, number_of(nics, msg));

        start = nic->send_next > start ? nic->send_next : start;
        wf_touch(ctx, &nic->send_next, sizeof(nic->send_next));
        nic->send_next = wf_time_add(start, gap);
        if (start > wf_now(ctx) && nics->net->ahead == WF_NET_NOW) {
            schedule_departure(nics, ctx, nics->inject, dst, msg, start);
            return WF_NET_LATER;
        }
    }
    return hand_over(nics, ctx, node, dst, msg, start);
}

int64_t wf_node_nic_pass(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                         uint32_t dst, const struct wf_net_message *msg, int64_t start)
{
    if (start > wf_now(ctx) && !nics->runs_ahead) {
        schedule_departure(nics, ctx, nics->depart, dst, msg, start);
        return WF_NET_LATER;
    }
    return depart(nics, ctx, node, dst, msg, start);
}

int64_t wf_node_nic_event(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                          const struct wf_event *ev)
{
    const struct wf_node_departure *departure = (const void *)ev->payload;
    struct wf_net_message msg = {.bytes = departure->bytes,
                                 .src_node = wf_net_here(nics->net, ctx, wf_net_nic(ev))};

    memcpy(msg.header, departure->header, sizeof(msg.header));
    if (nics->is_free) {
        return nics->net->ops->send(nics->net, ctx, node, departure->dst, &msg, wf_now(ctx));
    }
    return (wf_net_kind(ev) == nics->depart ? depart : hand_over)(
        nics, ctx, node, departure->dst, &msg, wf_now(ctx));
}
