/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives in progress. Each is a request with a clock of its own that goes through the
 * steps of its algorithm as its messages arrive. A blocking collective is a nonblocking one
 * that the rank waits for. Only then the rank pays the CPU time of the messages, and has to
 * wait for its core if it shares one.
 */
#include "model/ranks/collective.h"

#include "base/arith.h"
#include "model/ranks/coll_line.h"
#include "model/ranks/coll_run.h"
#include "model/ranks/deferred.h"
#include "model/ranks/formula.h"

/* Recalls the collective of run->cell. */
static void recall_run(struct wf_collective_run *run)
{
    run->coll = wf_request_edit(run->who, run->cell);
    wf_collective_recall(run->who, run->cell, &run->args, &run->group);
}

void wf_collective_account(const struct wf_caller *who, const struct wf_rank_request *coll,
                           int64_t overhead)
{
    if (wf_collective_blocks(coll)) {
        struct wf_rank_cold *cold = wf_rank_cold_edit(who);

        cold->coll_overhead_ps = wf_time_add(cold->coll_overhead_ps, overhead);
    }
}

int64_t wf_collective_charge(const struct wf_caller *who, uint32_t cell, int64_t from,
                             int64_t cpu_ps)
{
    struct wf_rank_request *coll = wf_request_edit(who, cell);

    coll->at = wf_time_add(wf_max_i64(coll->at, from), cpu_ps);
    wf_collective_account(who, coll, cpu_ps);
    return coll->at;
}

void wf_collective_continue_at(const struct wf_collective_run *run, int64_t at)
{
    const struct wf_caller *who = run->who;
    const struct wf_node_wakeup wakeup = {who->slot, run->coll->coll.handle};

    wf_schedule(who->ctx, wf_self(who->ctx), at == WF_TIME_MAX ? at : at - wf_now(who->ctx),
                WF_NODE_CONTINUE, &wakeup, sizeof(wakeup));
}

bool wf_collective_is_deferred(const struct wf_collective_run *run)
{
    if (wf_collective_is_formula(&run->coll->coll) ||
        wf_rank_progress(run->who, run->coll->at) != WF_NET_LATER) {
        return false;
    }
    if ((run->coll->flags & WF_REQ_DEFERRED) == 0) {
        wf_request_defer(run->who, run->cell, &run->coll->coll.next_deferred);
    }
    return true;
}

static bool run_steps(struct wf_collective_run *run)
{
    run->n_slots = run->ops->n_slots(&run->args);
    run->coll->flags |= WF_REQ_RUNNING;
    bool over = wf_collective_steps(run);
    run->coll->flags &= (uint16_t)~WF_REQ_RUNNING;
    return over;
}

/* Continues what a collective by formula sends through the network; true if it has arrived. Sets
 * the time from which the formula counts: the call or, if the network took longer than the
 * formula, so late that the collective does not end before its messages have arrived. */
static bool run_traffic(struct wf_collective_run *run, struct wf_formula_call *call)
{
    struct wf_rank_request *coll = run->coll;

    call->from = coll->at;
    if (coll->coll.algorithm != WF_ALGORITHM_TRAFFIC || (coll->flags & WF_REQ_ARRIVED) != 0) {
        return true;
    }
    int64_t began = wf_collective_began(run->who, coll);
    run->ops = wf_coll_traffic(&run->args);
    if (run->args.kind != WF_COLL_ALLTOALL && run->args.kind != WF_COLL_ALLTOALLV) {
        run->traffic =
            wf_max_u64(wf_coll_traffic_bytes(&run->args, wf_formula_bytes(&run->args)), 1);
    }
    if (!run_steps(run)) {
        return false;
    }
    coll->flags = (uint16_t)((coll->flags & ~WF_REQ_LAST) | WF_REQ_ARRIVED);
    call->from = wf_max_i64(began, wf_formula_latest_start(run->who, &run->args, coll->at));
    return true;
}

