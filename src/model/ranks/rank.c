/* SPDX-License-Identifier: Apache-2.0 */
/* The clock and the state of a rank, and its calls that send, receive and probe. */
#include "model/ranks/calls.h"

#include "model/ranks/coll_line.h"
#include "model/ranks/formula.h"
#include "model/ranks/protocol.h"
#include "model/ranks/request.h"

#include <assert.h>

void wf_rank_resume_at(const struct wf_caller *who, int64_t at)
{
    const struct wf_node_wakeup wakeup = {who->slot, ++who->rank->ticket};

    wf_schedule(who->ctx, wf_self(who->ctx),
                at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(who->ctx), WF_NODE_RESUME,
                &wakeup, sizeof(wakeup));
}

void wf_rank_yield(const struct wf_caller *who)
{
    wf_rank_resume_at(who, who->rank->clock);
}

/* ---- ranks that share cores ---- */

static struct wf_turns_claim *edit_claim(const struct wf_caller *who)
{
    return wf_turns_edit(&who->ranks->turns, who->ctx, who->node, who->slot);
}

static const struct wf_turns_claim *read_claim(const struct wf_caller *who)
{
    return wf_turns_claim(&who->ranks->turns, who->node, who->slot);
}

/* The rank has spent CPU time on messages while it waited for others. */
static void spend_owed(const struct wf_caller *who, int64_t time)
{
    int64_t until = wf_time_add(who->rank->clock, time);

    edit_claim(who)->owed -= time;
    wf_rank_spent(who, WF_SPENT_ON_MESSAGES, until);
    who->rank->clock = until;
}

/* Whether the rank has spent all CPU time that it was charged; else claims its core for the
 * rest. Part of the time may lie before the last message that the rank waited for. */
static bool has_spent_all(const struct wf_caller *who)
{
    int64_t past = wf_now(who->ctx) - who->rank->clock;
    int64_t owed = read_claim(who)->owed;

    if (owed > 0 && past > 0) {
        spend_owed(who, wf_min_i64(owed, past));
        owed = read_claim(who)->owed;
    }
    if (owed > 0) {
        who->rank->ticket++; /* only the core resumes the rank */
        wf_turns_begin(&who->ranks->turns, who->ctx, who->node, who->slot, owed);
    }
    return owed == 0;
}

void wf_rank_served(const struct wf_caller *who)
{
    struct wf_turns_claim *claim = edit_claim(who);
    struct wf_rank_slot *slot = (struct wf_rank_slot *)who->rank;
    int64_t since = who->rank->clock, now = wf_now(who->ctx);
    int64_t begin = now - claim->busy; /* as if the core had served it in one piece */

    if (begin > since) {
        wf_cause_note(who, (struct wf_cause){.until = begin,
                                             .since = since,
                                             .from = who->number,
                                             .taken = wf_rank_taken(who, claim),
                                             .why = WF_WHY_CORE});
        wf_rank_spent(who, (enum wf_spent)WF_SPENT_WAITING + WF_IN_CORE, begin);
        claim->wait_ps = wf_time_add(claim->wait_ps, begin - since);
        who->rank->clock = begin;
    }
    wf_rank_spent(who, claim->computing ? WF_SPENT_COMPUTING : WF_SPENT_ON_MESSAGES, now);
    who->rank->clock = now;
    if (claim->computing) {
        wf_touch(who->ctx, &slot->progress.compute_ps, sizeof(slot->progress.compute_ps));
        slot->progress.compute_ps = wf_time_add(slot->progress.compute_ps, claim->busy);
    }
    claim->owed = 0;
    claim->computing = 0;
    claim->receiving = 0;
    wf_rank_wake(who);
}

uint64_t wf_rank_taken(const struct wf_caller *who, const struct wf_turns_claim *claim)
{
    int64_t unit = who->ranks->costs.recv_unit;

    return claim->receiving && unit > 0 ? (uint64_t)(claim->busy / unit) : 0;
}

/* ---- the clock ---- */

enum wf_called wf_rank_sync(const struct wf_caller *who)
{
    if (who->rank->clock > wf_now(who->ctx)) {
        wf_rank_yield(who);
        return WF_CALLED_AGAIN;
    }
    if (who->ranks->turns.on && !has_spent_all(who)) {
        return WF_CALLED_AGAIN;
    }
    who->rank->computes = 0;
    return WF_CALLED_DONE;
}

/* The rank shares its core. Not inlined, as most ranks do not. */
__attribute__((noinline)) static void advance_in_turn(const struct wf_caller *who, int64_t at,
                                                      enum wf_rank_in in)
{
    struct wf_rank *rank = who->rank;
    int64_t owed = read_claim(who)->owed;

    if (at > wf_time_add(rank->clock, owed)) {
        if (owed > 0) {
            spend_owed(who, owed);
        }
        wf_rank_spent(who, WF_SPENT_WAITING + (enum wf_spent)in, at);
        rank->wait_ps[in] += at - rank->clock;
        rank->clock = at;
    }
}

