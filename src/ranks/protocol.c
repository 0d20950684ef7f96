/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How messages travel. Short ones are sent at once (eager). A long or synchronous one is
 * announced first; the receiver asks for it when it has a receive for it, and only then the
 * data follows (rendezvous).
 */
#include "ranks/protocol.h"

#include "ranks/because.h"
#include "ranks/collective.h"
#include "ranks/msg_header.h"
#include "ranks/request.h"

#include <string.h>

static uint32_t own_node(const struct wf_caller *who)
{
    return wf_self(who->ctx) - who->mpi->net->first_node;
}

/* Within a node, the last byte follows the first as on the network. */
static int64_t send_local(const struct wf_caller *who, const struct wf_net_message *msg,
                          int64_t start)
{
    const struct wf_mpi_params *params = who->mpi->params;

    wf_net_schedule(who->mpi->net, who->ctx, own_node(who),
                    wf_time_add(start, params->local_latency), WF_NODE_LOCAL, msg);
    return wf_time_add(start, wf_transfer_ps(msg->bytes, params->local_bandwidth));
}

int64_t wf_msg_transmit(const struct wf_caller *who, uint32_t to, struct wf_msg_header *header,
                        uint64_t bytes, int64_t start)
{
    const struct wf_mpi *mpi = who->mpi;
    uint32_t dst_node = wf_place_node(mpi->place, to);
    struct wf_net_message msg = {.bytes = bytes, .src_node = own_node(who)};

    header->src_slot = (uint16_t)who->slot;
    header->dst_slot = (uint16_t)wf_place_slot(mpi->place, to);
    memcpy(msg.header, header, sizeof(*header));
    if (dst_node == msg.src_node && mpi->params->local) {
        return send_local(who, &msg, start);
    }
    if (start > wf_now(who->ctx) && !mpi->runs_ahead) {
        /* The network wants it when it is time; whence it comes is known then. */
        msg.src_node = dst_node;
        wf_net_schedule(mpi->net, who->ctx, own_node(who), start, WF_NODE_DEPART, &msg);
        return WF_NET_LATER;
    }
    return mpi->net->ops->send(mpi->net, who->ctx, who->node, dst_node, &msg, start);
}

static bool is_eager(const struct wf_caller *who, const struct wf_peer *to)
{
    return to->buffered || who->mpi->sends_only ||
           (!to->synchronous && to->bytes <= who->mpi->params->eager_max);
}

uint32_t wf_protocol_send(const struct wf_caller *who, const struct wf_peer *to,
                          uint32_t context, int64_t start, uint32_t owner)
{
    struct wf_rank *rank = who->rank;
    struct wf_msg_header header = {.a = (uint32_t)to->tag};

    rank->sent_messages++;
    rank->sent_bytes = wf_count_add(rank->sent_bytes, to->bytes);
    if (is_eager(who, to)) {
        header.b = wf_msg_with_kind(WF_MSG_EAGER, context);
        memcpy(header.c, &start, sizeof(header.c));
        /* It is over when the network has it: when its last byte leaves is of no interest. */
        (void)wf_msg_transmit(who, to->rank, &header, to->bytes, start);
        return 0;
    }

    uint32_t cell = wf_cell_new(who->ctx);
    uint32_t handle = wf_request_new_handle(rank);

    *wf_request_edit(who, cell) = (struct wf_rank_request){.key = {context, to->rank, to->tag},
                                                           .request = WF_RANK_NO_REQUEST,
                                                           .kind = WF_REQ_SEND,
                                                           .bytes = to->bytes,
                                                           .at = start,
                                                           .owner = owner,
                                                           .handle = handle,
                                                           .peer = to->rank};
    wf_cause_note(who, (struct wf_cause){.until = start,
                                         .since = start,
                                         .track = wf_track_announced(handle),
                                         .from = who->number,
                                         .from_track = wf_track_of(context, to->tag),
                                         .why = WF_WHY_ANNOUNCED});
    wf_cellmap_put(who->ctx, &rank->handles, handle, cell);
    header.b = wf_msg_with_kind(WF_MSG_ANNOUNCE, context);
    header.c[0] = handle;
    header.c[1] = to->bytes < UINT32_MAX ? (uint32_t)to->bytes : UINT32_MAX;
    (void)wf_msg_transmit(who, to->rank, &header, who->mpi->params->control_bytes, start);
    return cell;
}

