/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures in time. A packet is lost if a link fails while the packet waits in the queue of the
 * link or is on it. Since all failures are known beforehand, this is known when the packet joins
 * the queue, and the packet is not sent. A packet that has no route left is lost where it is.
 *
 * The source sends a lost packet again, or the destination is told that it will not come. Both
 * learn of it by an event: nothing else has to know what failed.
 *
 * With credits, packets that wait for a credit when the network changes are routed anew, unless
 * they wait for a link that has failed. Routes of two epochs could wait for each other in a
 * cycle. Each link therefore has two sets of channels, used by turns, as in the router model
 * (model/net/router/events/fault.c).
 */
#include "model/net/packet/hop.h"

static struct wf_net_losses *losses_of(const struct wf_packet_view *view)
{
    return (void *)((unsigned char *)view->ports + view->model->losses_at);
}

const struct wf_net_losses *wf_packet_fault_losses(const struct wf_packet_view *view)
{
    return losses_of(view);
}

/* Asks the source to send a packet again at the time `at`. */
static void ask_again(const struct wf_packet_view *view, const struct wf_packet_head *head,
                      uint64_t first, const struct wf_net_message *msg, int64_t at)
{
    int64_t delay = wf_packet_delay(view, at);

    if (msg != NULL) {
        const struct wf_packet_last_event last = {.head = *head, .msg = *msg};
        wf_packet_schedule(view, head->src, delay, WF_PACKET_RESEND_LAST, &last, sizeof(last));
    } else {
        const struct wf_packet_body_event body = {.head = *head, .first = first};
        wf_packet_schedule(view, head->src, delay, WF_PACKET_RESEND, &body, sizeof(body));
    }
}

/* A packet is lost at the time `at` on a link, or without one (WF_TOPO_NO_PORT). */
static struct wf_packet_lost_event lost_packet(const struct wf_packet_view *view,
                                               const struct wf_packet_run *run, uint32_t port,
                                               int64_t at)
{
    return (struct wf_packet_lost_event){
        .src = run->head.src,
        .dst = run->head.dst,
        .number = run->head.number,
        .bytes = (uint32_t)wf_packet_run_payload(view->model, run),
        .at = at,
        .vertex = view->vertex,
        .port = port,
    };
}

static void drop(const struct wf_packet_view *view, const struct wf_packet_run *run,
                 uint32_t port, int64_t at)
{
    const struct wf_packet_net *model = view->model;

    if (model->fail_action == WF_FAULT_RESEND) {
        ask_again(view, &run->head, run->first, run->msg, wf_time_add(at, model->resend_delay));
        return;
    }
    const struct wf_packet_lost_event lost = lost_packet(view, run, port, at);
    wf_packet_schedule(view, run->head.dst,
                       wf_packet_delay(view, wf_time_add(at, model->net.promise_ps)),
                       WF_PACKET_LOST, &lost, sizeof(lost));
}

/* When the last byte of a packet that starts at `start` has passed the link. With cut-through
 * its bytes come as fast as the slowest link before lets them. */
static int64_t tail_at(const struct wf_packet_view *view, const struct wf_packet_outlet *outlet,
                       const struct wf_packet_run *run, int64_t start)
{
    int64_t at = wf_packet_arrival(view, outlet, run, start, WF_PACKET_ALL);

    return view->model->timing == WF_PACKET_STORE_AND_FORWARD
               ? at
               : wf_time_add(at, wf_packet_run_ps(view->model, run, run->head.slowest));
}

static uint32_t epoch_of(const struct wf_packet_view *view)
{
    return wf_fault_epoch(view->model->faults, view->key.time);
}

/* When an epoch begins; WF_TIME_MAX if there is none with this number. */
static int64_t begin_of(const struct wf_packet_net *model, uint32_t epoch)
{
    return epoch < wf_fault_n_epochs(model->faults) ? wf_fault_epoch_begin(model->faults, epoch)
                                                    : WF_TIME_MAX;
}

/* The route begins anew at the next router. */
static void forget_route(struct wf_packet_head *head)
{
    uint8_t hops = head->route.vcs.hops;

    head->route = (struct wf_route_state){.vcs = {.hops = hops}};
}

/* When a packet that is sent now and arrives at `arrival` is lost for another reason than a
 * failure of the link: its channel would be used again by then. */
static int64_t stale_at(const struct wf_packet_view *view, int64_t arrival)
{
    int64_t again =
        view->model->n_channels > 0 ? begin_of(view->model, epoch_of(view) + 2) : WF_TIME_MAX;

    return arrival >= again ? again : WF_TIME_MAX;
}

int64_t wf_packet_fault_send(const struct wf_packet_view *view,
                             const struct wf_packet_outlet *outlet, struct wf_packet_run *run,
                             int64_t waited, bool *is_lost)
{
    const struct wf_packet_net *model = view->model;
    struct wf_packet_port *port = outlet->port;
    int64_t ready = wf_time_add(view->key.time, outlet->delay);
    int64_t start = ready > port->free ? ready : port->free;
    int64_t arrival = wf_packet_arrival(view, outlet, run, start, WF_PACKET_ALL);
    int64_t fails = wf_fault_next(model->faults, view->vertex, outlet->number, view->key.time);
    int64_t stale = stale_at(view, arrival);

    fails = stale < fails ? stale : fails;
    *is_lost = stale != WF_TIME_MAX || tail_at(view, outlet, run, start) > fails;
    if (*is_lost) {
        if (start < fails) { /* it is on the link when that fails, and the port is idle then */
            (void)wf_packet_serve(view, outlet, run, ready, waited, WF_PACKET_ALL);
            port->free = port->free < fails ? port->free : fails;
        }
        drop(view, run, stale == WF_TIME_MAX ? outlet->number : WF_TOPO_NO_PORT, fails);
        return fails;
    }
    (void)wf_packet_serve(view, outlet, run, ready, waited, WF_PACKET_ALL);
    if (model->n_channels == 0 && wf_fault_epoch(model->faults, arrival) != epoch_of(view)) {
        forget_route(&run->head); /* with credits the next router does it */
    }
    wf_packet_emit(view, outlet, run, start);
    return port->free;
}

