/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/request.h"

#include "base/mem.h"
#include "ranks/because.h"
#include "ranks/collective.h"
#include "ranks/protocol.h"

#include <assert.h>
#include <stdlib.h>

uint32_t wf_flight_handle(struct wf_rank *rank)
{
    enum { BITS = 28 }; /* what fits beside the kind of a message */

    rank->next_handle = rank->next_handle % ((UINT32_C(1) << BITS) - 1) + 1;
    return rank->next_handle;
}

uint32_t wf_request_find(const struct wf_caller *who, uint32_t number)
{
    return number < WF_RANK_SLOTS ? who->rank->slots[number]
                                  : wf_cellmap_get(who->ctx, &who->rank->requests, number);
}

static void put_request(const struct wf_caller *who, uint32_t number, uint32_t cell)
{
    if (number < WF_RANK_SLOTS) {
        who->rank->slots[number] = cell;
    } else {
        wf_cellmap_put(who->ctx, &who->rank->requests, number, cell);
    }
}

static void drop_request(const struct wf_caller *who, uint32_t number)
{
    if (number < WF_RANK_SLOTS) {
        who->rank->slots[number] = 0;
    } else {
        (void)wf_cellmap_take(who->ctx, &who->rank->requests, number);
    }
}

bool wf_request_is_free(const struct wf_caller *who, uint32_t request)
{
    if (wf_request_find(who, request) != 0) {
        wf_mpi_fail(who, WF_FAILURE_REQUEST, request);
        return false;
    }
    return true;
}

void wf_request_register(const struct wf_caller *who, uint32_t cell, uint32_t request)
{
    wf_flight_edit(who, cell)->request = request;
    put_request(who, request, cell);
}

static uint32_t number_at(const struct wf_request_set *set, uint32_t i)
{
    return set->numbers != NULL ? set->numbers[i] : set->first + i;
}

/* The flight of a request; 0 if it is not in use. */
static uint32_t find(const struct wf_caller *who, const struct wf_request_set *set, uint32_t i)
{
    uint32_t cell = wf_request_find(who, number_at(set, i));

    if (cell != 0 && wf_flight_read(who, cell)->kind == WF_FLIGHT_PERSISTENT) {
        return wf_flight_read(who, cell)->owner;
    }
    return cell;
}

/* What belongs to a collective is kept apart: it need not look for it among the requests. So is
 * what a call waits for: it need not look for it among all that is complete. */
static struct wf_done *list_of(struct wf_rank *rank, const struct wf_flight *flight)
{
    if (flight->kind != WF_FLIGHT_COLL && flight->owner != 0) {
        return &rank->done_in_colls;
    }
    return flight->flags & WF_FLIGHT_APART ? &rank->done_awaited : &rank->done;
}

/* Puts a flight into its list of the complete, behind all that were complete before or with it.
 * Most often that is the end. */
static void insert_done(const struct wf_caller *who, uint32_t cell, struct wf_flight *flight)
{
    if ((flight->flags & WF_FLIGHT_AWAITED) && !who->rank->any) {
        flight->flags |= WF_FLIGHT_APART;
    }
    struct wf_done *done = list_of(who->rank, flight);
    uint32_t before = done->tail;

    flight->order = who->rank->done_order++;
    while (before != 0 && wf_flight_read(who, before)->at > flight->at) {
        before = wf_flight_read(who, before)->earlier;
    }
    uint32_t after = before != 0 ? wf_flight_read(who, before)->later : done->head;

    flight->earlier = before;
    flight->later = after;
    if (before != 0) {
        wf_flight_edit(who, before)->later = cell;
    } else {
        done->head = cell;
    }
    if (after != 0) {
        wf_flight_edit(who, after)->earlier = cell;
    } else {
        done->tail = cell;
    }
}