/* Runs a prepared collective as far as possible; true if it is complete. */
static bool run_collective(struct wf_collective_run *run)
{
    if (run->coll->flags & WF_REQ_BEGINS) {
        if (wf_collective_is_deferred(run)) {
            return false;
        }
        run->coll->flags &= (uint16_t)~WF_REQ_BEGINS;
    }
    if (wf_collective_is_formula(&run->coll->coll)) {
        struct wf_formula_call call = {&run->args, &run->group, wf_collective_tag(run), 0};
        return run_traffic(run, &call) && wf_formula_run(run->who, run->cell, &call);
    }
    run->ops = wf_collective_ops(&run->coll->coll);
    run->protocol = wf_collective_protocol(&run->coll->coll);
    return run_steps(run);
}

/* A collective in progress is a track of its rank (model/ranks/cause.h). */
static uint32_t track_of(const struct wf_collective_run *run)
{
    return wf_track_of(wf_rank_context(run->group.id, true), wf_collective_tag(run));
}

/* A nonblocking collective is complete. */
static void complete_nonblocking(const struct wf_collective_run *run)
{
    struct wf_rank_request *coll = run->coll;

    coll->key.tag = wf_collective_tag(run); /* in place of the cookie */
    coll->key.context = wf_rank_context(run->group.id, true);
    wf_request_complete(run->who, run->cell, coll->at);
}

/* The time that the rank has waited for its core in its blocking collective. */
static int64_t count_core_wait(const struct wf_caller *who)
{
    if (who->ranks->timeshare == NULL) {
        return 0;
    }
    struct wf_timeshare_claim *claim = wf_rank_claim_edit(who);
    int64_t wait = claim->coll_wait_ps;
    claim->wait_ps = wf_time_add(claim->wait_ps, wait);
    claim->coll_wait_ps = 0;
    return wait;
}

/* A blocking collective is complete: the rank's clock moves to its end. */
static void leave_blocking(const struct wf_collective_run *run)
{
    const struct wf_caller *who = run->who;
    struct wf_rank *rank = who->rank;
    /* Registering memory for another receive may have taken longer. */
    int64_t at = wf_max_i64(run->coll->at, rank->clock);

    if (at > rank->clock) {
        wf_cause_note(who, (struct wf_cause){.until = at,
                                             .since = at,
                                             .from = who->number,
                                             .from_track = track_of(run),
                                             .why = WF_WHY_COLLECTIVE});
    }

    struct wf_rank_cold *cold = wf_rank_cold_edit(who);
    int64_t core_wait = count_core_wait(who);
    int64_t wait = wf_max_i64(at - rank->clock - cold->coll_overhead_ps - core_wait, 0);

    rank->wait_ps[WF_IN_COLLECTIVE] += wait;
    rank->overhead_ps = wf_time_add(rank->overhead_ps, cold->coll_overhead_ps);
    /* Recorded as if the CPU had done all its work at the end. */
    wf_rank_spent(who, (enum wf_spent)WF_SPENT_WAITING + WF_IN_COLLECTIVE, rank->clock + wait);
    rank->clock += wait;
    wf_rank_spent(who, (enum wf_spent)WF_SPENT_WAITING + WF_IN_CORE, rank->clock + core_wait);
    rank->clock += core_wait;
    wf_rank_spent(who, WF_SPENT_ON_MESSAGES, at);
    rank->clock = at;
    cold->current = 0;
}

/* The collective is complete: frees its handle and its other cell. */
static void free_parts(const struct wf_caller *who, uint32_t cell)
{
    uint32_t handle = wf_request_read(who, cell)->coll.handle;
    uint32_t more = wf_request_read(who, cell)->coll.more;

    if (more != 0) {
        wf_request_edit(who, cell)->coll.more = 0;
        wf_cell_free(who->ctx, more);
    }

    if (handle != 0) {
        wf_request_drop_handle(who, handle);
    }
}

