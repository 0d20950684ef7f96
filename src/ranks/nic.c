/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/nic.h"

#include <string.h>

/* Schedules an event for the time `at`, in which the message goes on. */
static void defer(struct wf_ctx *ctx, uint16_t kind, uint32_t dst_node,
                  const struct wf_net_message *msg, int64_t at)
{
    struct wf_node_departure departure = {.bytes = msg->bytes, .dst_node = dst_node};

    memcpy(departure.header, msg->header, sizeof(departure.header));
    wf_schedule(ctx, wf_self(ctx), at == WF_TIME_MAX ? at : at - wf_now(ctx), kind, &departure,
                sizeof(departure));
}

static int64_t hand_over(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                         uint32_t dst_node, const struct wf_net_message *msg, int64_t at)
{
    int64_t left = nics->net->ops->send(nics->net, ctx, node, dst_node, msg, at);

    return left == WF_NET_LATER ? left : wf_time_add(left, nics->costs->injection);
}

/* Messages depart in the order in which they come here, at least a gap apart. */
static int64_t depart(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                      uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    int64_t gap = nics->costs->gap;

    if (gap > 0) {
        struct wf_node_nic *nic = (void *)((unsigned char *)node + nics->offset);

        start = nic->send_next > start ? nic->send_next : start;
        wf_touch(ctx, &nic->send_next, sizeof(nic->send_next));
        nic->send_next = wf_time_add(start, gap);
        if (start > wf_now(ctx) && nics->net->ahead == WF_NET_NOW) {
            defer(ctx, nics->inject, dst_node, msg, start);
            return WF_NET_LATER;
        }
    }
    return hand_over(nics, ctx, node, dst_node, msg, start);
}

int64_t wf_node_nic_send(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                         uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    if (start > wf_now(ctx) && !nics->runs_ahead) {
        defer(ctx, nics->depart, dst_node, msg, start);
        return WF_NET_LATER;
    }
    return depart(nics, ctx, node, dst_node, msg, start);
}

int64_t wf_node_nic_event(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                          const struct wf_event *ev)
{
    const struct wf_node_departure *departure = (const void *)ev->payload;
    struct wf_net_message msg = {.bytes = departure->bytes,
                                 .src_node = wf_self(ctx) - nics->net->first_node};

    memcpy(msg.header, departure->header, sizeof(msg.header));
    return (ev->kind == nics->depart ? depart : hand_over)(nics, ctx, node, departure->dst_node,
                                                           &msg, wf_now(ctx));
}
