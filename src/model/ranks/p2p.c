/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a rank that send, receive and probe. */
#include "model/ranks/deferred.h"
#include "model/ranks/protocol.h"

/* Sends a message of the program at the rank's clock. Sets *cell to the result of
 * wf_protocol_send(). */
static enum wf_called send_at_clock(const struct wf_caller *who, const struct wf_peer *to,
                                    uint32_t *cell)
{
    struct wf_rank *rank = who->rank;

    if (rank->overhead_paid == 0) {
        wf_rank_charge(who, wf_protocol_send_ps(who, to));
    }
    if (who->ranks->pace != WF_PACE_AHEAD && wf_rank_sync(who) == WF_CALLED_AGAIN) {
        rank->overhead_paid = 1;
        return WF_CALLED_AGAIN;
    }
    rank->overhead_paid = 0;
    *cell = wf_protocol_send(who, to, wf_rank_context(to->group, false), rank->clock, 0);
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_send(const struct wf_caller *who, const struct wf_peer *to,
                            uint32_t request)
{
    uint32_t cell = 0;

    if (request != WF_RANK_NO_REQUEST && !wf_request_is_free(who, request)) {
        return WF_CALLED_BLOCKED;
    }
    if (send_at_clock(who, to, &cell) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    if (cell == 0) {
        return WF_CALLED_DONE;
    }
    if (request == WF_RANK_NO_REQUEST) {
        return wf_request_await(who, &cell, 1);
    }
    wf_request_register(who, cell, request);
    return WF_CALLED_DONE;
}

/* A receive that the call itself waits for, or that a persistent request has started. */
static const struct wf_recv_use UNNUMBERED = {.number = WF_RANK_NO_REQUEST};

enum wf_called wf_rank_recv(const struct wf_caller *who, const struct wf_peer *from,
                            uint32_t request)
{
    if (request != WF_RANK_NO_REQUEST && !wf_request_is_free(who, request)) {
        return WF_CALLED_BLOCKED;
    }
    uint32_t cell = wf_protocol_recv(who, from, wf_rank_context(from->group, false),
                                     who->rank->clock, (struct wf_recv_use){.number = request});

    if (who->rank->state == WF_RANK_FAILED) {
        return WF_CALLED_BLOCKED;
    }
    if (request != WF_RANK_NO_REQUEST) {
        wf_request_enter(who, cell, request);
    }
    wf_protocol_tell_posted(who, cell);
    return request == WF_RANK_NO_REQUEST ? wf_request_await(who, &cell, 1) : WF_CALLED_DONE;
}

/* Posts the receive of a sendrecv; returns its cell, or 0 if it receives nothing. */
static uint32_t post_receive(const struct wf_caller *who, const struct wf_peer *from)
{
    return from->rank == WF_RANK_PROC_NULL
               ? 0
               : wf_protocol_recv(who, from, wf_rank_context(from->group, false),
                                  who->rank->clock, UNNUMBERED);
}

/* With mpi.progress=waits the receive is posted before the send, as libraries do. A send that waits
 * for the engine's time comes here again. */
enum wf_called wf_rank_sendrecv(const struct wf_caller *who, const struct wf_peer *to,
                                const struct wf_peer *from)
{
    struct wf_rank *rank = who->rank;
    bool posts_first = wf_ranks_read_in_waits(who->ranks);
    uint32_t cells[2] = {0, posts_first ? rank->posted : 0};

    if (posts_first && rank->overhead_paid == 0) {
        cells[1] = post_receive(who, from);
        if (rank->state == WF_RANK_FAILED) {
            return WF_CALLED_BLOCKED;
        }
    }
    if (to->rank != WF_RANK_PROC_NULL && send_at_clock(who, to, &cells[0]) == WF_CALLED_AGAIN) {
        if (posts_first) {
            rank->posted = cells[1];
        }
        return WF_CALLED_AGAIN;
    }
    if (!posts_first) {
        cells[1] = post_receive(who, from);
        if (rank->state == WF_RANK_FAILED) {
            return WF_CALLED_BLOCKED;
        }
    }
    if (cells[1] != 0) {
        wf_protocol_tell_posted(who, cells[1]);
    }
    return wf_request_await(who, cells, 2);
}

void wf_rank_persistent(const struct wf_caller *who, const struct wf_peer *peer, bool receives,
                        uint32_t request)
{
    if (!wf_request_is_free(who, request)) {
        return;
    }
    uint32_t cell = wf_cell_new_for(who->ctx, WF_REQ_SIZE);
    unsigned flags =
        (receives ? WF_REQ_RECEIVES : 0) | (peer->synchronous ? WF_REQ_SYNCHRONOUS : 0) |
        (peer->buffered ? WF_REQ_BUFFERED : 0) | (peer->open ? WF_REQ_WILDCARD : 0);

    *wf_request_edit(who, cell) =
        (struct wf_rank_request){.key = {peer->group, peer->rank, peer->tag},
                                 .number = WF_RANK_NO_REQUEST,
                                 .kind = WF_REQ_PERSISTENT,
                                 .flags = (uint16_t)flags,
                                 .persistent = {.bytes = peer->bytes}};
    wf_request_register(who, cell, request);
}

enum wf_called wf_rank_start_request(const struct wf_caller *who, uint32_t request)
{
    uint32_t cell = wf_request_find(who, request);
    const struct wf_rank_request *created = cell != 0 ? wf_request_read(who, cell) : NULL;

    if (created == NULL || created->kind != WF_REQ_PERSISTENT ||
        created->persistent.started != 0) {
        wf_rank_fail(who, WF_FAILURE_REQUEST, request);
        return WF_CALLED_BLOCKED;
    }
    const struct wf_peer peer = {.rank = created->key.src,
                                 .tag = created->key.tag,
                                 .group = created->key.context,
                                 .bytes = created->persistent.bytes,
                                 .synchronous = created->flags & WF_REQ_SYNCHRONOUS,
                                 .buffered = created->flags & WF_REQ_BUFFERED,
                                 .open = created->flags & WF_REQ_WILDCARD};
    uint32_t started = 0;

    if (peer.rank == WF_RANK_PROC_NULL) {
        return WF_CALLED_DONE;
    }
    if (created->flags & WF_REQ_RECEIVES) {
        started = wf_protocol_recv(who, &peer, wf_rank_context(peer.group, false),
                                   who->rank->clock, UNNUMBERED);
    } else if (send_at_clock(who, &peer, &started) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    if (who->rank->state == WF_RANK_FAILED) {
        return WF_CALLED_BLOCKED;
    }
    if (started != 0) {
        struct wf_rank_request *req = wf_request_edit(who, started);

        req->number = request;
        req->flags |= WF_REQ_STARTED;
        wf_request_edit(who, cell)->persistent.started = started;
        if (req->kind == WF_REQ_RECV) {
            wf_protocol_tell_posted(who, started);
        }
    }
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_probe(const struct wf_caller *who, const struct wf_peer *from)
{
    const struct wf_match_key key = {wf_rank_context(from->group, false), from->rank,
                                     from->tag};
    struct wf_rank *rank = who->rank;
    uint32_t cell = wf_match_peek(who->ctx, &rank->match, &key);

    if (cell == 0) {
        struct wf_rank_cold *cold = wf_rank_cold_edit(who);

        rank->state = WF_RANK_PROBING;
        cold->blocked_peer = from->rank;
        cold->blocked_tag = from->tag;
        return WF_CALLED_AGAIN;
    }
    const struct wf_rank_request *message = wf_request_read(who, cell);
    if (message->at > rank->clock) {
        bool announced = (message->flags & WF_REQ_ANNOUNCED) != 0;
        const struct wf_unexpected_message *m = &message->unexpected;

        wf_cause_note(who,
                      (struct wf_cause){
                          .until = message->at,
                          .since = announced ? message->at : m->departure,
                          .bytes = announced ? 0 : m->bytes,
                          .from = message->key.src,
                          .from_track = announced ? wf_track_announced(m->sender_handle) : 0,
                          .why = announced ? WF_WHY_PROBED : WF_WHY_MESSAGE});
    }
    wf_rank_advance(who, message->at, WF_IN_RECV);
    wf_rank_attended(who, message->at);
    if (from->open || from->rank == WF_MATCH_ANY_SOURCE || from->tag == WF_MATCH_ANY_TAG) {
        wf_rank_note_match(who, message->key.src, message->key.tag);
    }
    return WF_CALLED_DONE;
}

enum wf_called wf_rank_iprobe(const struct wf_caller *who, const struct wf_peer *from)
{
    const struct wf_match_key key = {wf_rank_context(from->group, false), from->rank,
                                     from->tag};
    struct wf_rank *rank = who->rank;

    if (wf_rank_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    uint32_t cell = wf_match_peek(who->ctx, &rank->match, &key);
    const struct wf_rank_request *message = cell != 0 ? wf_request_read(who, cell) : NULL;

    rank->found = message != NULL && message->at <= rank->clock;
    if (rank->found) {
        wf_rank_note_match(who, message->key.src, message->key.tag);
    }
    return WF_CALLED_DONE;
}
