/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/calls.h"

#include "ranks/because.h"
#include "ranks/protocol.h"
#include "ranks/request.h"

#include <assert.h>

struct wf_caller wf_caller_at(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                              uint32_t slot)
{
    return (struct wf_caller){
        .mpi = mpi,
        .ctx = ctx,
        .node = node,
        .rank = (void *)((unsigned char *)node + mpi->slots_offset + slot * mpi->slot_size),
        .slot = slot,
        .number = wf_place_rank(mpi->place, wf_self(ctx) - mpi->net->first_node, slot),
    };
}

static void schedule_resume(struct wf_ctx *ctx, uint32_t slot, uint32_t ticket, int64_t delay)
{
    const uint32_t payload[2] = {slot, ticket};

    wf_schedule(ctx, wf_self(ctx), delay, WF_NODE_RESUME, payload, sizeof(payload));
}

void wf_mpi_start(const struct wf_mpi *mpi, struct wf_ctx *ctx, uint32_t slot, int64_t delay)
{
    (void)mpi;
    schedule_resume(ctx, slot, 0, delay);
}

void wf_rank_resume_at(const struct wf_caller *who, int64_t at)
{
    who->rank->ticket++;
    schedule_resume(who->ctx, who->slot, who->rank->ticket,
                    at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(who->ctx));
}

void wf_rank_yield(const struct wf_caller *who)
{
    wf_rank_resume_at(who, who->rank->clock);
}

enum wf_called wf_rank_sync(const struct wf_caller *who)
{
    if (who->rank->clock > wf_now(who->ctx)) {
        wf_rank_yield(who);
        return WF_CALLED_AGAIN;
    }
    who->rank->computes = 0;
    return WF_CALLED_DONE;
}

void wf_rank_spent(const struct wf_caller *who, enum wf_spent what, int64_t until)
{
    if (who->mpi->spent != NULL && until > who->rank->clock) {
        who->mpi->spent(who->mpi->arg, who, what, until);
    }
}

void wf_rank_advance(const struct wf_caller *who, int64_t at, enum wf_rank_in in)
{
    struct wf_rank *rank = who->rank;

    if (at > rank->clock) {
        wf_rank_spent(who, WF_SPENT_WAITING + (enum wf_spent)in, at);
        rank->wait_ps[in] += at - rank->clock;
        rank->clock = at;
    }
}

/* Why a track goes on that waited for a request, if it did. */
static struct wf_cause cause_of(const struct wf_caller *who, const struct wf_rank_request *req,
                                uint32_t track, int64_t clock)
{
    bool received = req->kind == WF_REQ_RECV;
    struct wf_cause cause = {
        .until = req->at > clock ? req->at : clock,
        .since = req->at,
        .track = track,
        .from = who->number,
        .why = req->at > clock ? WF_WHY_COLLECTIVE : WF_WHY_KINDS,
        .waited = req->request != WF_RANK_NO_REQUEST,
        .taken = received && who->mpi->net->o_recv_ps > 0,
    };

    if (cause.why == WF_WHY_KINDS) {
        cause.since = cause.until;
        cause.from_track = track;
    } else if (req->kind == WF_REQ_COLL) {
        cause.from_track = wf_track_of(req->key.context, req->key.tag);
    } else {
        bool asked = req->departure < 0;
        cause.since = asked ? ~req->departure : req->departure;
        cause.bytes = req->bytes;
        cause.from = req->peer;
        cause.from_track = asked ? wf_track_asked(req->key.src) : track;
        cause.why = !asked ? WF_WHY_MESSAGE : received ? WF_WHY_DATA : WF_WHY_LEFT;
    }
    return cause;
}

void wf_cause_add(const struct wf_caller *who, const struct wf_rank_request *req,
                  uint32_t track, int64_t clock, struct wf_cause *sum)
{
    if (who->mpi->because == NULL) {
        return;
    }
    struct wf_cause cause = cause_of(who, req, track, clock);
    if (cause.why == WF_WHY_KINDS && (sum->until > 0 || sum->taken > 0)) {
        sum->taken += cause.taken;
    } else if (cause.why != WF_WHY_KINDS || cause.taken > 0) {
        *sum = cause;
    }
}

int64_t wf_rank_progress(const struct wf_caller *who, int64_t at)
{
    const struct wf_rank *rank = who->rank;

    return who->mpi->params->progress == WF_PROGRESS_CALLS && rank->computes &&
                   rank->clock > wf_now(who->ctx)
               ? WF_NET_LATER
               : at;
}

void wf_rank_compute(const struct wf_caller *who, int64_t duration)
{
    int64_t until = wf_time_add(who->rank->clock, duration);

    wf_rank_spent(who, WF_SPENT_COMPUTING, until);
    who->rank->clock = until;
    who->rank->computes = 1;
}

