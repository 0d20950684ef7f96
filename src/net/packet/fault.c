/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures in time. A packet is lost if a link fails while the packet waits in the queue of the
 * link or is on it. Since all failures are known beforehand, this is known when the packet joins
 * the queue, and the packet is not sent. A packet that has no route left is lost where it is.
 *
 * The source sends a lost packet again, or the destination is told that it will not come. Both
 * learn of it by an event: nothing else has to know what failed.
 */
#include "net/packet/port.h"

static struct wf_net_losses *losses_of(const struct wf_packet_view *view)
{
    return (void *)((unsigned char *)view->ports + view->model->losses_at);
}

const struct wf_net_losses *wf_packet_fault_losses(const struct wf_packet_view *view)
{
    return losses_of(view);
}

/* Bytes of the message in the packet. */
static uint64_t bytes_of(const struct wf_packet_net *model, const struct wf_net_message *msg)
{
    return msg != NULL ? wf_packet_rest(model, msg->bytes) : model->packet_bytes;
}

static void schedule(const struct wf_packet_view *view, uint32_t node, int64_t at,
                     uint16_t kind, const void *payload, size_t size)
{
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(view->ctx);

    wf_packet_schedule(view, node, delay, kind, payload, size);
}

/* Asks the source to send a packet again at the time `at`. */
static void ask_again(const struct wf_packet_view *view, const struct wf_packet_head *head,
                      uint64_t first, const struct wf_net_message *msg, int64_t at)
{
    if (msg != NULL) {
        const struct wf_packet_last_event last = {.head = *head, .msg = *msg};
        schedule(view, head->src, at, WF_PACKET_RESEND_LAST, &last, sizeof(last));
    } else {
        const struct wf_packet_body_event body = {.head = *head, .first = first};
        schedule(view, head->src, at, WF_PACKET_RESEND, &body, sizeof(body));
    }
}

/* A packet is lost at the time `at` on a link, or without one (WF_TOPO_NO_PORT). */
static void drop(const struct wf_packet_view *view, const struct wf_packet_run *run,
                 uint32_t port, int64_t at)
{
    const struct wf_packet_net *model = view->model;

    if (model->fail_action == WF_FAULT_RESEND) {
        ask_again(view, &run->head, run->first, run->msg, wf_time_add(at, model->resend_delay));
        return;
    }
    const struct wf_packet_lost_event lost = {
        .src = run->head.src,
        .dst = run->head.dst,
        .number = run->head.number,
        .bytes = (uint32_t)bytes_of(model, run->msg),
        .at = at,
        .vertex = view->vertex,
        .port = port,
    };
    schedule(view, run->head.dst, wf_time_add(at, model->net.promise_ps), WF_PACKET_LOST, &lost,
             sizeof(lost));
}

/* When the last byte of a packet that starts at `start` has passed the link. With cut-through
 * its bytes come as fast as the slowest link before lets them. */
static int64_t tail_at(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                       const struct wf_packet_run *run, int64_t start)
{
    int64_t at = wf_packet_arrival(view, outlet, run, start);

    return view->model->timing == WF_PACKET_STORE_AND_FORWARD
               ? at
               : wf_time_add(at, wf_packet_run_ps(view->model, run, run->head.slowest));
}

/* Sends a packet on, if the link works long enough. */
static void send_on(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                    struct wf_packet_run *run, uint32_t epoch)
{
    const struct wf_packet_net *model = view->model;
    struct wf_packet_port *port = outlet->port;
    int64_t ready = wf_time_add(view->key.time, outlet->delay);
    int64_t start = ready > port->free ? ready : port->free;
    int64_t fails = wf_fault_next(model->faults, view->vertex, outlet->number, view->key.time);

    if (tail_at(view, outlet, run, start) > fails) {
        if (start < fails) { /* it is on the link when that fails, and the port is idle then */
            (void)wf_packet_serve(view, outlet, run, ready, 0);
            port->free = port->free < fails ? port->free : fails;
        }
        drop(view, run, outlet->number, fails);
        return;
    }
    (void)wf_packet_serve(view, outlet, run, ready, 0);
    if (wf_fault_epoch(model->faults, wf_packet_arrival(view, outlet, run, start)) != epoch) {
        /* The next router finds another network and routes the packet anew. */
        uint8_t hops = run->head.route.vcs.hops;
        run->head.route = (struct wf_route_state){.vcs = {.hops = hops}};
    }
    wf_packet_emit(view, outlet, run, start);
}

void wf_packet_fault_arrive(const struct wf_packet_view *view, struct wf_packet_run *run)
{
    const struct wf_packet_net *model = view->model;
    uint32_t epoch = wf_fault_epoch(model->faults, view->key.time);

    if (!wf_fault_reaches(model->faults, epoch, view->vertex, run->head.dst)) {
        drop(view, run, WF_TOPO_NO_PORT, view->key.time);
        return;
    }
    const struct wf_packet_outlet outlet = wf_packet_route_in(view, &run->head, epoch);

    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    send_on(view, &outlet, run, epoch);
    if (model->sends_notices) {
        wf_packet_notice_send(view, outlet.number);
    }
}

/* Gives up a packet that can never reach its destination. */
static void give_up(const struct wf_packet_view *view, const struct wf_packet_head *head,
                    const struct wf_net_message *msg)
{
    struct wf_net_losses *losses = losses_of(view);
    const struct wf_net_loss loss = {.at = view->key.time + 1,
                                     .src = head->src,
                                     .dst = head->dst,
                                     .vertex = view->vertex,
                                     .port = WF_TOPO_NO_PORT};

    losses->n_packets++;
    losses->n_cut_off++;
    losses->n_bytes += bytes_of(view->model, msg);
    wf_net_loss_merge(&losses->first, &loss);
}

void wf_packet_fault_resend(const struct wf_packet_view *view,
                            const struct wf_packet_head *head, uint64_t first,
                            const struct wf_net_message *msg)
{
    const struct wf_packet_net *model = view->model;
    const struct wf_packet_inject_event inject = {.dst = head->dst, .number = head->number};
    struct wf_packet_run run = {.head = wf_packet_first_head(view, &inject),
                                .first = first,
                                .count = 1,
                                .from = wf_packet_source_here(view),
                                .msg = msg};
    int64_t at = wf_fault_retry(model->faults, view->vertex, head->dst, view->key.time,
                                model->resend_delay);
    struct wf_net_losses *losses = losses_of(view);

    if (at == WF_TIME_MAX) {
        wf_touch(view->ctx, losses, sizeof(*losses));
        give_up(view, head, msg);
    } else if (at > view->key.time) {
        ask_again(view, head, first, msg, at);
    } else {
        wf_touch(view->ctx, losses, sizeof(*losses));
        losses->resent++;
        wf_packet_arrive(view, &run);
    }
}

void wf_packet_fault_lost(const struct wf_packet_view *view,
                          const struct wf_packet_lost_event *lost)
{
    struct wf_net_losses *losses = losses_of(view);
    const struct wf_net_loss loss = {.at = lost->at + 1,
                                     .src = lost->src,
                                     .dst = lost->dst,
                                     .vertex = lost->vertex,
                                     .port = lost->port};

    wf_touch(view->ctx, losses, sizeof(*losses));
    losses->n_packets++;
    losses->n_bytes += lost->bytes;
    losses->n_cut_off += lost->port == WF_TOPO_NO_PORT ? 1 : 0;
    wf_net_loss_merge(&losses->first, &loss);
    wf_packet_order_skip(view, lost->src, lost->number);
}
