/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Records a running program: a source that passes the program's ops to the simulation and
 * writes them to one or two traces, with their outcomes, as if they had been recorded on the
 * simulated machine.
 *
 * An op is written when its outcome is known. A receive with a wildcard may wait long for its
 * message; the ops after it are held in memory until then. If there are too many, the receive
 * is written without its match.
 */

#include "program/ops/source.h"
#include "program/trace/writer.h"

/* A trace that is written. */
struct wf_vrank_record {
    struct wf_trace_writer *writer; /* borrowed; used until wf_vrank_recorder_finish() */
    /* How long a computation takes in the trace; null: as the program says. */
    int64_t (*duration)(const void *arg, int64_t ps);
    const void *arg;
    bool optional; /* if it cannot be written, the program goes on without it */
};

enum { WF_VRANK_RECORDS_MAX = 2 };

struct wf_vrank_recorder_config {
    struct wf_source *program; /* of wf_vrank_source_new(); taken */
    struct wf_vrank_record records[WF_VRANK_RECORDS_MAX];
    uint32_t n_records;
};

struct wf_source *wf_vrank_recorder_new(const struct wf_vrank_recorder_config *config);

/* Writes the ops that are still held. Called when the run is over; no op may be asked for
 * afterwards. */
enum wf_status wf_vrank_recorder_finish(struct wf_source *source, struct wf_err *err);

/* Whether everything was written to this record so far; if not, `err` tells why. */
bool wf_vrank_recorder_keeps(const struct wf_source *recorder, uint32_t record,
                             struct wf_err *err);

/* How many ops were written, and how many receives without their match. */
uint64_t wf_vrank_recorder_n_ops(const struct wf_source *recorder);
uint64_t wf_vrank_recorder_n_unmatched(const struct wf_source *recorder);
