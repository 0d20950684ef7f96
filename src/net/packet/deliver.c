/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets at the node they are for. Nothing goes on from here, so trains only wait until it is
 * known how many of their packets came: at the latest when the next packet of the same link is
 * there. With a limited ejection bandwidth all packets pass one more server, in the order of
 * their arrival.
 */
#include "base/rng.h"
#include "net/packet/port.h"

/* From a packet's start at its last server until all of it is there. */
static int64_t tail_ps(const struct wf_packet_net *model, const struct wf_piece *piece)
{
    bool stored = model->timing == WF_PACKET_STORE_AND_FORWARD;
    int64_t ejection =
        model->ejection == WF_PACKET_UNLIMITED ? 0 : wf_piece_ps(model, piece, model->ejection);
    int64_t link = stored ? 0 : wf_piece_ps(model, piece, piece->head.slowest);

    return link > ejection ? link : ejection;
}

/* The sum over the packets k of a message of time(k) * (a + k * b), modulo 2^64, for times in
 * an arithmetic progression: sums of powers in closed form. */
static uint64_t fingerprint(const struct wf_packet_delivery *delivery)
{
    uint64_t n = delivery->count, t = (uint64_t)delivery->at, s = (uint64_t)delivery->spacing;
    uint64_t a = wf_rng_mix(((uint64_t)delivery->src << 32 | delivery->dst) +
                            (delivery->number + UINT64_C(1)) * WF_RNG_GOLDEN);
    uint64_t b = a * WF_RNG_GOLDEN;
    uint64_t at_first = a + delivery->first * b;

    if (n == 1) {
        return t * at_first;
    }
    uint64_t sum = (uint64_t)((wf_u128)n * (n - 1) / 2);
    uint64_t squares = (uint64_t)((wf_u128)n * (n - 1) / 2 * (2 * (wf_u128)n - 1) / 3);
    return n * t * at_first + sum * (t * b + s * at_first) + squares * s * b;
}

/* `count` packets are there, the first at `at`. */
static void count_in(const struct wf_spot *spot, const struct wf_piece *piece, int64_t at)
{
    struct wf_packet_node *node = spot->node;
    const struct wf_packet_net *model = spot->model;
    const struct wf_packet_delivery delivery = {
        .src = piece->head.src,
        .dst = piece->head.dst,
        .number = piece->head.number,
        .first = piece->first,
        .count = piece->count,
        .at = at,
        .spacing = piece->spacing,
    };

    node->facts += fingerprint(&delivery);
    node->packets_received += piece->count;
    node->bytes_received += piece->msg != NULL ? wf_packet_rest(model, piece->msg->bytes)
                                               : piece->count * model->packet_bytes;
    if (spot->stats != NULL) {
        wf_stats_delivered(spot, piece);
    }
    if (model->probe != NULL) {
        model->probe(model->probe_arg, &delivery);
    }
}

/* The next `n` packets of a train are there. */
static void take(const struct wf_spot *spot, struct wf_train *train, uint64_t n)
{
    struct wf_piece piece = {
        .head = train->head, .first = train->first, .count = n, .spacing = train->spacing};
    struct wf_port *server = &spot->node->ejection;
    int64_t start = train->at;

    if (spot->model->ejection != WF_PACKET_UNLIMITED) {
        start = wf_port_serve(server, start,
                              wf_piece_ps(spot->model, &piece, spot->model->ejection));
    }
    count_in(spot, &piece, wf_time_add(start, tail_ps(spot->model, &piece)));
    train->at += (int64_t)n * train->spacing;
    train->first += n;
    train->left -= n;
}

/* Packets that are all here. */
static void take_whole(const struct wf_spot *spot, const struct wf_piece *piece)
{
    struct wf_train train = {
        .at = spot->key.time, .first = piece->first, .left = piece->count, .head = piece->head};

    while (train.left > 0) {
        take(spot, &train, spot->model->ejection == WF_PACKET_UNLIMITED ? train.left : 1);
    }
}

/* With a server: all packets that came before what happens now, one by one. */
static void settle_all(const struct wf_spot *spot)
{
    struct wf_port *server = &spot->node->ejection;

    while (server->trains != 0) {
        uint32_t before = 0, cell = wf_train_next(spot, server, &before);
        const struct wf_train *read = wf_cell_read(spot->ctx, cell);
        if (wf_train_before(read, &spot->key) == 0) {
            return;
        }

        struct wf_train *train = wf_cell_edit(spot->ctx, cell);
        take(spot, train, 1);
        if (train->left == 0) {
            wf_train_drop(spot, server, before);
        }
    }
}

/* Looks at the trains that come from the process `from`: takes what has arrived of them, and
 * gives up the rest if they end here. Others wait, unless there is a server for all. */
static void settle(const struct wf_spot *spot, uint32_t from, bool ends)
{
    struct wf_port *server = &spot->node->ejection;
    uint32_t before = 0;

    wf_touch(spot->ctx, spot->node, sizeof(*spot->node));
    if (spot->model->ejection != WF_PACKET_UNLIMITED) {
        settle_all(spot);
    }
    for (uint32_t cell = server->trains; cell != 0;) {
        const struct wf_train *read = wf_cell_read(spot->ctx, cell);
        uint32_t next = read->next;
        uint64_t due = read->src == from ? wf_train_before(read, &spot->key) : 0,
                 left = read->left;

        if (due > 0) {
            take(spot, wf_cell_edit(spot->ctx, cell), due);
        }
        if (due == left || (ends && read->src == from)) {
            wf_train_drop(spot, server, before);
        } else {
            before = cell;
        }
        cell = next;
    }
}

void wf_packet_deliver_cut(const struct wf_spot *spot)
{
    settle(spot, spot->key.src, true);
}

void wf_packet_deliver(const struct wf_spot *spot, const struct wf_piece *piece)
{
    const struct wf_packet_net *model = spot->model;
    int64_t at = spot->key.time;

    settle(spot, piece->from, false);
    if (piece->count > 1 && piece->spacing == 0) {
        take_whole(spot, piece);
        return;
    }
    if (piece->count > 1) {
        take(spot, wf_train_add(spot, &spot->node->ejection, piece), 1); /* its turn is now */
        return;
    }
    if (model->ejection != WF_PACKET_UNLIMITED) {
        at = wf_port_serve(&spot->node->ejection, at,
                           wf_piece_ps(model, piece, model->ejection));
    }
    at = wf_time_add(at, tail_ps(model, piece));
    count_in(spot, piece, at);
    if (model->n_channels > 0) {
        wf_credit_return(spot, &piece->head, at);
    }
    if (model->overtakes) {
        if (piece->msg != NULL || !model->is_in_order) {
            wf_order_deliver(spot, piece, at);
        }
    } else if (piece->msg != NULL) {
        model->net.user.arrived(model->net.user.arg, spot->ctx, spot->ports, piece->msg, at);
    }
}
