/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that take some of a set of requests (waitany, waitsome, test), and calls that give a request
 * up (free, cancel). */
#include "model/ranks/request.h"

/* The cell of request `i` of the set, or of the operation that it started; 0 if there is none. */
static uint32_t find_in_set(const struct wf_caller *who, const struct wf_request_set *set,
                            uint32_t i)
{
    return wf_request_started(who, wf_request_set_at(set, i));
}

/* The cell of the request in the set that completed first, or 0. Sets *n_open to the number
 * of requests in use. None is awaited any more. */
static uint32_t first_done(const struct wf_caller *who, const struct wf_request_set *set,
                           uint32_t *n_open)
{
    uint32_t first = 0;
    int64_t at = WF_TIME_MAX;

    *n_open = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find_in_set(who, set, i);
        const struct wf_rank_request *req = cell != 0 ? wf_request_read(who, cell) : NULL;

        if (req == NULL) {
            continue;
        }
        ++*n_open;
        if ((req->flags & WF_REQ_DONE) && (first == 0 || req->at < at)) {
            first = cell;
            at = req->at;
        }
        if (req->flags & WF_REQ_AWAITED) {
            wf_request_edit(who, cell)->flags ^= WF_REQ_AWAITED;
        }
    }
    return first;
}

/* Marks all requests of a set as awaited. */
static void mark_awaited(const struct wf_caller *who, const struct wf_request_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find_in_set(who, set, i);
        if (cell != 0) {
            wf_request_edit(who, cell)->flags |= WF_REQ_AWAITED;
        }
    }
}

/* Takes all requests of the set that are complete at the time `at`; false if none is. */
static bool take_until(const struct wf_caller *who, const struct wf_request_set *set,
                       int64_t at)
{
    struct wf_request_found found;

    wf_request_found_begin(&found);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find_in_set(who, set, i);
        const struct wf_rank_request *req = cell != 0 ? wf_request_read(who, cell) : NULL;

        if (req != NULL && req->at <= at &&
            (req->flags & (WF_REQ_DONE | WF_REQ_AWAITED)) == WF_REQ_DONE) {
            wf_request_edit(who, cell)->flags |= WF_REQ_AWAITED; /* it may appear twice */
            wf_request_found_add(&found, cell, req);
        }
    }
    wf_request_found_sort(&found);
    for (uint32_t i = 0; i < found.n; i++) {
        wf_request_take_one(who, found.list[i].cell);
    }
    wf_request_found_end(&found);
    return found.n > 0;
}

/* Eager sends have no request: a live program is told now that they are complete. Takes one
 * of them, or with `all` every one; false if there are none. */
static bool take_gone(const struct wf_caller *who, const struct wf_request_set *set, bool all)
{
    bool any = false;

    for (uint32_t i = 0; i < set->count && who->ranks->live != NULL && (all || !any); i++) {
        if (find_in_set(who, set, i) == 0) {
            wf_live_taken(who, wf_request_set_at(set, i));
            any = true;
        }
    }
    return any;
}

/* Which request is complete first is certain only when the engine's time has reached that
 * point. Until then a shorter message may overtake. It wakes the rank, which then checks
 * again. */
enum wf_called wf_rank_wait_any(const struct wf_caller *who, const struct wf_request_set *set,
                                bool some)
{
    struct wf_rank *rank = who->rank;
    uint32_t n_open = 0, cell = first_done(who, set, &n_open);

    wf_request_begin_wait(rank);
    rank->ticket++; /* the event of an earlier check is stale */
    if (n_open < set->count && take_gone(who, set, some)) {
        if (some) {
            (void)take_until(who, set, rank->clock);
        }
        return WF_CALLED_DONE;
    }
    if (n_open == 0) {
        return WF_CALLED_DONE;
    }
    int64_t at = cell != 0 ? wf_request_read(who, cell)->at : WF_TIME_MAX;
    if (some) {
        at = wf_max_i64(at, rank->clock);
    }
    if (cell == 0 || at > wf_now(who->ctx)) {
        mark_awaited(who, set);
        rank->missing = n_open;
        rank->waits_for = WF_WAITS_FOR_ANY;
        rank->state = WF_RANK_WAITING;
        if (cell != 0) {
            wf_rank_resume_at(who, at);
        }
        return WF_CALLED_AGAIN;
    }
    if (some) {
        (void)take_until(who, set, at);
    } else {
        wf_request_take_one(who, cell);
    }
    return WF_CALLED_DONE;
}

/* Whether all requests of the set are complete at the time `at`. */
static bool all_done(const struct wf_caller *who, const struct wf_request_set *set, int64_t at)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find_in_set(who, set, i);
        const struct wf_rank_request *req = cell != 0 ? wf_request_read(who, cell) : NULL;

        if (req != NULL && ((req->flags & WF_REQ_DONE) == 0 || req->at > at)) {
            return false;
        }
    }
    return true;
}

enum wf_called wf_rank_test(const struct wf_caller *who, const struct wf_request_set *set,
                            enum wf_take what)
{
    int64_t clock = who->rank->clock;
    uint32_t n_open;

    if (wf_rank_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    who->rank->found = what != WF_TAKE_ALL && take_gone(who, set, what == WF_TAKE_SOME);
    if (what == WF_TAKE_ONE) {
        uint32_t cell = first_done(who, set, &n_open);
        if (!who->rank->found && cell != 0 && wf_request_read(who, cell)->at <= clock) {
            wf_request_take_one(who, cell);
            who->rank->found = 1;
        }
    } else if (what == WF_TAKE_SOME || all_done(who, set, clock)) {
        bool any = take_until(who, set, clock);
        who->rank->found |= any || what == WF_TAKE_ALL;
    }
    return WF_CALLED_DONE;
}

void wf_rank_detach(const struct wf_caller *who, uint32_t request)
{
    uint32_t cell = wf_request_find(who, request);

    if (cell == 0) {
        return;
    }
    wf_request_leave(who, request);
    if (wf_request_read(who, cell)->kind == WF_REQ_PERSISTENT) {
        uint32_t started = wf_request_read(who, cell)->persistent.started;
        wf_cell_free(who->ctx, cell);
        cell = started;
    }
    if (cell == 0) {
        return;
    }
    struct wf_rank_request *req = wf_request_edit(who, cell);
    req->flags &= (uint16_t)~WF_REQ_STARTED;
    req->number = WF_RANK_NO_REQUEST;
    if (req->flags & WF_REQ_DONE) {
        wf_request_unlist(who, req);
        wf_request_discard(who, cell, req);
    } else {
        req->flags |= WF_REQ_DETACHED;
    }
}

static bool waits_for_match(const struct wf_caller *who, uint32_t cell)
{
    uint32_t at = who->rank->match.posted.head;

    while (at != 0 && at != cell) {
        at = wf_request_read(who, at)->link.next;
    }
    return at != 0;
}

enum wf_called wf_rank_cancel(const struct wf_caller *who, uint32_t request)
{
    if (wf_rank_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    uint32_t cell = wf_request_find(who, request);

    who->rank->found = cell != 0 && wf_request_read(who, cell)->kind == WF_REQ_RECV &&
                       waits_for_match(who, cell);
    if (who->rank->found) {
        wf_match_cancel(who->ctx, &who->rank->match, cell);
        if (who->ranks->live != NULL) {
            wf_live_taken(who, request);
        }
        wf_request_discard(who, cell, wf_request_read(who, cell));
    }
    return WF_CALLED_DONE;
}
