/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What is in a trace: ranks, operations, messages, communicators, computing. Counting reads the
 * whole trace once and takes memory for a few counters of each rank.
 */

#include "result/doc.h"
#include "trace/facts.h"
#include "trace/reader.h"
#include "trace/weft/native.h"

#include <stdio.h>

struct wf_study_info {
    const char *name; /* borrowed, as the trace is */
    const struct wf_trace *trace;
    struct wf_trace_facts facts;
    struct wf_native_facts native; /* if is_native */
    bool is_native;
    struct wf_rank_facts least, most; /* of the ranks, each figure by itself */
    int64_t longest_wall;             /* the longest recorded time of a rank; -1: unknown */
};

/* Counts. If the trace cannot be read to its end, `info` holds what was read, and the status
 * says what is wrong. Release with wf_study_info_fini() in any case. */
WF_NODISCARD
enum wf_status wf_study_info_init(struct wf_study_info *info, const char *name,
                                  struct wf_trace *trace, struct wf_err *err);
void wf_study_info_fini(struct wf_study_info *info);

/* Writes the figures as text, with a table of the ranks if `per_rank` is set. */
void wf_study_info_print(const struct wf_study_info *info, bool per_rank, FILE *out);

/* The document of docs/reference/info.md; the caller frees it. */
struct wf_value *wf_study_info_document(const struct wf_study_info *info, bool per_rank);