struct wf_packet_outlet wf_packet_fault_route(const struct wf_packet_view *view,
                                              struct wf_packet_run *run)
{
    const struct wf_packet_net *model = view->model;
    struct wf_packet_head *head = &run->head;
    uint32_t epoch = epoch_of(view), set = head->route.vcs.vc >> WF_PACKET_SET_SHIFT;
    bool credits = model->n_channels > 0;

    if (credits && head->in_port != WF_PACKET_NO_PORT && set != epoch % 2) {
        forget_route(head); /* the router before had another network */
    }
    head->route.vcs.vc &= WF_PACKET_VC_MASK;
    const struct wf_topo *topo = wf_fault_topo(model->faults, epoch);
    const struct wf_route *route = wf_fault_route(model->faults, epoch);
    uint32_t port = model->next_ports == WF_PACKET_BY_TOPOLOGY
                        ? topo->ops->next_port(topo, view->vertex, head->dst)
                    : model->adapt == WF_PACKET_BY_MESSAGE
                        ? wf_packet_adapt_port(view, run, topo, route)
                        : wf_packet_choose_port(view, head, topo, route, NULL);
    const struct wf_packet_outlet outlet = wf_packet_take_port(view, head, port);
    if (credits) {
        head->route.vcs.vc = (uint8_t)(head->route.vcs.vc | epoch % 2 << WF_PACKET_SET_SHIFT);
    }
    return outlet;
}

/* ---- packets that wait for credits ---- */

bool wf_packet_fault_has_changed(const struct wf_packet_view *view, uint32_t port)
{
    uint32_t routed = view->ports[port].routed;

    return routed != 0 && routed - 1 != epoch_of(view);
}

void wf_packet_fault_watch(const struct wf_packet_view *view, uint32_t port)
{
    struct wf_packet_port *own = &view->ports[port];
    uint32_t epoch = epoch_of(view);
    int64_t next = begin_of(view->model, epoch + 1);
    uint64_t number = port;

    if (own->routed != 0) {
        return;
    }
    wf_touch(view->ctx, own, sizeof(*own));
    own->routed = epoch + 1;
    if (next != WF_TIME_MAX) {
        wf_packet_schedule_own(view, next - wf_now(view->ctx), WF_PACKET_CHANGE, &number,
                               sizeof(number));
    }
}

/* Whether a packet that arrived at `since` was sent in an epoch before the last one. It arrived
 * in the epoch in which it was sent or in the next one, and its channel tells which. */
static bool is_stale(const struct wf_packet_view *view, const struct wf_packet_head *head,
                     int64_t since)
{
    uint32_t sent = wf_fault_epoch(view->model->faults, since);

    if (head->in_port == WF_PACKET_NO_PORT) {
        return false;
    }
    sent -= sent % 2 != head->route.vcs.vc >> WF_PACKET_SET_SHIFT ? 1 : 0;
    return sent + 2 <= epoch_of(view);
}

bool wf_packet_fault_strands(const struct wf_packet_view *view, const struct wf_packet_run *run,
                             uint32_t port, int64_t since)
{
    const struct wf_fault_plan *plan = view->model->faults;
    const struct wf_topo *topo = wf_fault_topo(plan, epoch_of(view));
    bool failed = topo->ops->neighbor(topo, view->vertex, port) == WF_TOPO_NO_VERTEX;

    if (!failed && !is_stale(view, &run->head, since) &&
        wf_fault_reaches(plan, epoch_of(view), view->vertex, run->head.dst)) {
        return false;
    }
    drop(view, run, failed ? port : WF_TOPO_NO_PORT, view->key.time);
    return true;
}

/* ---- arrivals ---- */

bool wf_packet_fault_arrive(const struct wf_packet_view *view, struct wf_packet_run *run)
{
    const struct wf_packet_net *model = view->model;
    uint32_t epoch = epoch_of(view);

    if (!wf_fault_reaches(model->faults, epoch, view->vertex, run->head.dst)) {
        drop(view, run, WF_TOPO_NO_PORT, view->key.time);
        if (model->n_channels > 0) {
            wf_packet_credit_return(view, &run->head, view->key.time);
        }
        return true;
    }
    if (model->n_channels > 0) {
        return false;
    }
    const struct wf_packet_outlet outlet = wf_packet_fault_route(view, run);
    bool is_lost;

    wf_touch(view->ctx, outlet.port, sizeof(*outlet.port));
    (void)wf_packet_fault_send(view, &outlet, run, 0, &is_lost);
    if (model->notice_step > 0) {
        wf_packet_notice_send(view, outlet.number);
    }
    return true;
}

/* Counts a packet that is given up. */
static void count_loss(const struct wf_packet_view *view,
                       const struct wf_packet_lost_event *lost)
{
    const struct wf_net_loss loss = {.at = lost->at + 1,
                                     .src = lost->src,
                                     .dst = lost->dst,
                                     .vertex = lost->vertex,
                                     .port = lost->port};

    wf_touch(view->ctx, losses_of(view), sizeof(struct wf_net_losses));
    wf_net_losses_add(losses_of(view), &loss, lost->bytes);
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
        const struct wf_packet_lost_event lost =
            lost_packet(view, &run, WF_TOPO_NO_PORT, view->key.time);
        count_loss(view, &lost);
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
    count_loss(view, lost);
    wf_packet_order_skip(view, lost->src, lost->number);
}