/* The number of collectives that the rank has begun on this communicator before this one. */
static uint32_t next_sequence(const struct wf_caller *who, uint32_t group)
{
    struct wf_rank_cold *cold = wf_rank_cold_edit(who);

    if (group == 0) {
        return cold->collectives++;
    }
    uint32_t count = wf_cellmap_take(who->ctx, &cold->colls, group);
    wf_cellmap_put(who->ctx, &cold->colls, group, count + 1);
    return count;
}

/* The collective begins after one that ended at `end`: not before that, and not before its own
 * call. */
static void begin_after(const struct wf_collective_run *run, int64_t end, uint32_t track)
{
    struct wf_rank_request *coll = run->coll;

    if (end > coll->at) {
        wf_cause_note(run->who, (struct wf_cause){.until = end,
                                                  .since = end,
                                                  .track = track_of(run),
                                                  .from = run->who->number,
                                                  .from_track = track,
                                                  .why = WF_WHY_COLLECTIVE});
        coll->at = end;
    }
    coll->at = wf_time_add(coll->at, wf_collective_launch_ps(&coll->coll, &run->args));
}

/* It does so in an event of its own: what the end of the other one sets off comes first, and
 * until then the rank only waits. */
static void begin_in_event(const struct wf_collective_run *run)
{
    run->coll->flags |= WF_REQ_BEGINS;
    wf_collective_continue_at(run, wf_max_i64(run->coll->at, wf_now(run->who->ctx)));
}

/* Puts a new collective into the line of its communicator. */
static void join_line(const struct wf_collective_run *run)
{
    const struct wf_collective_line *line =
        wf_collective_line_join(run->who, run->group.id, run->cell);

    if (line != NULL) {
        bool at_once = line->end <= run->coll->at;

        begin_after(run, line->end, line->track);
        if (!at_once) {
            begin_in_event(run);
        }
    }
}

/* The collective is complete: the next one in line begins. */
static void leave_line(const struct wf_collective_run *run)
{
    const struct wf_caller *who = run->who;
    struct wf_collective_run next = {.who = who,
                                     .cell = wf_collective_line_leave(who, run->group.id,
                                                                      run->cell, run->coll->at,
                                                                      track_of(run))};

    if (next.cell != 0) {
        recall_run(&next);
        begin_after(&next, run->coll->at, track_of(run));
        begin_in_event(&next);
    }
}

/* The collective is complete and no longer in progress. */
static void end_collective(const struct wf_collective_run *run)
{
    if (run->who->ranks->coll.order == WF_COLL_ORDER_SERIAL) {
        leave_line(run);
    }
    free_parts(run->who, run->cell);
}

/* Sets up the request of a new collective. */
static void begin_collective(struct wf_collective_run *run, const uint64_t *cookie,
                             bool any_sizes)
{
    const struct wf_caller *who = run->who;
    struct wf_rank_request *coll = wf_request_edit(who, run->cell);

    wf_collective_keep_cookie(who, coll, cookie);
    recall_run(run);
    coll->kind = WF_REQ_COLL;
    coll->flags |= any_sizes ? WF_REQ_ANY_SIZES : 0;
    coll->number = WF_RANK_NO_REQUEST;
    coll->coll.sequence = (uint16_t)next_sequence(who, run->group.id);
    coll->at = who->rank->clock;
    coll->coll.algorithm = wf_collective_choose(who->ranks, &run->args);
    if (who->ranks->pace != WF_PACE_AHEAD || who->ranks->coll.order == WF_COLL_ORDER_SERIAL) {
        coll->coll.handle = wf_request_new_handle(who);
        wf_cellmap_put(who->ctx, &wf_rank_cold_edit(who)->handles, coll->coll.handle,
                       run->cell);
    }
    wf_rank_cold_edit(who)->coll_overhead_ps = 0;
    wf_cause_note(who, (struct wf_cause){.until = who->rank->clock,
                                         .since = who->rank->clock,
                                         .track = track_of(run),
                                         .from = who->number,
                                         .why = WF_WHY_BEGUN});
    if (who->ranks->coll.order == WF_COLL_ORDER_SERIAL) {
        join_line(run);
    } else {
        coll->at = wf_time_add(coll->at, wf_collective_launch_ps(&coll->coll, &run->args));
    }
}