static void remove_done(const struct wf_caller *who, const struct wf_flight *flight)
{
    struct wf_done *done = list_of(who->rank, flight);
    uint32_t before = flight->earlier, after = flight->later;

    if (before != 0) {
        wf_flight_edit(who, before)->later = after;
    } else {
        done->head = after;
    }
    if (after != 0) {
        wf_flight_edit(who, after)->earlier = before;
    } else {
        done->tail = before;
    }
}

static void discard(const struct wf_caller *who, uint32_t cell, const struct wf_flight *flight)
{
    if (flight->flags & WF_FLIGHT_STARTED) {
        uint32_t persistent = wf_request_find(who, flight->request);
        if (persistent != 0) {
            wf_flight_edit(who, persistent)->owner = 0;
        }
    } else if (flight->request != WF_MPI_NO_REQUEST) {
        drop_request(who, flight->request);
    }
    wf_cell_free(who->ctx, cell);
}

/* A call returns a complete request: the CPU takes it in. Adds why the rank goes on. */
static void take(const struct wf_caller *who, uint32_t cell, struct wf_cause *cause)
{
    static const enum wf_rank_in in[] = {[WF_FLIGHT_RECV] = WF_IN_RECV,
                                         [WF_FLIGHT_SEND] = WF_IN_SEND,
                                         [WF_FLIGHT_COLL] = WF_IN_COLLECTIVE};
    const struct wf_flight *flight = wf_flight_read(who, cell);
    struct wf_rank *rank = who->rank;

    wf_rank_because_done(who, flight, WF_LANE_PROGRAM, rank->clock, cause);
    wf_rank_advance(who, flight->at, in[flight->kind]);
    if (flight->kind == WF_FLIGHT_RECV) {
        wf_rank_spent(who, WF_SPENT_ON_MESSAGES,
                      wf_time_add(rank->clock, who->mpi->net->o_recv_ps));
        rank->clock = wf_time_add(rank->clock, who->mpi->net->o_recv_ps);
        rank->overhead_ps = wf_time_add(rank->overhead_ps, who->mpi->net->o_recv_ps);
        if (flight->flags & WF_FLIGHT_OPEN) {
            rank->seen_source = flight->peer;
            rank->seen_tag = flight->key.tag;
        }
    }
    if (flight->request != WF_MPI_NO_REQUEST && who->mpi->taken != NULL) {
        who->mpi->taken(who->mpi->arg, who, flight->request);
    }
    remove_done(who, flight);
    discard(who, cell, flight);
}

static void take_one(const struct wf_caller *who, uint32_t cell)
{
    struct wf_cause cause = {.until = 0};

    take(who, cell, &cause);
    wf_rank_because_all(who, &cause);
}

/* Takes in all that was waited for, in the order of completion. One of them is `cell`. */
static void take_awaited(const struct wf_caller *who, uint32_t cell)
{
    if (who->rank->awaited == 1) {
        take_one(who, cell);
        return;
    }
    struct wf_cause cause = {.until = 0};
    while (who->rank->done_awaited.head != 0) {
        take(who, who->rank->done_awaited.head, &cause);
    }
    wf_rank_because_all(who, &cause);
}

void wf_request_complete(const struct wf_caller *who, uint32_t cell, int64_t at)
{
    struct wf_rank *rank = who->rank;
    struct wf_flight *flight = wf_flight_edit(who, cell);
    uint32_t owner = flight->kind == WF_FLIGHT_COLL ? 0 : flight->owner;

    flight->at = at;
    flight->flags |= WF_FLIGHT_DONE;
    if (flight->flags & WF_FLIGHT_FORGOTTEN) {
        discard(who, cell, flight);
        return;
    }
    insert_done(who, cell, flight);
    if (owner != 0) {
        struct wf_flight *coll = wf_flight_edit(who, owner);
        coll->missing--;
        if (coll->missing == 0 &&
            (coll->flags & (WF_FLIGHT_RUNNING | WF_FLIGHT_POSTED)) == WF_FLIGHT_POSTED) {
            wf_collective_continue(who, owner);
        }
    } else if (flight->flags & WF_FLIGHT_AWAITED) {
        rank->missing--;
        if (rank->state != WF_RANK_WAITING || (rank->missing > 0 && !rank->any)) {
            return;
        }
        if (!rank->any) {
            take_awaited(who, cell);
        }
        wf_rank_wake(who);
    }
}

