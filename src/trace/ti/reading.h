/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_TI_READING_H
#define WF_TRACE_TI_READING_H

/* What is known while a time-independent trace is read. */

#include "base/buf.h"
#include "trace/kit/open_requests.h"
#include "trace/kit/records.h"
#include "trace/kit/spool.h"
#include "trace/ti/text.h"

enum { WF_TI_ACTIONS_MAX = 64, WF_TI_VECTORS = 2 };

/* A rank on its way. */
struct wf_ti_rank {
    bool has_lines, is_finished, by_double; /* datatype that is meant without one */
    struct wf_open_requests *requests;
};

struct wf_ti_reading {
    double flop_rate;
    char **paths;
    uint32_t n_paths;
    bool by_rank; /* a file each */
    uint32_t n_ranks;
    struct wf_ti_rank *ranks;
    struct wf_records *records;
    uint32_t names[WF_TI_ACTIONS_MAX];
    struct wf_spool *spool;
    uint64_t n_types; /* datatypes that are not known */
    struct wf_buf vectors[WF_TI_VECTORS], numbers;
    struct wf_ti_text text;
    struct wf_err *err;
};

/* Writes what the line that was read says, and counts it. */
WF_NODISCARD
enum wf_status wf_ti_line(struct wf_ti_reading *r);

#endif
