/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a node. It passes the packets of messages to the node's router, or directly
 * to the node's link, one after another at the injection bandwidth.
 */
#include "model/net/packet/hop.h"

#include "base/int128.h"

int64_t wf_packet_store_ps(const struct wf_packet_view *view, const struct wf_packet_run *run)
{
    const struct wf_packet_net *model = view->model;

    if (model->timing == WF_PACKET_CUT_THROUGH || model->injection == WF_PACKET_UNLIMITED ||
        !wf_packet_links_is_router(&model->links, view->vertex)) {
        return 0;
    }
    return wf_packet_run_ps(model, run, model->injection);
}

int64_t wf_packet_inject_run(const struct wf_packet_view *view,
                             const struct wf_packet_inject_event *inject,
                             struct wf_packet_run *run)
{
    const struct wf_packet_net *model = view->model;
    uint64_t last = wf_packet_count(model, inject->msg.bytes) - 1;
    const struct wf_packet_run end = {.first = last, .count = 1, .msg = &inject->msg};
    int64_t stored = 0;

    if (model->trains) {
        run->count = last - inject->next;
        run->spacing = model->pace;
    }
    if (inject->next + run->count == last) {
        stored = wf_packet_store_ps(view, &end) - wf_packet_store_ps(view, run);
    }
    return (int64_t)run->count * model->pace + stored;
}

void wf_packet_inject_all(const struct wf_packet_view *view,
                          const struct wf_packet_inject_event *inject)
{
    const struct wf_packet_net *model = view->model;
    uint64_t last = wf_packet_count(model, inject->msg.bytes) - 1, count;

    for (uint64_t next = inject->next; next <= last; next += count) {
        count = next == last || !model->trains ? 1 : last - next;
        struct wf_packet_run run = {.head = wf_packet_first_head(view, inject),
                                    .first = next,
                                    .count = count,
                                    .from = wf_packet_source_here(view),
                                    .msg = next == last ? &inject->msg : NULL};
        wf_packet_arrive(view, &run);
    }
}

/* The time that all packets of a message take at the interface; WF_TIME_MAX if times here or
 * on any link could overflow. */
static int64_t busy_ps(const struct wf_packet_net *model, const struct wf_packet_run *last,
                       int64_t begin)
{
    int64_t worst = model->links.kinds[model->slowest].full_ps;

    if (begin > WF_TIME_MAX / 2 ||
        ((wf_u128)last->first + 1) * (uint64_t)worst > (uint64_t)WF_TIME_MAX / 4) {
        return WF_TIME_MAX;
    }
    return model->injection == WF_PACKET_UNLIMITED
               ? 0
               : (int64_t)last->first * model->pace +
                     wf_packet_run_ps(model, last, model->injection);
}

int64_t wf_packet_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                       uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    const struct wf_packet_net *model = wf_packet_of(net);
    struct wf_packet_view view;
    struct wf_packet_inject_event inject = {.msg = *msg, .dst = dst_node};
    uint64_t count = wf_packet_count(model, msg->bytes);
    const struct wf_packet_run last = {.first = count - 1, .count = 1, .msg = msg};
    const struct wf_packet_run first = {.count = 1, .msg = count == 1 ? msg : NULL};

    wf_packet_view_at_node(&view, model, ctx, node,
                           wf_net_interface_of(&net->ends, msg->src_node).nic);
    struct wf_packet_node *own = view.node;
    wf_touch(ctx, own, model->own_size);
    inject.number = wf_packet_order_number(&view, dst_node, msg);
    own->packets_sent += count;
    own->bytes_sent += msg->bytes;
    if (wf_packet_has_queue(model)) {
        wf_packet_enqueue(&view, &inject);
        return WF_NET_LATER;
    }

    int64_t begin = start > own->nic_free ? start : own->nic_free;
    int64_t busy = busy_ps(model, &last, begin), end = wf_time_add(begin, busy);
    own->nic_free = end;

    int64_t at = busy == WF_TIME_MAX ? WF_TIME_MAX
                                     : wf_time_add(begin, wf_packet_store_ps(&view, &first));
    /* A message for this node arrives in an event of its own: the layer above must not be
     * called while it calls send(). */
    if (at > wf_now(ctx) || dst_node == view.vertex) {
        wf_packet_schedule_own(&view, wf_packet_delay(&view, at), WF_PACKET_INJECT, &inject,
                               sizeof(inject));
    } else {
        (void)wf_packet_inject(&view, &inject, WF_PACKET_ALL);
    }
    return end;
}
