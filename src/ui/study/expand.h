/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A trace writer that passes ops on to another writer and turns collectives into point-to-point
 * messages (an extended trace, in the terms of INSEE). The algorithms are those that a replay
 * with the same settings chooses.
 *
 * The messages of a collective stay in its communicator, with tags from WF_EXPAND_TAG on, which
 * programs do not use, and requests from WF_EXPAND_REQUEST on. The creation of communicators is
 * passed on unchanged.
 *
 * A nonblocking collective makes progress by itself in a replay; a list of ops cannot express
 * that. Its first round of messages is written at the call, the others when the program waits
 * for it or a test finds it complete. Collectives in one wait proceed together, round by round.
 * A collective without a wait is completed at the end of the rank.
 */

#include "base/param.h"
#include "model/coll/coll.h"
#include "program/trace/writer.h"

/* The settings with scope "mpi" that choose algorithms, as in a replay (model/ranks/ranks.h). */
struct wf_expand_choice {
    int rules;                       /* enum wf_coll_rules */
    char *algorithms[WF_COLL_KINDS]; /* "auto": the rules choose */
};

extern const struct wf_param wf_expand_params[]; /* over struct wf_expand_choice */

/* WF_EUSAGE if an algorithm name is unknown, or names a formula without messages. */
enum wf_status wf_expand_check(const struct wf_expand_choice *choice, struct wf_err *err);

enum { WF_EXPAND_TAG = 0x7fff0000, WF_EXPAND_REQUEST = 0x40000000 };

/* Takes ownership of `inner`: finish() and discard() release both. The choice is borrowed until
 * then. The ops of each rank must be written together. */
struct wf_trace_writer *wf_expand_writer(struct wf_trace_writer *inner, uint32_t n_ranks,
                                         const struct wf_expand_choice *choice);
