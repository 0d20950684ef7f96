/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/notes.h"

#include "model/ranks/node_totals.h"

#include <string.h>

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

void wf_node_commit_note(const struct wf_ranks *ranks, const void *at, struct wf_ctx *ctx)
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
