/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the node process: its first events, the dispatch by event kind, the commit of
 * final events, and the sums at the end. */
#include "model/ranks/node.h"

#include "base/mem.h"
#include "model/ranks/blocked.h"
#include "model/ranks/formula.h"
#include "model/ranks/protocol.h"

#include <string.h>

/* Ops that a rank may execute in one event: bounds what one handler schedules. */
enum { OPS_PER_EVENT = 1024 };

/* ---- what nodes of ranks and of PEs share ---- */

enum wf_status wf_node_check(const struct wf_place *place, const struct wf_net *net, uint32_t n,
                             const char *what, struct wf_err *err)
{
    if (place->slots_max > WF_RANK_SLOTS_MAX) {
        return wf_err_set(err, WF_EINVAL, "%u %s on a node are too many; the limit is %d",
                          place->slots_max, what, WF_RANK_SLOTS_MAX);
    }
    if (net->ends.n_nodes != place->n_nodes || place->n_ranks != n) {
        return wf_err_set(err, WF_EINVAL,
                          "%u %s are placed on %u nodes; the jobs have %u, the network %u",
                          place->n_ranks, what, place->n_nodes, n, net->ends.n_nodes);
    }
    return WF_OK;
}

void wf_node_commit(const struct wf_net *net, const struct wf_recorder *recorder,
                    const struct wf_event *ev, struct wf_ctx *ctx)
{
    if (net->n_sums > 0 && net->ops->commit != NULL && wf_net_kind(ev) < WF_NET_KINDS) {
        net->ops->commit(net, ev, ctx);
    }
    if (wf_recorder_is_on(recorder)) {
        wf_recorder_commit(recorder, ctx);
    }
}

void wf_node_count_latency(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                           int64_t latency)
{
    if (recorder->at.net_counters == 0) {
        wf_stat_add(&tally->latency, latency);
        return;
    }
    tally->at = recorder->at;
    wf_tally_latency(tally, wf_tally_net_counters(tally), latency);
}

void wf_node_finish(const struct wf_net *net, const struct wf_recorder *recorder,
                    const void *node, struct wf_ranks_tally *tally, struct wf_ctx *ctx)
{
    tally->at = recorder->at;
    for (uint32_t nic = 0; net->ops->finish != NULL && nic < net->ends.nics; nic++) {
        net->ops->finish(net, ctx, wf_net_part(net, wf_unconst(node), nic), nic, &tally->net);
    }
}

void wf_node_count_rank(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                        const struct wf_rank_totals *totals)
{
    struct wf_job_tally *job = &tally->jobs[totals->job];
    struct wf_recording *recording = wf_recorder_recording(recorder, tally);
    struct wf_path *path = wf_recorder_path(recorder, tally);
    struct wf_account account = {
        .ranks = 1,
        .least_rank = totals->number + UINT64_C(1),
        .finish_ps = (uint64_t)totals->clock,
        .spent_ps = {[WF_SPENT_COMPUTING] = (uint64_t)totals->compute_ps,
                     [WF_SPENT_ON_MESSAGES] = (uint64_t)totals->overhead_ps},
    };
    int64_t waits = 0;

    wf_tally_end(tally, totals->number, totals->clock);
    tally->timeless += totals->clock == WF_TIME_MAX;
    tally->longest_message = wf_max_u64(tally->longest_message, totals->longest);
    job->messages += totals->messages;
    job->bytes = wf_count_add(job->bytes, totals->bytes);
    wf_stat_add(&job->compute, totals->compute_ps);
    wf_stat_add(&job->overhead, totals->overhead_ps);
    for (uint32_t in = 0; in < WF_IN_KINDS; in++) {
        const struct wf_waited waited = {totals->wait_ps[in], totals->number, in};

        if (waited.time != WF_NO_WAIT) {
            waits = wf_time_add(waits, waited.time);
            wf_stat_add(&job->wait[in], waited.time);
            wf_tally_wait(tally, &waited);
            account.spent_ps[(uint32_t)WF_SPENT_WAITING + in] = (uint64_t)waited.time;
        }
    }
    wf_stat_add(&job->waits, waits);
    if (totals->ended) {
        wf_stat_add(&job->finish, totals->clock);
        if (recorder->ends != NULL) {
            recorder->ends[totals->number] = totals->clock;
        }
    }
    if (recording != NULL) {
        wf_recording_rank(recording, &account);
    }
    if (path != NULL) {
        wf_path_end(path, totals->number, totals->clock);
    }
}

