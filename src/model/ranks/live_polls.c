/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/live_polls.h"

#include "model/ranks/rank_program.h"

static const int64_t poll_ps = INT64_C(100000);

/* Shifts the rank's clock; it waits meanwhile. */
static void wait_for(const struct wf_rank_program *program, int64_t time)
{
    struct wf_rank *rank = program->who->rank;
    int64_t *spent = &wf_rank_script_cold_edit(program)->polling_ps;

    *spent = wf_time_add(*spent, time);
    rank->wait_ps[WF_IN_RECV] = wf_time_add(rank->wait_ps[WF_IN_RECV], time);
    rank->clock = wf_time_add(rank->clock, time);
}

/* What a poll looks at: a request, or a sender and a tag. Two that are taken for one only wait earlier. */
static uint32_t polled_by(const struct wf_op *op)
{
    enum { SPREAD = 40503 };

    if (op->kind == WF_OP_IPROBE) {
        return ((uint32_t)op->peer * SPREAD ^ (uint32_t)op->tag) | UINT32_C(1) << 31;
    }
    return op->count > 0 || wf_op_info(op->kind)->detail == WF_WAIT_ONE
               ? wf_op_request_at(op, 0)
               : 0;
}

/* How many polls are too many for a program that only looks. */
static uint32_t patience(const struct wf_script_cold *cold)
{
    enum { TRUSTED = 16, FIRST = 128 };

    return wf_max_u32(cold->poll_trust ? TRUSTED : FIRST, 2 * (uint32_t)cold->poll_vain);
}

/* The program found something, or does something else. */
static void end_polling(const struct wf_rank_program *program, bool found)
{
    const struct wf_script_cold *cold = wf_rank_script_cold(program);

    if (cold->polling_ps == 0) {
        return;
    }
    struct wf_script_cold *edit = wf_rank_script_cold_edit(program);
    if (edit->polls > patience(edit)) { /* it waited */
        edit->poll_trust = found;
        edit->poll_vain = found ? edit->poll_vain : edit->polls;
    }
    edit->polling_ps = 0;
    edit->polls = 0;
    edit->poll_waits = false;
}

/* How long a poll waits. It is longer than measured times of the instructions between two polls, and
 * doubles up to a millisecond. After that it grows slowly: programs that poll so often may have other reasons,
 * but the time of those that poll for ever must come to its end. */
static int64_t next_wait(const struct wf_script_cold *cold)
{
    enum { PART = 64, UNTRUSTED_PART = 8 };
    const int64_t least = INT64_C(10000000), most = INT64_C(1000000000);

    if (!cold->poll_trust) {
        return cold->polling_ps / UNTRUSTED_PART / poll_ps * poll_ps;
    }
    return cold->polling_ps < most
               ? wf_max_i64(least, cold->polling_ps)
               : wf_max_i64(most, cold->polling_ps / PART) / poll_ps * poll_ps;
}

void wf_rank_poll_begin(const struct wf_rank_program *program, const struct wf_op *op)
{
    const struct wf_script_cold *cold = wf_rank_script_cold(program);

    if (!program->source->live || cold->poll_waits || cold->polls < patience(cold) ||
        cold->polled != polled_by(op)) {
        return;
    }
    struct wf_script_cold *edit = wf_rank_script_cold_edit(program);
    edit->poll_waits = true;
    edit->poll_from = program->who->rank->clock;
    wait_for(program, next_wait(edit));
}

/* Nothing was there. What was polled first may be polled no more: then another thing takes its place. */
static void count_poll(struct wf_script_cold *edit, uint32_t what)
{
    enum { SWEEP = 4096 };

    if (edit->polls == 0 || ++edit->poll_asks > SWEEP) {
        edit->polled = what;
    }
    if (edit->polled == what) {
        edit->polls = (uint16_t)(edit->polls + (edit->polls < UINT16_MAX ? 1 : 0));
        edit->poll_asks = 0;
    }
}

enum wf_called wf_rank_poll_end(const struct wf_rank_program *program, const struct wf_op *op,
                                enum wf_called called)
{
    struct wf_rank *rank = program->who->rank;
    bool waits = wf_rank_script_cold(program)->poll_waits;

    if (called == WF_CALLED_AGAIN && waits && rank->clock > wf_now(program->who->ctx)) {
        rank->state = WF_RANK_POLLING;
    }
    if (called != WF_CALLED_DONE || !program->source->live) {
        return called;
    }
    if (rank->found) {
        end_polling(program, true);
    } else {
        struct wf_script_cold *edit = wf_rank_script_cold_edit(program);
        edit->poll_waits = false;
        count_poll(edit, polled_by(op));
        wait_for(program, poll_ps);
    }
    return called;
}

void wf_rank_poll_over(const struct wf_rank_program *program)
{
    end_polling(program, false);
}

void wf_rank_poll_computes(const struct wf_rank_program *program, int64_t duration)
{
    if (duration > wf_rank_script_cold(program)->polling_ps) {
        wf_rank_poll_over(program);
    }
}

void wf_rank_poll_wake(const struct wf_caller *who, int64_t at)
{
    const struct wf_rank_program program = wf_rank_program_of(who);
    struct wf_rank *rank = who->rank;
    struct wf_script_cold *edit = wf_rank_script_cold_edit(&program);
    int64_t since = wf_max_i64(0, wf_max_i64(at, wf_now(who->ctx)) - edit->poll_from);
    int64_t saved =
        rank->clock - wf_time_add(edit->poll_from, (since + poll_ps - 1) / poll_ps * poll_ps);

    if (at != WF_TIME_MAX && saved > 0) {
        rank->clock -= saved;
        rank->wait_ps[WF_IN_RECV] -= saved;
        edit->polling_ps -= saved;
        rank->ticket++; /* the event at the end of the wait is stale */
        wf_rank_wake(who);
    }
}