/* When the receiver was ready for a long message: a time; or this, if that was before the
 * announcement came; or this less a time, if it was a call that went on with it. */
enum { READY_BEFORE = -1, READY_IN_CALL = -2 };

/* The receive has met the announcement of its message: asks for the data. */
static void ask(const struct wf_caller *who, uint32_t cell, uint32_t handle, int64_t at,
                int64_t ready)
{
    struct wf_rank_request *recv = wf_request_edit(who, cell);
    struct wf_msg_header header = {.a = handle};

    recv->handle = wf_request_new_handle(who->rank);
    header.b = wf_msg_with_kind(WF_MSG_ASK, recv->handle);
    memcpy(header.c, &ready, sizeof(header.c));
    wf_cellmap_put(who->ctx, &who->rank->handles, recv->handle, cell);
    (void)wf_msg_transmit(who, recv->peer, &header, who->mpi->params->control_bytes, at);
}

/* The data of a long message is gone, which departed then. */
static void data_gone(const struct wf_caller *who, uint32_t cell, int64_t departure, int64_t at)
{
    struct wf_rank_request *send = wf_request_edit(who, cell);

    send->key.src = send->handle;
    send->departure = ~departure;
    wf_request_complete(who, cell, at);
}

/* Sends the data of a request that was asked for by the receive with this handle. Why it goes on
 * now is told by who was ready last, and when. */
static void answer(const struct wf_caller *who, uint32_t cell, uint32_t handle, int64_t at,
                   const struct wf_cause *cause)
{
    const struct wf_rank_request *send = wf_request_read(who, cell);
    struct wf_msg_header header = {.a = handle,
                                   .b = wf_msg_with_kind(WF_MSG_DATA, send->handle)};

    wf_cause_note(who, (struct wf_cause){.until = at,
                                         .since = cause->since,
                                         .track = wf_track_asked(send->handle),
                                         .from = cause->from,
                                         .from_track = cause->from_track,
                                         .why = cause->why});
    memcpy(header.c, &at, sizeof(header.c));
    int64_t left = wf_msg_transmit(who, send->peer, &header, send->bytes, at);
    if (left != WF_NET_LATER) {
        (void)wf_cellmap_take(who->ctx, &who->rank->handles, send->handle);
        data_gone(who, cell, at, left);
    }
}

/* Keeps for the rank's next call what its req is to do then. */
static void defer(const struct wf_caller *who, uint32_t cell, uint32_t handle)
{
    struct wf_rank_request *req = wf_request_edit(who, cell);

    req->flags |= WF_REQ_DEFERRED;
    req->asked = handle;
    req->next = who->rank->deferred;
    who->rank->deferred = cell;
}

/* A collective goes on with the call that the rank makes now. */
static void poke_collective(const struct wf_caller *who, uint32_t cell, int64_t at)
{
    struct wf_rank_request *coll = wf_request_edit(who, cell);

    if (at > coll->at) {
        if (who->mpi->because != NULL) {
            wf_cause_note(who, (struct wf_cause){.until = at,
                                                 .since = at,
                                                 .track = wf_collective_track(who, cell),
                                                 .from = who->number,
                                                 .why = WF_WHY_CALLED});
        }
        coll->at = at;
    }
    wf_collective_continue(who, cell);
}

void wf_rank_run_deferred(const struct wf_caller *who)
{
    while (who->rank->deferred != 0) {
        uint32_t cell = who->rank->deferred;
        struct wf_rank_request *req = wf_request_edit(who, cell);
        int64_t at = who->rank->clock;

        who->rank->deferred = req->next;
        req->flags &= (uint16_t)~WF_REQ_DEFERRED;
        if (req->kind == WF_REQ_RECV) {
            ask(who, cell, req->asked, at, READY_IN_CALL - at);
        } else if (req->kind == WF_REQ_SEND) {
            const struct wf_cause own = {
                .since = at, .from = who->number, .why = WF_WHY_CALLED};
            answer(who, cell, req->asked, at, &own);
        } else {
            poke_collective(who, cell, at);
        }
    }
}