/* ---- what only some ranks need ---- */

const struct wf_rank_more wf_rank_nothing_more;
const struct wf_script_rest wf_rank_no_rest;

struct wf_rank_more *wf_rank_more_edit(const struct wf_caller *who)
{
    if (who->rank->more == 0) {
        who->rank->more = wf_cell_new_for(who->ctx, sizeof(struct wf_rank_more));
    }
    return wf_cell_edit(who->ctx, who->rank->more);
}

void wf_rank_more_settle(const struct wf_caller *who)
{
    struct wf_rank *rank = who->rank;
    const struct wf_rank_more *more = wf_rank_more(who);

    if (rank->more != 0 && rank->state == WF_RANK_ENDED && rank->match.posted.head == 0 &&
        more->handles.count == 0 && more->colls.count == 0 && more->deferred == 0 &&
        more->one_sided == 0 && more->reading == 0) {
        wf_cell_free(who->ctx, rank->more);
        rank->more = 0;
    }
}

void wf_rank_saw(const struct wf_caller *who, uint32_t source, int32_t tag)
{
    const struct wf_ranks *ranks = who->ranks;
    struct wf_rank_more *more = wf_rank_more_edit(who);

    more->seen_source = source - ranks->first[wf_ranks_job_of(ranks, who->number)];
    more->seen_tag = tag;
}

struct wf_script_rest *wf_rank_rest_edit(const struct wf_turn *turn)
{
    uint32_t *cell = &turn->slot->progress.rest;

    if (*cell == 0) {
        *cell = wf_cell_new_for(turn->who->ctx, sizeof(struct wf_script_rest));
    }
    return wf_cell_edit(turn->who->ctx, *cell);
}

/* ---- executing ops ---- */

/* Sets the cursor to the position of the rank. */
static void move_cursor(const struct wf_turn *turn, struct wf_cursor *cursor)
{
    const struct wf_script_rest *rest = wf_rank_rest(turn);

    memcpy(cursor->word, turn->slot->progress.word, sizeof(cursor->word));
    memcpy(cursor->outer, rest->outer, sizeof(cursor->outer));
    cursor->seen_source = 0;
    cursor->seen_tag = 0;
    cursor->span = rest->span;
}

static void move_rest_to(const struct wf_turn *turn, const struct wf_cursor *cursor)
{
    const struct wf_script_rest *now = wf_rank_rest(turn);

    if (memcmp(now->outer, cursor->outer, sizeof(now->outer)) == 0 &&
        now->span == cursor->span) {
        return; /* the cell is there for another of its members */
    }
    struct wf_script_rest *rest = wf_rank_rest_edit(turn);

    memcpy(rest->outer, cursor->outer, sizeof(rest->outer));
    rest->span = cursor->span;
}

static inline void move_to(const struct wf_turn *turn, const struct wf_cursor *cursor)
{
    struct wf_script *at = &turn->slot->progress;
    uint64_t outer[2];

    memcpy(at->word, cursor->word, sizeof(at->word));
    memcpy(outer, cursor->outer, sizeof(outer));
    if ((at->rest | outer[0] | outer[1] | cursor->span) != 0) {
        move_rest_to(turn, cursor);
    }
}

/* The program has ended: runs it once more if the job asks for that. */
static bool starts_again(const struct wf_turn *turn, struct wf_cursor *cursor)
{
    uint64_t repeat = turn->ranks->jobs[turn->job].repeat;

    if (repeat == 1 || ++wf_rank_rest_edit(turn)->runs >= repeat) {
        return false;
    }
    *cursor = (struct wf_cursor){.word = {0}};
    move_to(turn, cursor);
    return true;
}