static void begin_wait(struct wf_rank *rank)
{
    rank->awaited = 0;
    rank->missing = 0;
    rank->any = 0;
}

/* What a call that is about to wait finds complete. */
struct found {
    struct found_one {
        int64_t at;
        uint32_t order, cell;
    } * list;
    uint32_t n;
};

/* The rank is about to wait for this flight, which may have been said before. */
static void add_awaited(const struct wf_caller *who, uint32_t cell, struct found *found)
{
    struct wf_flight *flight = wf_flight_edit(who, cell);

    if (flight->flags & WF_FLIGHT_AWAITED) {
        return;
    }
    flight->flags |= WF_FLIGHT_AWAITED;
    who->rank->awaited++;
    if (flight->flags & WF_FLIGHT_DONE) {
        found->list[found->n++] = (struct found_one){flight->at, flight->order, cell};
    } else {
        who->rank->missing++;
    }
}

static int compare_found(const void *a, const void *b)
{
    const struct found_one *x = a, *y = b;

    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (int32_t)(x->order - y->order) < 0 ? -1 : 1;
}

static void sort_found(struct found *found)
{
    enum { FEW = 16 };

    if (found->n > FEW) {
        qsort(found->list, found->n, sizeof(found->list[0]), compare_found);
        return;
    }
    for (uint32_t i = 1; i < found->n; i++) {
        struct found_one one = found->list[i];
        uint32_t at = i;

        for (; at > 0 && compare_found(&one, &found->list[at - 1]) < 0; at--) {
            found->list[at] = found->list[at - 1];
        }
        found->list[at] = one;
    }
}

/* Moves what is complete to the list of the awaited, where nothing is yet. */
static void set_apart(const struct wf_caller *who, struct found *found)
{
    struct wf_done *apart = &who->rank->done_awaited;

    sort_found(found);
    for (uint32_t i = 0; i < found->n; i++) {
        uint32_t cell = found->list[i].cell;
        struct wf_flight *flight = wf_flight_edit(who, cell);

        remove_done(who, flight);
        flight->flags |= WF_FLIGHT_APART;
        flight->earlier = apart->tail;
        flight->later = 0;
        if (apart->tail != 0) {
            wf_flight_edit(who, apart->tail)->later = cell;
        } else {
            apart->head = cell;
        }
        apart->tail = cell;
    }
}

/* Waits for all that were added, of which `cell` is one. */
static enum wf_called end_wait(const struct wf_caller *who, uint32_t cell, struct found *found)
{
    if (who->rank->awaited > 1) {
        set_apart(who, found);
    }
    if (who->rank->missing > 0) {
        who->rank->state = WF_RANK_WAITING;
        return WF_CALLED_BLOCKED;
    }
    take_awaited(who, cell);
    return WF_CALLED_DONE;
}

enum wf_called wf_request_await(const struct wf_caller *who, const uint32_t *cells, uint32_t n)
{
    struct found_one list[2];
    struct found found = {list, 0};
    uint32_t one = 0;

    assert(n <= sizeof(list) / sizeof(list[0]));
    begin_wait(who->rank);
    for (uint32_t i = 0; i < n; i++) {
        if (cells[i] != 0) {
            one = cells[i];
            add_awaited(who, one, &found);
        }
    }
    return end_wait(who, one, &found);
}