/* Whether a message of this length is an error of the program. In a collective, both sides know
 * how much is sent; a receive of the program only says how much room there is. */
static bool is_misfit(const struct wf_rank_request *recv, uint64_t bytes)
{
    return bytes != recv->bytes && (bytes > recv->bytes || recv->owner != 0);
}

/* A receive and its message have found each other; `message` is freed by the caller. */
static void meet(const struct wf_caller *who, uint32_t cell,
                 const struct wf_rank_request *message)
{
    struct wf_rank_request *recv = wf_request_edit(who, cell);
    int64_t at = wf_later(recv->at, message->at);
    uint32_t handle = message->handle;

    recv->peer = message->key.src;
    recv->key.tag = message->key.tag;
    if ((message->flags & WF_REQ_ANNOUNCED) == 0) {
        if (is_misfit(recv, message->bytes)) {
            wf_rank_fail_sizes(who, &message->key, recv->bytes, message->bytes);
            return;
        }
        recv->bytes = message->bytes;
        recv->departure = message->departure;
        wf_request_complete(who, cell, message->at);
        return;
    }
    at = wf_rank_progress(who, at);
    if (at == WF_NET_LATER) {
        defer(who, cell, handle);
    } else {
        ask(who, cell, handle, at, recv->at >= message->at ? recv->at : READY_BEFORE);
    }
}

void wf_protocol_tell(const struct wf_caller *who, uint32_t cell,
                      const struct wf_match_key *key)
{
    const struct wf_rank_request *recv = wf_request_read(who, cell);

    if ((recv->flags & WF_REQ_WILDCARD) && who->mpi->matched != NULL) {
        who->mpi->matched(who->mpi->arg, who, recv->request, key->src, key->tag);
    }
}

void wf_protocol_tell_posted(const struct wf_caller *who, uint32_t cell)
{
    const struct wf_rank_request *recv = wf_request_read(who, cell);

    /* It is complete, or has asked for its data, or will as soon as it may. */
    if ((recv->flags & (WF_REQ_DONE | WF_REQ_DEFERRED)) || recv->handle != 0) {
        const struct wf_match_key key = {.src = recv->peer, .tag = recv->key.tag};
        wf_protocol_tell(who, cell, &key);
    }
}

uint32_t wf_protocol_recv(const struct wf_caller *who, const struct wf_peer *from,
                          uint32_t context, int64_t at, uint32_t owner)
{
    uint32_t cell = wf_cell_new(who->ctx);
    bool open =
        from->open || from->rank == WF_MATCH_ANY_SOURCE || from->tag == WF_MATCH_ANY_TAG;

    *wf_request_edit(who, cell) =
        (struct wf_rank_request){.key = {context, from->rank, from->tag},
                                 .request = WF_RANK_NO_REQUEST,
                                 .kind = WF_REQ_RECV,
                                 .flags = open ? WF_REQ_WILDCARD : 0,
                                 .bytes = from->bytes,
                                 .at = at,
                                 .owner = owner,
                                 .peer = from->rank};
    uint32_t found = wf_match_post(who->ctx, &who->rank->match, cell);
    if (found != 0) {
        struct wf_rank_request message = *wf_request_read(who, found);

        wf_cell_free(who->ctx, found);
        if ((message.flags & WF_REQ_ANNOUNCED) == 0) {
            who->rank->unexpected_bytes -= message.bytes;
        }
        meet(who, cell, &message);
    }
    return cell;
}

/* A message that is matched: eager, or announced. */
static void take_in(const struct wf_caller *who, const struct wf_rank_request *message)
{
    struct wf_rank *rank = who->rank;
    uint32_t cell = wf_match_claim(who->ctx, &rank->match, &message->key);

    if (cell != 0) {
        wf_protocol_tell(who, cell, &message->key);
        meet(who, cell, message);
        return;
    }
    cell = wf_cell_new(who->ctx);
    *wf_request_edit(who, cell) = *message;
    wf_match_keep(who->ctx, &rank->match, cell);
    if ((message->flags & WF_REQ_ANNOUNCED) == 0) {
        rank->unexpected_bytes = wf_count_add(rank->unexpected_bytes, message->bytes);
        if (rank->unexpected_bytes > who->mpi->params->unexpected_limit) {
            wf_rank_fail(who, WF_FAILURE_UNEXPECTED, message->key.src);
            return;
        }
    }
    if (rank->state == WF_RANK_PROBING) {
        wf_rank_wake(who);
    }
}