/* The program is over: frees what only its position needed. */
static void end_program(const struct wf_turn *turn)
{
    struct wf_script *at = &turn->slot->progress;

    for (uint32_t cell = wf_rank_rest(turn)->region; cell != 0;) {
        const struct wf_script_region *region = wf_cell_read(turn->who->ctx, cell);
        uint32_t around = region->around;

        wf_cell_free(turn->who->ctx, cell);
        cell = around;
    }
    if (at->rest != 0) {
        wf_cell_free(turn->who->ctx, at->rest);
        at->rest = 0;
    }
    wf_rank_end(turn->who);
}

/* Does what must happen before the next op of a live program, or of a rank that keeps to the
 * engine's time. False if the rank cannot execute the op now. */
static bool prepare(const struct wf_turn *turn)
{
    const struct wf_caller *who = turn->who;

    if (turn->source->live) {
        wf_live_answer(turn);
    }
    if (turn->ranks->in_step) {
        if (wf_rank_sync(who) == WF_CALLED_AGAIN) {
            return false;
        }
        if (who->ranks->mpi->progress != WF_PROGRESS_WAITS) {
            wf_rank_run_deferred(who);
        }
        if (who->ranks->costs.registers && wf_rank_sync(who) == WF_CALLED_AGAIN) {
            return false; /* registering memory took time */
        }
    }
    return who->rank->state != WF_RANK_FAILED;
}

/* With mpi.progress=waits: a call that tests or probes reads what has arrived. */
static void attend_before(const struct wf_caller *who, const struct wf_op *op)
{
    if (!who->ranks->in_step || who->ranks->mpi->progress != WF_PROGRESS_WAITS) {
        return;
    }
    enum wf_op_family family = wf_op_info(op->kind)->family;
    if (family == WF_FAMILY_TEST || family == WF_FAMILY_PROBE) {
        wf_rank_attended(who, who->rank->clock);
        wf_rank_read_deferred(who);
    }
}

/* Whether the clock stands still, as in an endless loop of operations that take no time: the rank
 * then fails. Counted by rank, because any number of ranks may act at one time. */
static bool stalls(const struct wf_turn *turn)
{
    struct wf_script *at = &turn->slot->progress;

    if (turn->who->rank->clock != at->stalled_at) {
        at->stalled_at = turn->who->rank->clock;
        at->stalled = 0;
    }
    if (at->stalled < turn->ranks->stall_limit) {
        return false;
    }
    wf_rank_fail(turn->who, WF_FAILURE_STALL, 0);
    return true;
}

void wf_node_resume(const struct wf_caller *who)
{
    const struct wf_turn turn = wf_turn_of(who);
    struct wf_script *at = &turn.slot->progress;

    wf_touch(who->ctx, at, sizeof(*at));
    if (stalls(&turn)) {
        return;
    }
    const bool prepares = turn.source->live != NULL || turn.ranks->in_step;
    const bool records = wf_recorder_wants_calls(&turn.ranks->recorder);
    struct wf_cursor cursor;
    struct wf_op op;

    move_cursor(&turn, &cursor);
    for (int i = 0; i < OPS_PER_EVENT; i++) {
        if (prepares && !prepare(&turn)) {
            return;
        }
        /* The source may depend on the last match of a wildcard receive. */
        if (who->rank->more != 0) {
            const struct wf_rank_more *more = wf_rank_more(who);

            cursor.seen_source = more->seen_source;
            cursor.seen_tag = more->seen_tag;
        }
        if (!wf_source_next(turn.source, turn.rank, &cursor, &op)) {
            if (starts_again(&turn, &cursor)) {
                continue;
            }
            end_program(&turn);
            wf_rank_look(who);
            return;
        }

        if (prepares) {
            attend_before(who, &op);
        }
        int64_t from = who->rank->clock;
        enum wf_called called = wf_rank_execute(&turn, &op);
        if (records) {
            wf_rank_note_call(&turn, &op, from, called);
        }
        if (called == WF_CALLED_AGAIN) {
            wf_rank_look(who);
            return;
        }
        at->stalled++;
        move_to(&turn, &cursor);
        if (called == WF_CALLED_BLOCKED || who->rank->state == WF_RANK_FAILED) {
            wf_rank_look(who);
            return;
        }
    }
    wf_rank_yield(who);
}

/* ---- events ---- */

static void on_resume(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                      const struct wf_event *ev)
{
    const struct wf_node_wakeup *wakeup = (const void *)ev->payload;
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, wakeup->slot);

    if (who.rank->ticket == wakeup->ticket && who.rank->state != WF_RANK_FAILED) {
        wf_request_take(&who);
        wf_rank_wake(&who);
    }
}

