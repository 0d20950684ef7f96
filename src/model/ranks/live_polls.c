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

/* A program that polls a few times and then does something else does not wait. The wait is longer
 * than measured times of the instructions between two polls, and doubles up to a millisecond. After
 * that it grows slowly: programs that poll so often may have other reasons, but the time of those
 * that poll for ever must come to its end. */
void wf_rank_poll_begin(const struct wf_rank_program *program)
{
    enum { AT_ONCE = 16, PART = 64 };
    const int64_t least = INT64_C(10000000), most = INT64_C(1000000000);
    const struct wf_script_cold *cold = wf_rank_script_cold(program);

    if (!program->source->live || cold->polls < AT_ONCE || cold->poll_waits) {
        return;
    }
    struct wf_script_cold *edit = wf_rank_script_cold_edit(program);
    edit->poll_waits = true;
    edit->poll_from = program->who->rank->clock;
    wait_for(program, edit->polling_ps < most
                          ? wf_max_i64(least, edit->polling_ps)
                          : wf_max_i64(most, edit->polling_ps / PART) / poll_ps * poll_ps);
}

enum wf_called wf_rank_poll_end(const struct wf_rank_program *program, enum wf_called called)
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
        wf_rank_poll_over(program);
    } else {
        struct wf_script_cold *edit = wf_rank_script_cold_edit(program);
        edit->poll_waits = false;
        edit->polls = (uint8_t)(edit->polls + (edit->polls < UINT8_MAX ? 1 : 0));
        wait_for(program, poll_ps);
    }
    return called;
}

void wf_rank_poll_over(const struct wf_rank_program *program)
{
    if (wf_rank_script_cold(program)->polling_ps != 0) {
        struct wf_script_cold *edit = wf_rank_script_cold_edit(program);
        edit->polling_ps = 0;
        edit->polls = 0;
        edit->poll_waits = false;
    }
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