void wf_rank_advance_any(const struct wf_caller *who, int64_t at, enum wf_rank_in in)
{
    struct wf_rank *rank = who->rank;
    int64_t since = rank->clock;

    if (who->ranks->turns.on) {
        advance_in_turn(who, at, in);
    } else if (at > since) {
        rank->wait_ps[in] += at - since;
        rank->clock = at;
        wf_rank_did(who, WF_SPENT_WAITING + (enum wf_spent)in, since, at);
    }
}

/* The rank owes its core more time. Not inlined, as most ranks do not share a core. */
__attribute__((noinline)) static void owe(const struct wf_caller *who, int64_t overhead)
{
    edit_claim(who)->owed = wf_time_add(read_claim(who)->owed, overhead);
}

void wf_rank_charge_any(const struct wf_caller *who, int64_t overhead)
{
    struct wf_rank *rank = who->rank;
    int64_t since = rank->clock;

    rank->overhead_ps = wf_time_add(rank->overhead_ps, overhead);
    if (who->ranks->turns.on) {
        owe(who, overhead);
        return;
    }
    rank->clock = wf_time_add(since, overhead);
    wf_rank_did(who, WF_SPENT_ON_MESSAGES, since, rank->clock);
}

/* Not inlined, so that wf_rank_receive_any() saves no registers. */
__attribute__((noinline)) static void receive_in_steps(const struct wf_caller *who, int64_t at,
                                                       int64_t overhead)
{
    wf_rank_advance_any(who, at, WF_IN_RECV);
    wf_rank_charge_any(who, overhead);
}

void wf_rank_receive_any(const struct wf_caller *who, int64_t at, int64_t overhead)
{
    struct wf_rank *rank = who->rank;
    const struct wf_span wait = {rank->clock, at, who->number,
                                 WF_SPENT_WAITING + (uint32_t)WF_IN_RECV};
    int64_t until = wf_time_add(at, overhead);

    if (who->sums == NULL || who->ranks->turns.on || at <= wait.from || until <= at ||
        who->sums->last.what == wait.what) {
        receive_in_steps(who, at, overhead);
        return;
    }
    rank->wait_ps[WF_IN_RECV] += at - wait.from;
    rank->overhead_ps = wf_time_add(rank->overhead_ps, overhead);
    rank->clock = until;
    wf_recorder_add_both(&who->ranks->recorder, who->ctx, who->sums, &wait, until);
}

int64_t wf_rank_progress(const struct wf_caller *who, int64_t at)
{
    const struct wf_rank *rank = who->rank;
    bool ahead =
        rank->clock > wf_now(who->ctx) || (who->ranks->turns.on && read_claim(who)->left > 0);

    return who->ranks->mpi->progress != WF_PROGRESS_INDEPENDENT && rank->computes && ahead
               ? WF_NET_LATER
               : at;
}

/* Whether the rank reads messages: in a call that waits. A blocking collective that spends CPU
 * time on messages does not wait meanwhile. */
static bool is_attentive(const struct wf_caller *who)
{
    const struct wf_rank *rank = who->rank;

    uint32_t current = wf_rank_more(who)->current;

    if (rank->state == WF_RANK_WAITING && current != 0) {
        const struct wf_rank_request *coll = wf_request_read(who, current);

        return (coll->flags & (WF_REQ_POSTED | WF_REQ_IN_LINE | WF_REQ_BEGINS)) != 0 ||
               coll->coll.algorithm == WF_ALGORITHM_FORMULA;
    }
    return rank->state == WF_RANK_WAITING || rank->state == WF_RANK_PROBING ||
           rank->state == WF_RANK_ENDED;
}

int64_t wf_rank_attend(const struct wf_caller *who, int64_t at, int64_t arrived)
{
    if (who->ranks->mpi->progress != WF_PROGRESS_WAITS) {
        return wf_rank_progress(who, at);
    }
    return is_attentive(who) || arrived <= wf_rank_more(who)->attended ? at : WF_NET_LATER;
}

void wf_rank_look(const struct wf_caller *who)
{
    if (who->ranks->in_step && who->ranks->mpi->progress == WF_PROGRESS_WAITS &&
        wf_rank_more(who)->deferred != 0 && is_attentive(who)) {
        wf_rank_read_deferred(who);
    }
}

int64_t wf_rank_compute(const struct wf_caller *who, int64_t duration)
{
    const struct wf_ranks *ranks = who->ranks;
    int64_t since = who->rank->clock, until = wf_time_add(since, duration);

    who->rank->computes = 1;
    if (ranks->turns.on) {
        if (duration > 0) {
            edit_claim(who)->owed = duration;
            edit_claim(who)->computing = 1;
        }
        return 0;
    }
    if (ranks->noise.kind != WF_NODE_NOISE_NONE) {
        const struct wf_noise_core core = {wf_self(who->ctx) - ranks->net->first_node,
                                           wf_cores_core(&ranks->local.cores, who->slot)};

        until = wf_noise_end(&ranks->noise, core, since, duration);
    }
    wf_rank_spent(who, WF_SPENT_COMPUTING, until);
    who->rank->clock = until;
    return until - since;
}

