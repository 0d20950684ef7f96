/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What events of ranks leave for their commit. Private to ranks/. */

#include "model/ranks/caller.h"

/* The note that an event leaves for its commit; at most one for each event (rank.noted). */
struct wf_node_note {
    uint16_t what, job; /* enum wf_node_noted; job of the region or iteration */
    uint32_t number;    /* number of the region or iteration */
    int64_t at;         /* when the rank passed the mark; or the latency of the message */
    int64_t time;       /* time spent in the region; absent for messages */
};

enum wf_node_noted { WF_NOTED_LATENCY, WF_NOTED_REGION, WF_NOTED_BEGIN, WF_NOTED_END };

/* A message that departed from rank `from` at this time has arrived. */
void wf_node_note_message(const struct wf_caller *to, const struct wf_sent *sent);

/* In commit: counts a note. The event is final, so ranks need not keep the note and nothing is
 * undone. */
void wf_node_commit_note(const struct wf_ranks *ranks, const void *note, struct wf_ctx *ctx);