static void on_turn(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                    const struct wf_event *ev)
{
    uint32_t slot;

    if (!wf_turns_next(&ranks->turns, ctx, node, (const void *)ev->payload, &slot)) {
        return;
    }
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, slot);
    if (who.rank->state == WF_RANK_FAILED) {
        return;
    }
    if (wf_rank_more(&who)->current != 0) {
        wf_collective_served(&who);
    } else {
        wf_rank_served(&who);
    }
}

static void on_continue(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                        const struct wf_event *ev)
{
    const struct wf_node_wakeup *wakeup = (const void *)ev->payload;
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, wakeup->slot);
    uint32_t cell = wf_cellmap_get(ctx, &wf_rank_more(&who)->handles, wakeup->ticket);

    if (cell != 0 && who.rank->state != WF_RANK_FAILED) {
        wf_collective_continue(&who, cell);
    }
}

static void node_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);
    uint32_t node = wf_self(ctx) - ranks->net->first_node;
    uint32_t n_slots = wf_place_n_slots(ranks->place, node);

    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const struct wf_node_wakeup wakeup = {.slot = slot};
        struct wf_caller who = wf_caller_at(ranks, ctx, state, slot);
        uint32_t job = wf_ranks_job_of(ranks, who.number);
        int64_t start = ranks->jobs[job].start;

        who.rank->clock = start;
        wf_schedule(ctx, wf_self(ctx), start, WF_NODE_RESUME, &wakeup, sizeof(wakeup));
    }
}

static void node_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    static void (*const on_kind[])(const struct wf_ranks *, struct wf_ctx *, void *,
                                   const struct wf_event *) = {
        [WF_NODE_RESUME - WF_NET_KINDS] = on_resume,
        [WF_NODE_CONTINUE - WF_NET_KINDS] = on_continue,
        [WF_NODE_DEPART - WF_NET_KINDS] = wf_protocol_depart,
        [WF_NODE_LOCAL - WF_NET_KINDS] = wf_protocol_local,
        [WF_NODE_SIGNAL - WF_NET_KINDS] = wf_formula_signal,
        [WF_NODE_INJECT - WF_NET_KINDS] = wf_protocol_depart,
        [WF_NODE_ARRIVED - WF_NET_KINDS] = wf_protocol_delayed,
        [WF_NODE_TURN - WF_NET_KINDS] = on_turn,
    };
    const struct wf_ranks *ranks = wf_model(ctx);
    uint32_t kind = wf_net_kind(ev);

    if (kind < WF_NET_KINDS) {
        wf_net_event(ranks->net, ctx, state, ev);
    } else {
        on_kind[kind - WF_NET_KINDS](ranks, ctx, state, ev);
    }
}

void wf_node_event_recorded(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);

    node_event(state, ev, ctx);
    wf_recorder_end_event(&ranks->recorder, ctx);
}

/* A message will be matched with the receives of its rank: those with small numbers are mostly all,
 * and reading one after another along their list would wait for each. */
static void node_fetch(const void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    enum { USUAL = 8 };
    const struct wf_ranks *ranks = wf_model(ctx);
    const struct wf_rank *rank = (const void *)((const unsigned char *)state + ranks->slots_at);

    if (rank->match.posted.head != rank->match.posted.tail) {
        wf_cell_fetch(ctx, rank->small_requests, USUAL);
    }
}

/* ---- final events ---- */

void wf_node_note_message(const struct wf_caller *to, const struct wf_sent *sent)
{
    const struct wf_node_note note = {.what = WF_NOTED_LATENCY,
                                      .at = sent->arrival - sent->departure};

    if (wf_now_is_final(to->ctx)) {
        wf_node_count_latency(&to->ranks->recorder, wf_tally(to->ctx), note.at);
    } else {
        wf_note(to->ctx, &note, offsetof(struct wf_node_note, time));
    }
    to->rank->noted = 1; /* in both cases: a mark gets another event (do_marker()) */
    if (wf_recorder_is_on(&to->ranks->recorder)) {
        wf_recorder_add_message(&to->ranks->recorder, to->ctx, to->sums, sent);
    }
}

