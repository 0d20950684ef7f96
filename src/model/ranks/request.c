/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: how they complete, the lists of complete ones, and calls that wait for all of theirs. */
#include "model/ranks/request.h"

#include "base/mem.h"
#include "model/ranks/collective.h"
#include "model/ranks/deferred.h"
#include "model/ranks/live_polls.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of complete requests ---- */

/* The cell of the collective that a request belongs to; 0 if none. */
static uint32_t owner_of(const struct wf_rank_request *req)
{
    return req->kind == WF_REQ_COLL ? 0 : wf_request_owner(req);
}

/* Requests of collectives and awaited requests have separate lists, so that they need not be
 * searched among all complete requests. */
static struct wf_done *list_of(struct wf_rank *rank, const struct wf_rank_request *req)
{
    if (owner_of(req) != 0) {
        return &rank->done_in_colls;
    }
    return req->flags & WF_REQ_APART ? &rank->done_awaited : &rank->done;
}

/* Sets the successor of `before` in a list; 0 stands for the beginning of the list. */
static void set_later(const struct wf_caller *who, struct wf_done *done, uint32_t before,
                      uint32_t cell)
{
    *(before != 0 ? &wf_request_edit(who, before)->later : &done->head) = cell;
}

/* Sets the predecessor of `after` in a list; 0 stands for the end of the list. */
static void set_earlier(const struct wf_caller *who, struct wf_done *done, uint32_t after,
                        uint32_t cell)
{
    *(after != 0 ? &wf_request_edit(who, after)->earlier : &done->tail) = cell;
}

/* Adds a request to a list: at the end, unless the last one completes later. Sends often complete
 * in the future, so a search for its place would be long. */
static inline void insert_done(const struct wf_caller *who, struct wf_done *done, uint32_t cell,
                               struct wf_rank_request *req)
{
    uint32_t last = done->tail;

    req->order = who->rank->done_order++;
    req->earlier = req->later = 0;
    if (last == 0 || wf_request_read(who, last)->at <= req->at) {
        req->earlier = last;
        set_later(who, done, last, cell);
        done->tail = cell;
    } else {
        req->later = done->head;
        set_earlier(who, done, done->head, cell);
        done->head = cell;
    }
}

void wf_request_unlist(const struct wf_caller *who, const struct wf_rank_request *req)
{
    struct wf_done *done = list_of(who->rank, req);

    set_later(who, done, req->earlier, req->later);
    set_earlier(who, done, req->later, req->earlier);
}

void wf_request_discard(const struct wf_caller *who, uint32_t cell,
                        const struct wf_rank_request *req)
{
    if (req->flags & WF_REQ_STARTED) {
        uint32_t persistent = wf_request_find(who, req->number);
        if (persistent != 0) {
            wf_request_edit(who, persistent)->persistent.started = 0;
        }
    } else if (req->number != WF_RANK_NO_REQUEST) {
        wf_request_leave(who, req->number);
    }
    wf_cell_free(who->ctx, cell);
}

/* ---- complete requests in the order of completion ---- */

static int compare_found(const void *a, const void *b)
{
    const struct wf_request_found_one *x = a, *y = b;

    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (int32_t)(x->order - y->order) < 0 ? -1 : 1;
}

void wf_request_found_begin(struct wf_request_found *found)
{
    found->n = 0;
    found->capacity = sizeof(found->usual) / sizeof(found->usual[0]);
    found->list = found->usual;
}

void wf_request_found_add(struct wf_request_found *found, uint32_t cell,
                          const struct wf_rank_request *req)
{
    if (found->n == found->capacity) {
        size_t bytes = found->n * sizeof(found->list[0]);
        struct wf_request_found_one *old = found->list;

        found->capacity *= 2;
        found->list = memcpy(wf_xmalloc(2 * bytes), old, bytes);
        if (old != found->usual) {
            free(old);
        }
    }
    found->list[found->n++] = (struct wf_request_found_one){req->at, req->order, cell};
}

