/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets at their destination. Nothing goes on from here, so a train waits until the number
 * of its packets that arrived is known, at the latest when the next packet arrives over the
 * same link. With a limited ejection bandwidth all packets pass one more server, in the
 * order of their arrival.
 */
#include "base/rng.h"
#include "model/net/packet/port.h"

/* From a packet's start at its last server until all of it has arrived. */
static int64_t tail_ps(const struct wf_packet_net *model, const struct wf_packet_run *run)
{
    bool stored = model->timing == WF_PACKET_STORE_AND_FORWARD || model->has_bursts;
    int64_t ejection = model->ejection == WF_PACKET_UNLIMITED
                           ? 0
                           : wf_packet_run_ps(model, run, model->ejection);
    int64_t link = stored ? 0 : wf_packet_run_ps(model, run, run->head.slowest);

    return link > ejection ? link : ejection;
}

/* The factors of the times of a message's packets in the fingerprint: a + k * b for packet k. */
static uint64_t factor_a(const struct wf_packet_head *head)
{
    return wf_rng_mix(((uint64_t)head->src << 32 | head->dst) +
                      (head->number + UINT64_C(1)) * WF_RNG_GOLDEN);
}

static uint64_t factor_b(uint64_t a)
{
    return a * WF_RNG_GOLDEN;
}

uint64_t wf_packet_fingerprint(const struct wf_packet_head *head, uint64_t first, int64_t at)
{
    uint64_t a = factor_a(head);

    return (uint64_t)at * (a + first * factor_b(a));
}