int64_t wf_request_collect(const struct wf_caller *who, uint32_t collective, int64_t clock,
                           uint32_t *n_received)
{
    struct wf_cause cause = {.until = 0};
    uint32_t next;

    *n_received = 0;
    for (uint32_t cell = who->rank->done_in_colls.head; cell != 0; cell = next) {
        const struct wf_flight *flight = wf_flight_read(who, cell);

        next = flight->later;
        if (flight->owner != collective) {
            continue;
        }
        wf_rank_because_done(who, flight, wf_lane_of(flight->key.context, flight->key.tag),
                             clock, &cause);
        clock = wf_later(clock, flight->at);
        if (flight->kind == WF_FLIGHT_RECV) {
            clock = wf_time_add(clock, who->mpi->net->o_recv_ps);
            ++*n_received;
        }
        remove_done(who, flight);
        wf_cell_free(who->ctx, cell);
    }
    wf_rank_because_all(who, &cause);
    return clock;
}

enum wf_called wf_mpi_wait(const struct wf_caller *who, const struct wf_request_set *set)
{
    enum { USUAL = 32 };
    struct found_one list[USUAL];
    struct found found = {list, 0};
    uint32_t one = 0;

    if (set->count > USUAL) {
        found.list = wf_xmalloc(set->count * sizeof(list[0]));
    }
    begin_wait(who->rank);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find(who, set, i);
        if (cell != 0) {
            one = cell;
            add_awaited(who, cell, &found);
        }
    }
    enum wf_called called = end_wait(who, one, &found);
    if (found.list != list) {
        free(found.list);
    }
    return called;
}

/* The complete one of the set that was complete first; 0 if there is none. */
static uint32_t first_done(const struct wf_caller *who, const struct wf_request_set *set,
                           uint32_t *n_open)
{
    uint32_t first = 0;
    int64_t at = WF_TIME_MAX;

    *n_open = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find(who, set, i);
        const struct wf_flight *flight = cell != 0 ? wf_flight_read(who, cell) : NULL;

        if (flight == NULL) {
            continue;
        }
        ++*n_open;
        if ((flight->flags & WF_FLIGHT_DONE) && (first == 0 || flight->at < at)) {
            first = cell;
            at = flight->at;
        }
    }
    return first;
}

/* Marks the set as waited for, or not any more. */
static void mark(const struct wf_caller *who, const struct wf_request_set *set, bool awaited)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find(who, set, i);
        if (cell != 0 &&
            ((wf_flight_read(who, cell)->flags & WF_FLIGHT_AWAITED) != 0) != awaited) {
            wf_flight_edit(who, cell)->flags ^= WF_FLIGHT_AWAITED;
        }
    }
}

/* Takes all of the set that are complete at the time `at`; whether there were any. */
static bool take_until(const struct wf_caller *who, const struct wf_request_set *set,
                       int64_t at)
{
    bool any = false;

    mark(who, set, true);
    for (uint32_t cell = who->rank->done.head, next; cell != 0; cell = next) {
        const struct wf_flight *flight = wf_flight_read(who, cell);

        next = flight->later;
        if ((flight->flags & WF_FLIGHT_AWAITED) && flight->at <= at) {
            take_one(who, cell);
            any = true;
        }
    }
    mark(who, set, false);
    return any;
}

/* Messages that were sent at once have left nothing behind: of those in the set the program
 * learns now. Whether there were any; one is enough unless `all`. */
static bool take_gone(const struct wf_caller *who, const struct wf_request_set *set, bool all)
{
    bool any = false;

    for (uint32_t i = 0; i < set->count && who->mpi->taken != NULL && (all || !any); i++) {
        if (find(who, set, i) == 0) {
            who->mpi->taken(who->mpi->arg, who, number_at(set, i));
            any = true;
        }
    }
    return any;
}

/* What is complete first is certain only when the engine's time has come there: until then a
 * shorter message may overtake, which wakes the rank to look again. */
