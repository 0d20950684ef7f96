/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Records a running program: a source that passes the program's ops to the simulation and
 * writes them to a trace, with their outcomes, as if they had been recorded on the simulated
 * machine.
 *
 * An op is written when its outcome is known. A receive with a wildcard may wait long for its
 * message; the ops after it are held in memory until then. If there are too many, the receive
 * is written without its match.
 */

#include "ops/source.h"
#include "trace/writer.h"

struct wf_vrank_recorder_config {
    struct wf_source *program;      /* of wf_vrank_source_new(); taken */
    struct wf_trace_writer *writer; /* borrowed; used until the source is freed */
    /* How long a computation takes in the trace; null: as the program says. */
    int64_t (*duration)(const void *arg, int64_t ps);
    const void *arg;
};

struct wf_source *wf_vrank_recorder_new(const struct wf_vrank_recorder_config *config);

/* Writes the ops that are still held. Called when the run is over. */
WF_NODISCARD
enum wf_status wf_vrank_recorder_finish(struct wf_source *recorder, struct wf_err *err);

/* How many ops were written, and how many receives without their match. */
uint64_t wf_vrank_recorder_n_ops(const struct wf_source *recorder);
uint64_t wf_vrank_recorder_n_unmatched(const struct wf_source *recorder);