/* 0 + 1 + ... + (n - 1), modulo 2^64. */
static uint64_t sum_below(uint64_t n)
{
    return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

/* 0 + 1 + 4 + ... + (n - 1)^2 = (n - 1) n / 2 * (2 n - 1) / 3, modulo 2^64. The factor that 3
 * divides is divided before the others are multiplied, so that 64 bits are enough. */
static uint64_t sum_of_squares_below(uint64_t n)
{
    uint64_t x = n % 2 == 0 ? n / 2 : n, y = n % 2 == 0 ? n - 1 : (n - 1) / 2;
    uint64_t z = 2 * n - 1;

    if (x % 3 == 0) {
        x /= 3;
    } else if (y % 3 == 0) {
        y /= 3;
    } else {
        z /= 3;
    }
    return x * y * z;
}

/* The sum of time(k) * (a + k * b) over the packets k of a run, modulo 2^64. The times are an
 * arithmetic progression, so the sums of powers have a closed form. */
static uint64_t fingerprint(const struct wf_packet_run *run, int64_t at)
{
    uint64_t n = run->count, t = (uint64_t)at, s = (uint64_t)run->spacing;

    if (n == 1) {
        return wf_packet_fingerprint(&run->head, run->first, at);
    }
    uint64_t a = factor_a(&run->head), b = factor_b(a);
    uint64_t at_first = a + run->first * b;
    return n * t * at_first + sum_below(n) * (t * b + s * at_first) +
           sum_of_squares_below(n) * s * b;
}

/* Counts the packets of the run. The first is delivered at `at`. */
static void count_in(const struct wf_packet_view *view, const struct wf_packet_run *run,
                     int64_t at)
{
    struct wf_packet_node *node = view->node;
    const struct wf_packet_net *model = view->model;

    node->fingerprint += fingerprint(run, at);
    node->packets_received += run->count;
    node->bytes_received += run->msg != NULL ? wf_packet_rest(model, run->msg->bytes)
                                             : run->count * model->packet_bytes;
    if (view->stats != NULL) {
        wf_packet_stats_delivered(view, run);
    }
    if (model->probe != NULL) {
        const struct wf_packet_delivery delivery = {
            .src = run->head.src,
            .dst = run->head.dst,
            .number = run->head.number,
            .first = run->first,
            .count = run->count,
            .at = at,
            .spacing = run->spacing,
        };
        model->probe(model->probe_arg, &delivery);
    }
}

/* Delivers the next `n` packets of a train. */
static void take(const struct wf_packet_view *view, struct wf_packet_train *train, uint64_t n)
{
    struct wf_packet_run run = {
        .head = train->head, .first = train->first, .count = n, .spacing = train->spacing};
    struct wf_packet_port *server = &view->node->ejection;
    int64_t start = train->at;

    if (view->model->ejection != WF_PACKET_UNLIMITED) {
        start = wf_packet_port_serve(
            server, start, wf_packet_run_ps(view->model, &run, view->model->ejection));
    }
    count_in(view, &run, wf_time_add(start, tail_ps(view->model, &run)));
    train->at += (int64_t)n * train->spacing;
    train->first += n;
    train->left -= n;
}

/* Delivers packets that have all arrived. */
static void take_whole(const struct wf_packet_view *view, const struct wf_packet_run *run)
{
    struct wf_packet_train train = {
        .at = view->key.time, .first = run->first, .left = run->count, .head = run->head};

    while (train.left > 0) {
        take(view, &train, view->model->ejection == WF_PACKET_UNLIMITED ? train.left : 1);
    }
}

/* With a server: delivers all packets that came before the current event, one by one. */
static void settle_all(const struct wf_packet_view *view)
{
    struct wf_packet_port *server = &view->node->ejection;

    while (server->trains != 0) {
        uint32_t before = 0, cell = wf_packet_train_next(view, server, &before);
        const struct wf_packet_train *read = wf_cell_read(view->ctx, cell);
        if (wf_packet_train_before(read, &view->key) == 0) {
            return;
        }

        struct wf_packet_train *train = wf_cell_edit(view->ctx, cell);
        take(view, train, 1);
        if (train->left == 0) {
            wf_packet_train_drop(view, server, before);
        }
    }
}

/* Delivers the packets that have arrived of the trains from a source, and drops the rest if
 * the trains end here. Other trains wait, unless there is a server. */
static void settle(const struct wf_packet_view *view, uint64_t from, bool ends)
{
    struct wf_packet_port *server = &view->node->ejection;
    uint32_t before = 0;

    wf_touch(view->ctx, view->node, view->model->own_size);
    if (view->model->ejection != WF_PACKET_UNLIMITED) {
        settle_all(view);
    }
    for (uint32_t cell = server->trains; cell != 0;) {
        const struct wf_packet_train *read = wf_cell_read(view->ctx, cell);
        uint32_t next = read->next;
        uint64_t due = read->src == from ? wf_packet_train_before(read, &view->key) : 0,
                 left = read->left;

        if (due > 0) {
            take(view, wf_cell_edit(view->ctx, cell), due);
        }
        if (due == left || (ends && read->src == from)) {
            wf_packet_train_drop(view, server, before);
        } else {
            before = cell;
        }
        cell = next;
    }
}

void wf_packet_deliver_cut(const struct wf_packet_view *view)
{
    settle(view, wf_packet_source_of(&view->key), true);
}

void wf_packet_deliver(const struct wf_packet_view *view, const struct wf_packet_run *run)
{
    const struct wf_packet_net *model = view->model;
    int64_t at = view->key.time;

    settle(view, run->from, false);
    if (run->count > 1 && run->spacing == 0) {
        take_whole(view, run);
        return;
    }
    if (run->count > 1) {
        take(view, wf_packet_train_add(view, &view->node->ejection, run),
             1); /* the first packet has just arrived */
        return;
    }
    if (model->ejection != WF_PACKET_UNLIMITED) {
        at = wf_packet_port_serve(&view->node->ejection, at,
                                  wf_packet_run_ps(model, run, model->ejection));
    }
    at = wf_time_add(at, tail_ps(model, run));
    count_in(view, run, at);
    if (model->n_channels > 0) {
        wf_packet_credit_return(view, &run->head, at);
    }
    if (model->overtakes) {
        if (run->msg != NULL || !model->is_in_order) {
            wf_packet_order_deliver(view, run, at);
        }
    } else if (run->msg != NULL) {
        model->net.user.arrived(model->net.user.arg, view->ctx, view->ports, run->msg, at);
    }
}
