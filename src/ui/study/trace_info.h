/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The contents of a trace: ranks, operations, messages, communicators, computing. Counting
 * reads the whole trace once and needs memory for a few counters per rank.
 */

#include "base/result/doc.h"
#include "program/trace/facts.h"
#include "program/trace/reader.h"
#include "program/trace/weft/native.h"

#include <stdio.h>

struct wf_study_info {
    const char *name; /* borrowed, like the trace */
    const struct wf_trace *trace;
    struct wf_trace_facts facts;
    struct wf_native_facts native; /* valid if is_native */
    bool is_native;
    struct wf_rank_facts least, most; /* minimum and maximum of each figure over the ranks */
    int64_t longest_wall;             /* maximum recorded time of a rank; -1: unknown */
};

/* Counts the contents of a trace; `pass` hears how far it is. If it cannot be read to its end, `info` holds what was
 * read, and the status and message describe the error. Release with wf_study_info_fini() in
 * any case. */
enum wf_status wf_study_info_init(struct wf_study_info *info, const char *name,
                                  struct wf_trace *trace, const struct wf_pass *pass,
                                  struct wf_err *err);
void wf_study_info_fini(struct wf_study_info *info);

/* Writes the figures as text, with a table of the ranks if `per_rank` is set. */
void wf_study_info_print(const struct wf_study_info *info, bool per_rank, FILE *out);

/* The document of docs/reference/info.md; the caller frees it. */
struct wf_value *wf_study_info_document(const struct wf_study_info *info, bool per_rank);