void wf_arrival_note(const struct wf_arrival *arrival)
{
    struct wf_delivery delivery = {
        .from = arrival->from, .bytes = arrival->msg->bytes, .arrival = arrival->at};

    memcpy(&delivery.departure, arrival->header.c, sizeof(delivery.departure));
    arrival->who.mpi->note(arrival->who.mpi->arg, &arrival->who, &delivery);
    arrival->who.rank->noted = 1;
}

static void on_message(const struct wf_arrival *arrival)
{
    const struct wf_msg_header *header = &arrival->header;
    struct wf_rank *rank = arrival->who.rank;
    bool asks = wf_msg_kind_of(header) == WF_MSG_ANNOUNCE;
    struct wf_rank_request message = {
        .key = {header->b & WF_MSG_LOW_BITS, arrival->from, (int32_t)header->a},
        .request = WF_RANK_NO_REQUEST,
        .kind = WF_REQ_UNEXPECTED,
        .flags = asks ? WF_REQ_ANNOUNCED : 0,
        .bytes = asks ? header->c[1] : arrival->msg->bytes,
        .at = arrival->at,
        .peer = arrival->from,
    };

    if (asks) {
        message.handle = header->c[0];
    } else {
        memcpy(&message.departure, header->c, sizeof(message.departure));
        wf_arrival_note(arrival);
    }
    if (!arrival->who.mpi->sends_only) {
        take_in(&arrival->who, &message);
    } else if (rank->state == WF_RANK_ENDED && arrival->at > rank->clock) {
        /* Nobody receives it, but the run is over when the last has come. A rank that still
         * has something to send ends later than now anyway. */
        wf_cause_note(
            &arrival->who,
            (struct wf_cause){.until = arrival->at,
                              .since = message.departure,
                              .bytes = message.bytes,
                              .from = arrival->from,
                              .from_track = wf_track_of(message.key.context, message.key.tag),
                              .why = WF_WHY_MESSAGE});
        rank->clock = arrival->at;
    }
}

/* In a run that will be taken back, handles may lead nowhere. */
static uint32_t find_request(const struct wf_arrival *arrival, enum wf_rank_request_kind kind)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t cell = wf_cellmap_get(who->ctx, &who->rank->handles, arrival->header.a);

    return cell != 0 && wf_request_read(who, cell)->kind == kind ? cell : 0;
}

/* Of the two that had to be ready for the data of a long message. */
static struct wf_cause who_was_last(const struct wf_arrival *arrival,
                                    const struct wf_rank_request *send)
{
    struct wf_cause cause = {.from = arrival->from,
                             .from_track = wf_track_of(send->key.context, send->key.tag),
                             .why = WF_WHY_ASKED};

    memcpy(&cause.since, arrival->header.c, sizeof(cause.since));
    if (cause.since == READY_BEFORE) {
        cause.from = arrival->who.number;
        cause.since = send->at;
    } else if (cause.since < 0) {
        cause.from_track = WF_TRACK_PROGRAM;
        cause.since = READY_IN_CALL - cause.since;
    }
    return cause;
}

static void on_ask(const struct wf_arrival *arrival)
{
    uint32_t cell = find_request(arrival, WF_REQ_SEND);
    int64_t at = wf_rank_progress(&arrival->who, arrival->at);

    if (cell == 0 || (wf_request_read(&arrival->who, cell)->flags & WF_REQ_DEFERRED)) {
        return;
    }
    uint32_t handle = arrival->header.b & WF_MSG_LOW_BITS;
    if (at == WF_NET_LATER) {
        defer(&arrival->who, cell, handle);
        return;
    }

    struct wf_cause cause = who_was_last(arrival, wf_request_read(&arrival->who, cell));
    answer(&arrival->who, cell, handle, at, &cause);
}

