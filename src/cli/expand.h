/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_EXPAND_H
#define WF_CLI_EXPAND_H

/*
 * A writer in front of another one that writes collectives as the point-to-point messages they
 * mean: what INSEE calls an extended trace. Algorithms are those that the rules of an MPI
 * implementation choose, as in a replay.
 *
 * The messages of a collective stay in its communicator, with tags from WF_EXPAND_TAG that
 * programs do not use, and requests from WF_EXPAND_REQUEST. Nonblocking collectives, which go
 * on while the program does something else, and the making of communicators stay as they are.
 */

#include "coll/coll.h"
#include "trace/writer.h"

enum { WF_EXPAND_TAG = 0x7fff0000, WF_EXPAND_REQUEST = 0x40000000 };

/* Takes `inner`: finish() and discard() release both. */
struct wf_trace_writer *wf_expand_writer(struct wf_trace_writer *inner, uint32_t n_ranks,
                                         enum wf_coll_rules rules);

#endif