void wf_request_found_sort(struct wf_request_found *found)
{
    enum { FEW = 16 };
    uint32_t i = 1;

    while (i < found->n && compare_found(&found->list[i - 1], &found->list[i]) < 0) {
        i++; /* mostly they are sorted */
    }
    if (i < found->n && found->n > FEW) {
        qsort(found->list, found->n, sizeof(found->list[0]), compare_found);
        return;
    }
    for (; i < found->n; i++) {
        struct wf_request_found_one one = found->list[i];
        uint32_t at = i;

        for (; at > 0 && compare_found(&one, &found->list[at - 1]) < 0; at--) {
            found->list[at] = found->list[at - 1];
        }
        found->list[at] = one;
    }
}

void wf_request_found_end(struct wf_request_found *found)
{
    if (found->list != found->usual) {
        free(found->list);
    }
}

/* ---- taking complete requests ---- */

/* The CPU time of a complete receive. */
static inline int64_t receive_ps(const struct wf_caller *who,
                                 const struct wf_rank_request *recv)
{
    return wf_node_recv_ps(&who->ranks->costs, recv->msg.bytes,
                           recv->is_short || recv->msg.departure >= 0,
                           (recv->flags & WF_REQ_UNEXPECTED_DATA) != 0);
}

/* The same in the unit of wf_cause.taken, which is a picosecond or what every receive costs. */
static inline uint64_t taken_by(const struct wf_caller *who, const struct wf_rank_request *recv)
{
    int64_t unit = who->ranks->costs.recv_unit;

    return unit != 1 ? unit > 0 : (uint64_t)receive_ps(who, recv);
}

/* Why a track that waits for a request continues. */
__attribute__((noinline)) static struct wf_cause cause_of(const struct wf_caller *who,
                                                          const struct wf_rank_request *req,
                                                          uint32_t track, int64_t clock)
{
    bool received = req->kind == WF_REQ_RECV;
    struct wf_cause cause = {
        .until = wf_max_i64(req->at, clock),
        .since = req->at,
        .track = track,
        .from = who->number,
        .why = req->at > clock ? WF_WHY_COLLECTIVE : WF_WHY_KINDS,
        .waited = req->number != WF_RANK_NO_REQUEST,
        .taken = received ? taken_by(who, req) : 0,
    };

    if (cause.why == WF_WHY_KINDS) {
        cause.since = cause.until;
        cause.from_track = track;
    } else if (req->kind == WF_REQ_COLL) {
        cause.from_track = wf_track_of(req->key.context, req->key.tag);
    } else {
        int64_t departure = wf_request_departure(req);
        bool asked = departure < 0;
        bool confirmed = (req->flags & WF_REQ_CONFIRMED) != 0 && !received;
        cause.since = asked ? ~departure : departure;
        cause.bytes = confirmed ? 0 : req->msg.bytes;
        cause.from = wf_request_peer(req);
        cause.from_track = asked ? wf_track_asked(req->key.src) : track;
        cause.why = !asked      ? WF_WHY_MESSAGE
                    : received  ? WF_WHY_DATA
                    : confirmed ? WF_WHY_CONFIRMED
                                : WF_WHY_LEFT;
    }
    return cause;
}

/* A track waits for an eager message, as most do: cause_of(), in few instructions. */
static inline void cause_of_eager(const struct wf_caller *who,
                                  const struct wf_rank_request *recv, uint32_t track,
                                  struct wf_cause *cause)
{
    cause->until = recv->at;
    cause->since = wf_request_departure(recv);
    cause->bytes = recv->msg.bytes;
    cause->track = track;
    cause->from = wf_request_peer(recv);
    cause->from_track = track;
    cause->taken = taken_by(who, recv);
    cause->why = WF_WHY_MESSAGE;
    cause->waited = recv->number != WF_RANK_NO_REQUEST;
}

/* Adds a complete request to the cause of a call, or of one step of a collective, that waits
 * for several. Only the last request matters, and the CPU time of the receives. */
static inline void add_cause(const struct wf_caller *who, const struct wf_rank_request *req,
                             uint32_t track, int64_t clock, struct wf_cause *sum)
{
    if (!wf_recorder_wants_causes(&who->ranks->recorder)) {
        return;
    }
    if (req->kind == WF_REQ_RECV && req->at > clock &&
        (req->is_short || req->msg.departure >= 0)) {
        cause_of_eager(who, req, track, sum);
        return;
    }
    struct wf_cause cause = cause_of(who, req, track, clock);
    if (cause.why == WF_WHY_KINDS && (sum->until > 0 || sum->taken > 0)) {
        sum->taken += cause.taken;
    } else if (cause.why != WF_WHY_KINDS || cause.taken > 0) {
        *sum = cause;
    }
}