enum wf_called wf_mpi_wait_any(const struct wf_caller *who, const struct wf_request_set *set,
                               bool some)
{
    struct wf_rank *rank = who->rank;
    uint32_t n_open = 0, cell = first_done(who, set, &n_open);

    begin_wait(rank);
    rank->ticket++; /* an earlier look's event comes too late */
    if (take_gone(who, set, some)) {
        if (some) {
            (void)take_until(who, set, rank->clock);
        }
        return WF_CALLED_DONE;
    }
    if (n_open == 0) {
        return WF_CALLED_DONE;
    }
    int64_t at = cell != 0 ? wf_flight_read(who, cell)->at : WF_TIME_MAX;
    if (some) {
        at = wf_later(at, rank->clock);
    }
    if (cell == 0 || at > wf_now(who->ctx)) {
        mark(who, set, true);
        rank->missing = n_open;
        rank->any = 1;
        rank->state = WF_RANK_WAITING;
        if (cell != 0) {
            wf_rank_resume_at(who, at);
        }
        return WF_CALLED_AGAIN;
    }
    if (some) {
        (void)take_until(who, set, at);
    } else {
        mark(who, set, false);
        take_one(who, cell);
    }
    return WF_CALLED_DONE;
}

/* Whether nothing of the set is incomplete at the time `at`. */
static bool all_done(const struct wf_caller *who, const struct wf_request_set *set, int64_t at)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t cell = find(who, set, i);
        const struct wf_flight *flight = cell != 0 ? wf_flight_read(who, cell) : NULL;

        if (flight != NULL && ((flight->flags & WF_FLIGHT_DONE) == 0 || flight->at > at)) {
            return false;
        }
    }
    return true;
}

enum wf_called wf_mpi_test(const struct wf_caller *who, const struct wf_request_set *set,
                           enum wf_take what)
{
    int64_t clock = who->rank->clock;
    uint32_t n_open;

    if (wf_mpi_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    who->rank->found = what != WF_TAKE_ALL && take_gone(who, set, what == WF_TAKE_SOME);
    if (what == WF_TAKE_ONE) {
        uint32_t cell = first_done(who, set, &n_open);
        if (!who->rank->found && cell != 0 && wf_flight_read(who, cell)->at <= clock) {
            take_one(who, cell);
            who->rank->found = 1;
        }
    } else if (what == WF_TAKE_SOME || all_done(who, set, clock)) {
        bool any = take_until(who, set, clock);
        who->rank->found |= any || what == WF_TAKE_ALL;
    }
    return WF_CALLED_DONE;
}

void wf_mpi_forget(const struct wf_caller *who, uint32_t request)
{
    uint32_t cell = wf_request_find(who, request);

    if (cell == 0) {
        return;
    }
    drop_request(who, request);
    if (wf_flight_read(who, cell)->kind == WF_FLIGHT_PERSISTENT) {
        uint32_t started = wf_flight_read(who, cell)->owner;
        wf_cell_free(who->ctx, cell);
        cell = started;
    }
    if (cell == 0) {
        return;
    }
    struct wf_flight *flight = wf_flight_edit(who, cell);
    flight->flags &= (uint16_t)~WF_FLIGHT_STARTED;
    flight->request = WF_MPI_NO_REQUEST;
    if (flight->flags & WF_FLIGHT_DONE) {
        remove_done(who, flight);
        discard(who, cell, flight);
    } else {
        flight->flags |= WF_FLIGHT_FORGOTTEN;
    }
}

static bool waits_for_match(const struct wf_caller *who, uint32_t cell)
{
    uint32_t at = who->rank->match.posted.head;

    while (at != 0 && at != cell) {
        at = wf_flight_read(who, at)->link.next;
    }
    return at != 0;
}

enum wf_called wf_mpi_cancel(const struct wf_caller *who, uint32_t request)
{
    if (wf_mpi_sync(who) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    uint32_t cell = wf_request_find(who, request);

    who->rank->found = cell != 0 && wf_flight_read(who, cell)->kind == WF_FLIGHT_RECV &&
                       waits_for_match(who, cell);
    if (who->rank->found) {
        wf_match_cancel(who->ctx, &who->rank->match, cell);
        if (who->mpi->taken != NULL) {
            who->mpi->taken(who->mpi->arg, who, request);
        }
        discard(who, cell, wf_flight_read(who, cell));
    }
    return WF_CALLED_DONE;
}