enum wf_called wf_rank_send_at_clock(const struct wf_caller *who, const struct wf_peer *to,
                                     uint32_t *cell)
{
    struct wf_rank *rank = who->rank;
    int64_t overhead = who->mpi->net->o_send_ps;

    if (rank->overhead_paid == 0) {
        wf_rank_spent(who, WF_SPENT_ON_MESSAGES, wf_time_add(rank->clock, overhead));
        rank->clock = wf_time_add(rank->clock, overhead);
        rank->overhead_ps = wf_time_add(rank->overhead_ps, overhead);
    }
    if (!who->mpi->runs_ahead && rank->clock > wf_now(who->ctx)) {
        rank->overhead_paid = 1;
        wf_rank_yield(who);
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
    if (wf_rank_send_at_clock(who, to, &cell) == WF_CALLED_AGAIN) {
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

enum wf_called wf_rank_recv(const struct wf_caller *who, const struct wf_peer *from,
                            uint32_t request)
{
    if (request != WF_RANK_NO_REQUEST && !wf_request_is_free(who, request)) {
        return WF_CALLED_BLOCKED;
    }
    uint32_t cell =
        wf_protocol_recv(who, from, wf_rank_context(from->group, false), who->rank->clock, 0);

    if (who->rank->state == WF_RANK_FAILED) {
        return WF_CALLED_BLOCKED;
    }
    if (request != WF_RANK_NO_REQUEST) {
        wf_request_register(who, cell, request);
    }
    wf_protocol_tell_posted(who, cell);
    return request == WF_RANK_NO_REQUEST ? wf_request_await(who, &cell, 1) : WF_CALLED_DONE;
}

enum wf_called wf_rank_sendrecv(const struct wf_caller *who, const struct wf_peer *to,
                                const struct wf_peer *from)
{
    uint32_t cells[2] = {0, 0};

    if (to->rank != WF_RANK_PROC_NULL &&
        wf_rank_send_at_clock(who, to, &cells[0]) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    if (from->rank != WF_RANK_PROC_NULL) {
        cells[1] = wf_protocol_recv(who, from, wf_rank_context(from->group, false),
                                    who->rank->clock, 0);
        if (who->rank->state == WF_RANK_FAILED) {
            return WF_CALLED_BLOCKED;
        }
        wf_protocol_tell_posted(who, cells[1]);
    }
    return wf_request_await(who, cells, 2);
}

enum wf_called wf_rank_probe(const struct wf_caller *who, const struct wf_peer *from)
{
    const struct wf_match_key key = {wf_rank_context(from->group, false), from->rank,
                                     from->tag};
    struct wf_rank *rank = who->rank;
    uint32_t cell = wf_match_peek(who->ctx, &rank->match, &key);

    if (cell == 0) {
        rank->state = WF_RANK_PROBING;
        rank->fail_peer = from->rank;
        rank->probe_tag = from->tag;
        return WF_CALLED_AGAIN;
    }
    const struct wf_rank_request *message = wf_request_read(who, cell);
    if (message->at > rank->clock) {
        bool asks = (message->flags & WF_REQ_ANNOUNCED) != 0;

        wf_cause_note(
            who, (struct wf_cause){.until = message->at,
                                   .since = asks ? message->at : message->departure,
                                   .bytes = asks ? 0 : message->bytes,
                                   .from = message->key.src,
                                   .from_track = asks ? wf_track_announced(message->handle) : 0,
                                   .why = asks ? WF_WHY_PROBED : WF_WHY_MESSAGE});
    }
    wf_rank_advance(who, message->at, WF_IN_RECV);
    if (from->open || from->rank == WF_MATCH_ANY_SOURCE || from->tag == WF_MATCH_ANY_TAG) {
        rank->seen_source = message->key.src;
        rank->seen_tag = message->key.tag;
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
        rank->seen_source = message->key.src;
        rank->seen_tag = message->key.tag;
    }
    return WF_CALLED_DONE;
}

void wf_rank_end(const struct wf_caller *who)
{
    struct wf_cellmap *colls = &who->rank->colls;

    /* It begins no more collectives. */
    for (uint32_t key = 0; wf_cellmap_next(who->ctx, colls, &key) != 0;) {
        (void)wf_cellmap_take(who->ctx, colls, key);
    }
    who->rank->state = WF_RANK_ENDED;
}

void wf_rank_fail(const struct wf_caller *who, enum wf_failure failure, uint32_t peer)
{
    who->rank->state = WF_RANK_FAILED;
    who->rank->failure = (uint8_t)failure;
    who->rank->fail_peer = peer;
}

void wf_rank_fail_sizes(const struct wf_caller *who, const struct wf_match_key *key,
                        uint64_t own, uint64_t other)
{
    bool collective = key->context == wf_rank_context(key->context / 2, true);

    wf_rank_fail(who, collective ? WF_FAILURE_SIZES : WF_FAILURE_TRUNCATED, key->src);
    who->rank->fail_own = own;
    who->rank->fail_other = other;
    who->rank->probe_tag = key->tag;
    who->rank->fail_context = key->context;
}

void wf_rank_wake(const struct wf_caller *who)
{
    who->rank->state = WF_RANK_READY;
    who->mpi->resume(who->mpi->arg, who);
}