static void note_causes(const struct wf_caller *who, const struct wf_cause *sum)
{
    if (sum->until > 0 || sum->taken > 0) {
        wf_cause_note(who, *sum);
    }
}

/* A call takes a complete request that is in no list: the rank's clock moves, and the CPU receives
 * the message. */
static inline void take_unlisted(const struct wf_caller *who, uint32_t cell,
                                 const struct wf_rank_request *req, struct wf_cause *cause)
{
    add_cause(who, req, WF_TRACK_PROGRAM, who->rank->clock, cause);
    wf_rank_attended(who, req->at);
    if (req->kind != WF_REQ_RECV) {
        wf_rank_advance(who, req->at, req->kind == WF_REQ_SEND ? WF_IN_SEND : WF_IN_COLLECTIVE);
    } else {
        wf_rank_receive(who, req->at, receive_ps(who, req));
        if (who->ranks->timeshare != NULL) {
            wf_rank_claim_edit(who)->receiving = 1;
        }
        if (req->flags & WF_REQ_WILDCARD) {
            wf_rank_note_match(who, req->msg.peer, req->key.tag);
        }
    }
    if (req->number != WF_RANK_NO_REQUEST && who->ranks->live != NULL) {
        wf_live_taken(who, req->number);
    }
    wf_request_discard(who, cell, req);
}

void wf_request_take_one(const struct wf_caller *who, uint32_t cell)
{
    const struct wf_rank_request *req = wf_request_read(who, cell);
    struct wf_cause cause = {.until = 0};

    wf_request_unlist(who, req);
    take_unlisted(who, cell, req, &cause);
    note_causes(who, &cause);
}

/* Takes all requests that the call waits for, in the order of completion. `cell` is one of
 * them. */
static void take_awaited(const struct wf_caller *who, uint32_t cell)
{
    if (who->rank->awaited == 1 && who->ranks->timeshare == NULL) {
        wf_request_take_one(who, cell);
        return;
    }
    struct wf_cause cause = {.until = 0};
    struct wf_request_found found;

    wf_request_found_begin(&found);
    for (uint32_t at = who->rank->done_awaited.head; at != 0;) {
        const struct wf_rank_request *req = wf_request_read(who, at);

        wf_request_found_add(&found, at, req);
        at = req->later;
    }
    wf_request_found_sort(&found);
    /* All of them leave the list, so that their neighbours need not learn it. */
    who->rank->done_awaited = (struct wf_done){0, 0};
    for (uint32_t i = 0; i < found.n; i++) {
        cell = found.list[i].cell;
        take_unlisted(who, cell, wf_request_read(who, cell), &cause);
    }
    wf_request_found_end(&found);
    note_causes(who, &cause);
}

/* All requests that the call waits for are complete. If the rank shares its core, it takes them
 * when the last one has arrived, because only then it claims its core. Returns whether that is
 * later than now. */
static bool takes_later(const struct wf_caller *who)
{
    uint32_t last = who->rank->done_awaited.tail;
    int64_t at = last != 0 ? wf_request_read(who, last)->at : 0;

    if (who->ranks->timeshare == NULL || at <= wf_now(who->ctx)) {
        return false;
    }
    wf_rank_claim_edit(who)->taking = 1;
    wf_rank_resume_at(who, at);
    return true;
}

void wf_request_take(const struct wf_caller *who)
{
    if (who->ranks->timeshare != NULL && wf_rank_claim(who)->taking) {
        wf_rank_claim_edit(who)->taking = 0;
        take_awaited(who, 0);
    }
}

/* A request of a call that waits for all its requests is complete. */
static void complete_awaited(const struct wf_caller *who, uint32_t cell,
                             struct wf_rank_request *req)
{
    struct wf_rank *rank = who->rank;