/* Counts a note. The event is final, so ranks need not keep the note and nothing is undone. */
static void commit_note(const struct wf_ranks *ranks, const void *at, struct wf_ctx *ctx)
{
    struct wf_ranks_tally *tally = wf_tally(ctx);
    struct wf_node_note note;

    memcpy(&note, at, offsetof(struct wf_node_note, time));
    if (note.what == WF_NOTED_LATENCY) {
        wf_node_count_latency(&ranks->recorder, tally, note.at);
    } else if (note.what == WF_NOTED_REGION) {
        memcpy(&note, at, sizeof(note));
        wf_marks_region(&tally->marks, note.job, note.number, note.at, note.time);
    } else {
        const struct wf_iteration_mark mark = {
            .job = note.job, .number = note.number, .is_end = note.what == WF_NOTED_END};

        wf_marks_pass(&tally->marks, &mark, wf_marks_kept(ranks->n_jobs), note.at);
    }
}

/* Most events of most runs leave no note and no trail. */
static void node_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);

    if (ranks->sees_all && ranks->net->n_sums > 0) {
        wf_node_commit(ranks->net, &ranks->recorder, ev, ctx);
    } else if (ranks->sees_all) {
        wf_recorder_commit(&ranks->recorder, ctx);
    }
    if (note != NULL) {
        commit_note(ranks, note, ctx);
    }
}

/* ---- the end ---- */

static void add_unfinished(const struct wf_turn *turn, struct wf_ranks_tally *tally)
{
    const struct wf_caller *who = turn->who;
    struct wf_blocked blocked = {.rank = who->number, .failure = who->rank->failure};

    tally->unfinished++;
    tally->failed += who->rank->state == WF_RANK_FAILED;
    if (who->rank->state == WF_RANK_FAILED) {
        blocked.fail_peer = wf_rank_more(who)->blocked_peer;
    }
    wf_rank_find_blocked(who, &blocked.on);
    blocked.on.group %= wf_ranks_groups_per_job(turn->ranks);
    wf_tally_block(tally, &blocked);
}

static void add_rank(const struct wf_caller *who, struct wf_ranks_tally *tally)
{
    const struct wf_turn turn = wf_turn_of(who);
    const struct wf_rank *rank = who->rank;
    struct wf_rank_leftover leftover = {.rank = who->number};
    struct wf_rank_totals totals = {
        .number = who->number,
        .job = turn.job,
        .messages = rank->sent_messages,
        .bytes = rank->sent_bytes,
        .longest = rank->longest,
        .clock = rank->clock,
        .compute_ps = turn.slot->progress.compute_ps,
        .overhead_ps = rank->overhead_ps,
        .wait_ps = {[WF_IN_CORE] = WF_NO_WAIT},
        .ended = rank->state == WF_RANK_ENDED,
    };

    memcpy(totals.wait_ps, rank->wait_ps, sizeof(rank->wait_ps));
    if (who->ranks->turns.on) {
        totals.wait_ps[WF_IN_CORE] =
            wf_turns_claim(&who->ranks->turns, who->node, who->slot)->wait_ps;
    }
    wf_node_count_rank(&who->ranks->recorder, tally, &totals);
    wf_rank_find_leftover(who, &leftover.what);
    wf_tally_leftover(tally, &leftover);
    if (!totals.ended) {
        add_unfinished(&turn, tally);
    }
}

static void node_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_ranks *ranks = wf_model(ctx);
    uint32_t n_slots = wf_place_n_slots(ranks->place, wf_self(ctx) - ranks->net->first_node);
    struct wf_ranks_tally *tally = wf_tally(ctx);

    wf_node_finish(ranks->net, &ranks->recorder, state, tally, ctx);
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        /* Nothing is changed: the caller is used only to read the rank. */
        const struct wf_caller who = wf_caller_at(ranks, ctx, wf_unconst(state), slot);

        add_rank(&who, tally);
    }
}

const struct wf_process_ops wf_node_ops = {
    .name = "node",
    .announces_changes = true,
    .init = node_init,
    .event = node_event,
    .fetch = node_fetch,
    .commit = node_commit,
    .finish = node_finish,
};
