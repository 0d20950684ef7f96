/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets at their destination. Nothing goes on from here, so a train waits until the number
 * of its packets that arrived is known, at the latest when the next packet arrives over the
 * same link. With a limited ejection bandwidth all packets pass one more server, in the
 * order of their arrival.
 */
#include "model/net/packet/hop.h"

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
uint64_t wf_packet_fingerprint(const struct wf_packet_run *run, int64_t at,
                               struct wf_packet_factors factors)
{
    uint64_t n = run->count, t = (uint64_t)at, s = (uint64_t)run->spacing;
    uint64_t at_first = factors.a + run->first * factors.b;

    return n * t * at_first + sum_below(n) * (t * factors.b + s * at_first) +
           sum_of_squares_below(n) * s * factors.b;
}

void wf_packet_report(const struct wf_packet_view *view, const struct wf_packet_run *run,
                      int64_t at)
{
    const struct wf_packet_net *model = view->model;
    const struct wf_packet_delivery delivery = {
        .src = run->head.src,
        .dst = run->head.dst,
        .number = run->head.number,
        .first = run->first,
        .count = run->count,
        .at = at,
        .spacing = run->spacing,
    };

    if (view->stats != NULL) {
        wf_packet_stats_delivered(view, run);
    }
    if (model->probe != NULL) {
        model->probe(model->probe_arg, &delivery);
    }
}

/* Delivers the next `n` packets of a train. */
static void take(const struct wf_packet_view *view, struct wf_packet_train *train, uint64_t n)
{
    struct wf_packet_run run = {
        .head = train->head, .first = train->first, .count = n, .spacing = train->spacing};
    int64_t start = train->at, ejection = 0;

    if (view->model->ejection != WF_PACKET_UNLIMITED) {
        ejection = wf_packet_run_ps(view->model, &run, view->model->ejection);
        start = wf_packet_port_serve(&view->node->ejection, start, ejection);
    }
    int64_t at =
        wf_time_add(start, wf_packet_hop_tail(view->model, &run, ejection, WF_PACKET_ALL));
    wf_packet_hop_count(view, &run, at, WF_PACKET_ALL);
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
static void deliver_all_trains(const struct wf_packet_view *view)
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
static void deliver_trains_from(const struct wf_packet_view *view, uint64_t from, bool ends)
{
    struct wf_packet_port *server = &view->node->ejection;
    uint32_t before = 0;

    wf_touch(view->ctx, view->node, view->model->own_size);
    if (view->model->ejection != WF_PACKET_UNLIMITED) {
        deliver_all_trains(view);
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
    deliver_trains_from(view, wf_packet_source_of(&view->key), true);
}

bool wf_packet_deliver_trains(const struct wf_packet_view *view,
                              const struct wf_packet_run *run)
{
    deliver_trains_from(view, run->from, false);
    if (run->count > 1 && run->spacing == 0) {
        take_whole(view, run);
    } else if (run->count > 1) { /* the first packet has just arrived */
        take(view, wf_packet_train_add(view, &view->node->ejection, run), 1);
    }
    return run->count > 1;
}

void wf_packet_hand_over(const struct wf_packet_view *view, const struct wf_packet_run *run,
                         int64_t at)
{
    const struct wf_net_user *user = &view->model->net.user;
    enum wf_packet_order order = view->model->order;

    if (order == WF_PACKET_PACKETS_OVERTAKE ||
        (order == WF_PACKET_MESSAGES_OVERTAKE && run->msg != NULL)) {
        wf_packet_order_deliver(view, run, at);
    } else if (run->msg != NULL) {
        user->arrived(user->arg, view->ctx, view->ports, run->msg, at);
    }
}