    rank->missing--;
    if (rank->awaited == 1 && rank->state == WF_RANK_WAITING && who->ranks->timeshare == NULL) {
        /* As in a blocking receive: the rank takes it at once, so that no list is needed. */
        struct wf_cause cause = {.until = 0};

        take_unlisted(who, cell, req, &cause);
        note_causes(who, &cause);
        wf_rank_wake(who);
        return;
    }
    req->flags |= WF_REQ_APART;
    insert_done(who, &rank->done_awaited, cell, req);
    if (rank->missing == 0 && rank->state == WF_RANK_WAITING && !takes_later(who)) {
        take_awaited(who, cell);
        wf_rank_wake(who);
    }
}

/* A message of a collective, or a request that the current call does not wait for or that is
 * enough for it, is complete. */
static void complete_other(const struct wf_caller *who, uint32_t cell,
                           struct wf_rank_request *req)
{
    struct wf_rank *rank = who->rank;
    uint32_t owner = owner_of(req);

    insert_done(who, list_of(rank, req), cell, req);
    if (owner != 0) {
        struct wf_rank_request *coll = wf_request_edit(who, owner);
        coll->coll.missing--;
        if (coll->coll.missing == 0 &&
            (coll->flags & (WF_REQ_RUNNING | WF_REQ_POSTED)) == WF_REQ_POSTED) {
            wf_collective_continue(who, owner);
        }
    } else if (req->flags & WF_REQ_AWAITED) {
        rank->missing--;
        if (rank->state == WF_RANK_WAITING) {
            wf_rank_wake(who);
        }
    }
}

void wf_request_complete(const struct wf_caller *who, uint32_t cell, int64_t at)
{
    wf_request_complete_edited(who, cell, wf_request_edit(who, cell), at);
}

void wf_request_complete_edited(const struct wf_caller *who, uint32_t cell,
                                struct wf_rank_request *req, int64_t at)
{
    req->at = at;
    req->flags |= WF_REQ_DONE;
    if (who->rank->state == WF_RANK_POLLING) {
        wf_rank_poll_wake(who, at);
    }
    if (req->flags & WF_REQ_DETACHED) {
        wf_request_discard(who, cell, req);
        wf_rank_cold_release(who);
    } else if ((req->flags & WF_REQ_AWAITED) && who->rank->waits_for != WF_WAITS_FOR_ANY) {
        complete_awaited(who, cell, req);
    } else {
        complete_other(who, cell, req);
    }
}

/* ---- waiting ---- */

/* The call waits for this request, which may appear twice in its set. */
static inline void add_awaited(const struct wf_caller *who, uint32_t cell,
                               struct wf_request_found *found)
{
    struct wf_rank_request *req = wf_request_edit(who, cell);

    if (req->flags & WF_REQ_AWAITED) {
        return;
    }
    req->flags |= WF_REQ_AWAITED;
    who->rank->awaited++;
    if (req->flags & WF_REQ_DONE) {
        wf_request_found_add(found, cell, req);
    } else {
        who->rank->missing++;
    }
}

/* Moves the complete requests to the list of awaited requests, which is empty. */
static void set_apart(const struct wf_caller *who, struct wf_request_found *found)
{
    struct wf_done *apart = &who->rank->done_awaited;

    wf_request_found_sort(found);
    for (uint32_t i = 0; i < found->n; i++) {
        uint32_t cell = found->list[i].cell;
        struct wf_rank_request *req = wf_request_edit(who, cell);

        wf_request_unlist(who, req);
        req->flags |= WF_REQ_APART;
        req->earlier = apart->tail;
        req->later = 0;
        set_later(who, apart, apart->tail, cell);
        apart->tail = cell;
    }
}

/* All awaited requests will be complete at a known time: with mpi.progress=waits a rank that
 * waits until then reads what has arrived. `cell` is one of them. */
static void read_before(const struct wf_caller *who, uint32_t cell)
{
    if (!wf_ranks_read_in_waits(who->ranks) || wf_rank_cold(who)->deferred == 0) {
        return;
    }
    uint32_t last = who->rank->awaited > 1 || who->ranks->timeshare != NULL
                        ? who->rank->done_awaited.tail
                        : cell;
    if (last != 0 && wf_request_read(who, last)->at > who->rank->clock) {
        struct wf_deferred list = wf_deferred_begin(who);

        while (wf_deferred_next(who, &list)) {
        }
    }
}

