/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches the ops of a rank and has them executed. */
#include "model/ranks/resume.h"

#include "model/ranks/deferred.h"

#include <string.h>

/* Ops that a rank may execute in one event: bounds what one handler schedules. */
enum { OPS_PER_EVENT = 1024 };

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
    if (turn->ranks->pace == WF_PACE_CALLS) {
        if (wf_rank_sync(who) == WF_CALLED_AGAIN) {
            return false;
        }
        if (!wf_ranks_read_in_waits(who->ranks)) {
            wf_rank_run_deferred(who);
        }
        if (who->ranks->costs.registers && wf_rank_sync(who) == WF_CALLED_AGAIN) {
            return false; /* registering memory took time */
        }
    }
    return who->rank->state != WF_RANK_FAILED;
}

/* The rank reads what has arrived. It may go on because of that, and defer more. */
static void read_deferred(const struct wf_caller *who)
{
    struct wf_deferred list = wf_deferred_begin(who);

    while (wf_deferred_next(who, &list)) {
        wf_rank_go_on(who);
    }
}

/* A call has begun to wait, or the program has ended. */
static void look(const struct wf_caller *who)
{
    if (wf_rank_wants_look(who)) {
        read_deferred(who);
    }
}

/* With mpi.progress=waits: a call that tests or probes reads what has arrived. */
static void attend_before(const struct wf_caller *who, const struct wf_op *op)
{
    if (!wf_ranks_read_in_waits(who->ranks)) {
        return;
    }
    enum wf_op_family family = wf_op_info(op->kind)->family;
    if (family == WF_FAMILY_TEST || family == WF_FAMILY_PROBE) {
        wf_rank_attended(who, who->rank->clock);
        read_deferred(who);
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

static void run_program(const struct wf_caller *who)
{
    const struct wf_turn turn = wf_turn_of(who);
    struct wf_script *at = &turn.slot->progress;

    wf_touch(who->ctx, at, sizeof(*at));
    if (stalls(&turn)) {
        return;
    }
    const bool prepares = turn.source->live != NULL || turn.ranks->pace == WF_PACE_CALLS;
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
            look(who);
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
            look(who);
            return;
        }
        at->stalled++;
        move_to(&turn, &cursor);
        if (called == WF_CALLED_BLOCKED || who->rank->state == WF_RANK_FAILED) {
            look(who);
            return;
        }
    }
    wf_rank_yield(who);
}

void wf_rank_go_on(const struct wf_caller *who)
{
    while (who->rank->due != WF_DUE_NOTHING) {
        enum wf_rank_due due = (enum wf_rank_due)who->rank->due;

        who->rank->due = WF_DUE_NOTHING;
        if (due == WF_DUE_PROGRAM) {
            run_program(who);
        } else {
            read_deferred(who);
        }
    }
}