enum wf_called wf_rank_collective(const struct wf_caller *who, const uint64_t *cookie,
                                  const struct wf_collective_call *call)
{
    uint32_t request = call->request;

    if (request != WF_RANK_NO_REQUEST && !wf_request_is_free(who, request)) {
        return WF_CALLED_BLOCKED;
    }
    struct wf_collective_run run = {.who = who, .cell = wf_cell_new_for(who->ctx, WF_REQ_SIZE)};

    begin_collective(&run, cookie, call->any_sizes);
    if (request != WF_RANK_NO_REQUEST) {
        wf_request_register(who, run.cell, request);
    }
    bool waits = (run.coll->flags & (WF_REQ_IN_LINE | WF_REQ_BEGINS)) != 0;
    bool over = !waits && run_collective(&run);
    if (over) {
        end_collective(&run);
    }
    if (request != WF_RANK_NO_REQUEST) {
        if (over) {
            complete_nonblocking(&run);
        }
        return WF_CALLED_DONE;
    }
    if (over) {
        leave_blocking(&run);
        wf_cell_free(who->ctx, run.cell);
        return WF_CALLED_DONE;
    }
    wf_rank_cold_edit(who)->current = run.cell;
    if (who->rank->state != WF_RANK_FAILED) {
        who->rank->state = WF_RANK_WAITING;
    }
    return WF_CALLED_BLOCKED;
}

/* Continues a collective that is prepared. */
static void continue_run(struct wf_collective_run *run)
{
    const struct wf_caller *who = run->who;

    if (!run_collective(run)) {
        if (wf_rank_wants_to_read(who)) {
            who->rank->due = WF_DUE_READ;
        }
        return;
    }
    end_collective(run);
    if (wf_rank_cold(who)->current != run->cell) {
        complete_nonblocking(run);
        return;
    }
    leave_blocking(run);
    wf_cell_free(who->ctx, run->cell);
    wf_rank_wake(who);
}

void wf_collective_continue(const struct wf_caller *who, uint32_t cell)
{
    struct wf_collective_run run = {.who = who, .cell = cell};

    recall_run(&run);
    continue_run(&run);
}

void wf_collective_served(const struct wf_caller *who)
{
    struct wf_timeshare_claim *claim = wf_rank_claim_edit(who);
    struct wf_collective_run run = {.who = who, .cell = wf_rank_cold(who)->current};

    recall_run(&run);
    int64_t since = run.coll->at, begin = wf_now(who->ctx) - claim->busy;
    if (begin > since) {
        wf_cause_note(who, (struct wf_cause){.until = begin,
                                             .since = since,
                                             .track = track_of(&run),
                                             .from = who->number,
                                             .from_track = track_of(&run),
                                             .taken = wf_rank_taken(who, claim),
                                             .why = WF_WHY_CORE});
        claim->coll_wait_ps = wf_time_add(claim->coll_wait_ps, begin - since);
    }
    claim->receiving = 0;
    run.coll->at = wf_now(who->ctx);
    continue_run(&run);
}

void wf_collective_run_deferred(const struct wf_caller *who, uint32_t cell, int64_t at)
{
    struct wf_collective_run run = {.who = who, .cell = cell};

    recall_run(&run);
    if (at > run.coll->at) {
        wf_cause_note(who, (struct wf_cause){.until = at,
                                             .since = at,
                                             .track = track_of(&run),
                                             .from = who->number,
                                             .why = WF_WHY_CALLED});
        run.coll->at = at;
    }
    continue_run(&run);
}
