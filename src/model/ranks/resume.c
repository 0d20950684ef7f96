/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches the ops of a rank and has them executed: the only place where a rank's program runs. */
#include "model/ranks/resume.h"

#include "model/ranks/deferred.h"

#include <string.h>

/* Ops that a rank may execute in one event: bounds what one handler schedules. */
enum { OPS_PER_EVENT = 1024 };

/* Sets the cursor to the position of the rank. */
static void load_position(const struct wf_rank_program *program, struct wf_cursor *cursor)
{
    const struct wf_script_cold *cold = wf_rank_script_cold(program);

    memcpy(cursor->word, program->slot->progress.word, sizeof(cursor->word));
    memcpy(cursor->outer, cold->outer, sizeof(cursor->outer));
    cursor->seen_source = 0;
    cursor->seen_tag = 0;
    cursor->span = cold->span;
}

static void save_cold_position(const struct wf_rank_program *program,
                               const struct wf_cursor *cursor)
{
    const struct wf_script_cold *now = wf_rank_script_cold(program);

    if (memcmp(now->outer, cursor->outer, sizeof(now->outer)) == 0 &&
        now->span == cursor->span) {
        return; /* the cell is there for another of its members */
    }
    struct wf_script_cold *cold = wf_rank_script_cold_edit(program);

    memcpy(cold->outer, cursor->outer, sizeof(cold->outer));
    cold->span = cursor->span;
}

static inline void save_position(const struct wf_rank_program *program,
                                 const struct wf_cursor *cursor)
{
    struct wf_script *at = &program->slot->progress;
    uint64_t outer[2];

    memcpy(at->word, cursor->word, sizeof(at->word));
    memcpy(outer, cursor->outer, sizeof(outer));
    if ((at->cold | outer[0] | outer[1] | cursor->span) != 0) {
        save_cold_position(program, cursor);
    }
}

/* The program has ended: runs it once more if the job asks for that. */
static bool starts_again(const struct wf_rank_program *program, struct wf_cursor *cursor)
{
    uint64_t repeat = program->ranks->jobs[program->job].repeat;

    if (repeat == 1 || ++wf_rank_script_cold_edit(program)->runs >= repeat) {
        return false;
    }
    *cursor = (struct wf_cursor){.word = {0}};
    save_position(program, cursor);
    return true;
}

/* The program is over: frees what only its position needed. */
static void end_program(const struct wf_rank_program *program)
{
    struct wf_script *at = &program->slot->progress;

    for (uint32_t cell = wf_rank_script_cold(program)->region; cell != 0;) {
        const struct wf_script_region *region = wf_cell_read(program->who->ctx, cell);
        uint32_t around = region->around;

        wf_cell_free(program->who->ctx, cell);
        cell = around;
    }
    if (at->cold != 0) {
        wf_cell_free(program->who->ctx, at->cold);
        at->cold = 0;
    }
    wf_rank_end(program->who);
}

/* Does what must happen before the next op of a live program, or of a rank that keeps to the
 * engine's time. False if the rank cannot execute the op now. */
static bool prepare_op(const struct wf_rank_program *program)
{
    const struct wf_caller *who = program->who;

    if (program->source->live) {
        wf_live_answer(program);
    }
    if (program->ranks->pace == WF_PACE_CALLS) {
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
static void read_if_waiting(const struct wf_caller *who)
{
    if (wf_rank_wants_to_read(who)) {
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
static bool stalls(const struct wf_rank_program *program)
{
    struct wf_script *at = &program->slot->progress;

    if (program->who->rank->clock != at->stalled_at) {
        at->stalled_at = program->who->rank->clock;
        at->stalled = 0;
    }
    if (at->stalled < program->ranks->stall_limit) {
        return false;
    }
    wf_rank_fail(program->who, WF_FAILURE_STALL, 0);
    return true;
}

/* Executes the ops of the rank until one blocks. */
static void run_program(const struct wf_caller *who)
{
    const struct wf_rank_program program = wf_rank_program_of(who);
    struct wf_script *at = &program.slot->progress;

    wf_touch(who->ctx, at, sizeof(*at));
    if (stalls(&program)) {
        return;
    }
    const bool prepares = program.source->live != NULL || program.ranks->pace == WF_PACE_CALLS;
    const bool records = wf_recorder_wants_calls(&program.ranks->recorder);
    struct wf_cursor cursor;
    struct wf_op op;

    load_position(&program, &cursor);
    for (int i = 0; i < OPS_PER_EVENT; i++) {
        if (prepares && !prepare_op(&program)) {
            return;
        }
        /* The source may depend on the last match of a wildcard receive. */
        if (who->rank->cold != 0) {
            const struct wf_rank_cold *cold = wf_rank_cold(who);

            cursor.seen_source = cold->seen_source;
            cursor.seen_tag = cold->seen_tag;
        }
        if (!wf_source_next(program.source, program.rank, &cursor, &op)) {
            if (starts_again(&program, &cursor)) {
                continue;
            }
            end_program(&program);
            read_if_waiting(who);
            return;
        }

        if (prepares) {
            attend_before(who, &op);
        }
        int64_t from = who->rank->clock;
        enum wf_called called = wf_rank_execute(&program, &op);
        if (records) {
            wf_rank_note_call(&program, &op, from, called);
        }
        if (called != WF_CALLED_AGAIN) {
            at->stalled++;
            save_position(&program, &cursor);
        }
        if (called != WF_CALLED_DONE || who->rank->state == WF_RANK_FAILED) {
            read_if_waiting(who);
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