int64_t wf_rank_sleep(const struct wf_caller *who, int64_t duration)
{
    int64_t since = who->rank->clock, until = wf_time_add(since, duration);

    who->rank->computes = 1;
    wf_rank_spent(who, WF_SPENT_COMPUTING, until);
    who->rank->clock = until;
    return until - since;
}

/* Sends a message of the program at the rank's clock. Sets *cell to the result of
 * wf_protocol_send(). */
static enum wf_called send_at_clock(const struct wf_caller *who, const struct wf_peer *to,
                                    uint32_t *cell)
{
    struct wf_rank *rank = who->rank;

    if (rank->overhead_paid == 0) {
        wf_rank_charge(who, wf_protocol_send_ps(who, to));
    }
    if (!who->ranks->runs_ahead && wf_rank_sync(who) == WF_CALLED_AGAIN) {
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

/* As libraries do: the receive is posted before the send. */
static enum wf_called receive_and_send(const struct wf_caller *who, const struct wf_peer *to,
                                       const struct wf_peer *from)
{
    struct wf_rank *rank = who->rank;
    uint32_t cells[2] = {0, rank->posted};

    if (rank->overhead_paid == 0) {
        cells[1] = from->rank != WF_RANK_PROC_NULL
                       ? wf_protocol_recv(who, from, wf_rank_context(from->group, false),
                                          rank->clock, UNNUMBERED)
                       : 0;
        if (rank->state == WF_RANK_FAILED) {
            return WF_CALLED_BLOCKED;
        }
    }
    if (to->rank != WF_RANK_PROC_NULL && send_at_clock(who, to, &cells[0]) == WF_CALLED_AGAIN) {
        rank->posted = cells[1];
        return WF_CALLED_AGAIN;
    }
    if (cells[1] != 0) {
        wf_protocol_tell_posted(who, cells[1]);
    }
    return wf_request_await(who, cells, 2);
}

enum wf_called wf_rank_sendrecv(const struct wf_caller *who, const struct wf_peer *to,
                                const struct wf_peer *from)
{
    uint32_t cells[2] = {0, 0};

    if (who->ranks->mpi->progress == WF_PROGRESS_WAITS) {
        return receive_and_send(who, to, from);
    }
    if (to->rank != WF_RANK_PROC_NULL && send_at_clock(who, to, &cells[0]) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    if (from->rank != WF_RANK_PROC_NULL) {
        cells[1] = wf_protocol_recv(who, from, wf_rank_context(from->group, false),
                                    who->rank->clock, UNNUMBERED);
        if (who->rank->state == WF_RANK_FAILED) {
            return WF_CALLED_BLOCKED;
        }
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
        struct wf_rank_more *more = wf_rank_more_edit(who);

        rank->state = WF_RANK_PROBING;
        more->blocked_peer = from->rank;
        more->blocked_tag = from->tag;
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
        wf_rank_saw(who, message->key.src, message->key.tag);
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
        wf_rank_saw(who, message->key.src, message->key.tag);
    }
    return WF_CALLED_DONE;
}

void wf_rank_end(const struct wf_caller *who)
{
    who->rank->state = WF_RANK_ENDED;
    if (wf_rank_more(who)->colls.count > 0) {
        struct wf_cellmap *colls = &wf_rank_more_edit(who)->colls;

        /* The rank begins no more collectives. */
        for (uint32_t key = 0;
             wf_cellmap_next(who->ctx, colls, &key) != 0 && key < WF_RANK_LINES;) {
            (void)wf_cellmap_take(who->ctx, colls, key);
        }
        wf_collective_lines_end(who);
    }
    wf_rank_more_settle(who);
}

void wf_rank_fail(const struct wf_caller *who, enum wf_failure failure, uint32_t peer)
{
    who->rank->state = WF_RANK_FAILED;
    who->rank->failure = (uint8_t)failure;
    wf_rank_more_edit(who)->blocked_peer = peer;
}

void wf_rank_fail_sizes(const struct wf_caller *who, const struct wf_match_key *key,
                        uint64_t own, uint64_t other)
{
    bool collective = wf_rank_context_is_collective(key->context);

    wf_rank_fail(who, collective ? WF_FAILURE_SIZES : WF_FAILURE_TRUNCATED, key->src);
    who->rank->fail_own = own;
    wf_rank_more_edit(who)->fail_other = other;
    wf_rank_more_edit(who)->blocked_tag = key->tag;
    who->rank->fail_context = key->context;
}

void wf_rank_wake(const struct wf_caller *who)
{
    who->rank->state = WF_RANK_READY;
    wf_node_resume(who);
}
