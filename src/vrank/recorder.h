/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_RECORDER_H
#define WF_VRANK_RECORDER_H

/*
 * A program that runs and is written down at the same time: the simulation gets its ops, and a
 * trace gets them with what came of them, as if it had been recorded on the simulated machine.
 *
 * An op is written when its outcome is known. A receive that left something open may wait long
 * for its message, and what the rank does meanwhile is held until then; of too much of it, the
 * receive is written without its match.
 */

#include "ops/source.h"
#include "trace/writer.h"

struct wf_vrank_recorder_config {
    struct wf_source *program;      /* of wf_vrank_source_new(); taken */
    struct wf_trace_writer *writer; /* borrowed, used until the source is freed */
    /* How long a stretch of computing takes in the trace; null: as the program says. */
    int64_t (*duration)(const void *arg, int64_t ps);
    const void *arg;
};

struct wf_source *wf_vrank_recorder_new(const struct wf_vrank_recorder_config *config);

/* Writes what is still held, when the run is over. */
WF_NODISCARD
enum wf_status wf_vrank_recorder_finish(struct wf_source *tee, struct wf_err *err);

/* Ops that were written, and receives whose match is not in the trace. */
uint64_t wf_vrank_recorder_n_ops(const struct wf_source *tee);
uint64_t wf_vrank_recorder_n_unmatched(const struct wf_source *tee);

#endif