static void on_data(const struct wf_arrival *arrival)
{
    uint32_t cell = find_request(arrival, WF_REQ_RECV);

    wf_arrival_note(arrival);
    if (cell == 0) {
        return;
    }
    (void)wf_cellmap_take(arrival->who.ctx, &arrival->who.rank->handles, arrival->header.a);

    struct wf_rank_request *recv = wf_request_edit(&arrival->who, cell);
    if (is_misfit(recv, arrival->msg->bytes)) {
        const struct wf_match_key key = {recv->key.context, recv->peer, recv->key.tag};

        wf_rank_fail_sizes(&arrival->who, &key, recv->bytes, arrival->msg->bytes);
        return;
    }
    recv->bytes = arrival->msg->bytes;
    memcpy(&recv->departure, arrival->header.c, sizeof(recv->departure));
    recv->departure = ~recv->departure;
    recv->key.src = arrival->header.b & WF_MSG_LOW_BITS;
    wf_request_complete(&arrival->who, cell, arrival->at);
}

static void (*const on_packet[])(const struct wf_arrival *arrival) = {
    [WF_MSG_EAGER] = on_message,     [WF_MSG_ANNOUNCE] = on_message,
    [WF_MSG_ASK] = on_ask,           [WF_MSG_DATA] = on_data,
    [WF_MSG_PUT] = wf_one_sided_put, [WF_MSG_PUT_DONE] = wf_one_sided_put_done,
    [WF_MSG_GET] = wf_one_sided_get, [WF_MSG_GET_DATA] = wf_one_sided_get_data,
};

void wf_protocol_arrived(void *mpi, struct wf_ctx *ctx, void *node,
                         const struct wf_net_message *msg, int64_t at)
{
    wf_protocol_deliver(mpi, ctx, node, msg, at);
}

void wf_protocol_deliver(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                         const struct wf_net_message *msg, int64_t at)
{
    struct wf_arrival arrival = {.msg = msg, .at = at};

    memcpy(&arrival.header, msg->header, sizeof(arrival.header));
    arrival.who = wf_caller_at(mpi, ctx, node, arrival.header.dst_slot);
    arrival.from = wf_place_rank(mpi->place, msg->src_node, arrival.header.src_slot);
    wf_touch(ctx, arrival.who.rank, sizeof(*arrival.who.rank));
    arrival.who.rank->noted = 0;
    if (arrival.who.rank->state != WF_RANK_FAILED) {
        on_packet[wf_msg_kind_of(&arrival.header)](&arrival);
    }
}

/* The last byte of a long message has left, now. */
static void data_left(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                      const struct wf_msg_header *header, int64_t at)
{
    const struct wf_caller who = wf_caller_at(mpi, ctx, node, header->src_slot);
    uint32_t handle = header->b & WF_MSG_LOW_BITS;

    wf_touch(ctx, who.rank, sizeof(*who.rank));
    who.rank->noted = 0;
    uint32_t cell = wf_cellmap_take(ctx, &who.rank->handles, handle);
    if (cell != 0 && who.rank->state != WF_RANK_FAILED) {
        int64_t departure;

        memcpy(&departure, header->c, sizeof(departure));
        data_gone(&who, cell, departure, at);
    }
}

void wf_protocol_sent(void *mpi, struct wf_ctx *ctx, void *node,
                      const struct wf_net_message *msg)
{
    struct wf_msg_header header;

    memcpy(&header, msg->header, sizeof(header));
    if (wf_msg_kind_of(&header) == WF_MSG_DATA) {
        data_left(mpi, ctx, node, &header, wf_now(ctx));
    }
}

void wf_protocol_depart(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                        const struct wf_net_message *msg)
{
    uint32_t dst_node = msg->src_node;
    struct wf_net_message sent = *msg;
    struct wf_msg_header header;

    sent.src_node = wf_self(ctx) - mpi->net->first_node;
    memcpy(&header, msg->header, sizeof(header));
    int64_t left = mpi->net->ops->send(mpi->net, ctx, node, dst_node, &sent, wf_now(ctx));
    if (wf_msg_kind_of(&header) == WF_MSG_DATA && left != WF_NET_LATER) {
        data_left(mpi, ctx, node, &header, left);
    }
}