/* Waits for all requests that were added; `cell` is one of them. */
static enum wf_called end_wait(const struct wf_caller *who, uint32_t cell,
                               struct wf_request_found *found)
{
    if (who->rank->awaited > 1 || who->ranks->timeshare != NULL) {
        set_apart(who, found);
    }
    if (who->rank->missing > 0 || takes_later(who)) {
        who->rank->state = WF_RANK_WAITING;
        return WF_CALLED_BLOCKED;
    }
    read_before(who, cell);
    take_awaited(who, cell);
    return WF_CALLED_DONE;
}

enum wf_called wf_request_await(const struct wf_caller *who, const uint32_t *cells, uint32_t n)
{
    struct wf_request_found found;
    uint32_t one = 0;

    wf_request_found_begin(&found);
    wf_request_begin_wait(who->rank);
    for (uint32_t i = 0; i < n; i++) {
        if (cells[i] != 0) {
            one = cells[i];
            add_awaited(who, one, &found);
        }
    }
    enum wf_called called = end_wait(who, one, &found);
    wf_request_found_end(&found);
    return called;
}

int64_t wf_request_latest(const struct wf_caller *who, uint32_t collective)
{
    int64_t latest = 0;

    for (uint32_t cell = who->rank->done_in_colls.head; cell != 0;) {
        const struct wf_rank_request *req = wf_request_read(who, cell);

        if (req->msg.owner == collective) {
            latest = wf_max_i64(latest, req->at);
        }
        cell = req->later;
    }
    return latest;
}

/* The complete requests of a collective, in the order of completion. */
static void find_in_collective(const struct wf_caller *who, uint32_t collective,
                               struct wf_request_found *found)
{
    wf_request_found_begin(found);
    for (uint32_t cell = who->rank->done_in_colls.head; cell != 0;) {
        const struct wf_rank_request *req = wf_request_read(who, cell);

        if (req->msg.owner == collective) {
            wf_request_found_add(found, cell, req);
        }
        cell = req->later;
    }
    wf_request_found_sort(found);
}

int64_t wf_request_collect(const struct wf_caller *who, uint32_t collective, int64_t clock,
                           int64_t *cpu_ps)
{
    const struct wf_rank_request *coll = wf_request_read(who, collective);
    bool blocks = coll->number == WF_RANK_NO_REQUEST && (coll->flags & WF_REQ_DETACHED) == 0;
    struct wf_cause cause = {.until = 0};
    struct wf_request_found found;

    *cpu_ps = 0;
    find_in_collective(who, collective, &found);
    for (uint32_t i = 0; i < found.n; i++) {
        uint32_t cell = found.list[i].cell;
        const struct wf_rank_request *req = wf_request_read(who, cell);

        add_cause(who, req, wf_track_of(req->key.context, req->key.tag), clock, &cause);
        clock = wf_max_i64(clock, req->at);
        wf_rank_attended(who, blocks ? req->at : 0);
        if (req->kind == WF_REQ_RECV) {
            int64_t cost = receive_ps(who, req);

            clock = wf_time_add(clock, cost);
            *cpu_ps = wf_time_add(*cpu_ps, cost);
        }
        wf_request_unlist(who, req);
        wf_cell_free(who->ctx, cell);
    }
    wf_request_found_end(&found);
    note_causes(who, &cause);
    return clock;
}

enum wf_called wf_rank_wait(const struct wf_caller *who, const struct wf_request_set *set)
{
    struct wf_request_found found;
    const uint32_t *numbers = set->numbers;
    uint32_t one = 0, first = set->first, count = set->count;

    wf_request_found_begin(&found);
    wf_request_begin_wait(who->rank);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cell = wf_request_started(who, numbers != NULL ? numbers[i] : first + i);
        if (cell != 0) {
            one = cell;
            add_awaited(who, cell, &found);
        }
    }
    enum wf_called called = end_wait(who, one, &found);
    wf_request_found_end(&found);
    return called;
}
