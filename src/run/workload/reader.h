/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The interface of formats of workloads, and what they share. */

#include "base/buf.h"
#include "run/workload/workload.h"

struct wf_workload_reading {
    const char *path;
    const struct wf_workload_options *options;
    struct wf_workload *out;
    char *text, *rest; /* of the file, NUL-terminated; where the next line begins, or null */
    size_t size;
    uint64_t line;   /* the current one, from 1 */
    uint64_t *lines; /* by job: where it stands */
    size_t lines_capacity;
    struct wf_err *err;
};

struct wf_workload_reader {
    const char *name, *summary;
    /* Whether a file looks like one of this format. The last reader of the list takes all. */
    bool (*probe)(const char *path, const char *text);
    enum wf_status (*read)(struct wf_workload_reading *r);
};

#define WF_WORKLOAD_READER(name) extern const struct wf_workload_reader wf_workload_##name;
#include "run/workload/readers.def"

/* The next line of the text, without its end, which may be changed; null after the last. */
char *wf_workload_line(struct wf_workload_reading *r);

/* WF_EINVAL with words after "FILE:LINE: ". */
WF_PRINTF(2, 3)
enum wf_status wf_workload_bad(struct wf_workload_reading *r, const char *fmt, ...);

/* The same for a job that --skip leaves out: counts it and returns WF_OK if that is set. */
WF_PRINTF(2, 3)
enum wf_status wf_workload_lacks(struct wf_workload_reading *r, const char *fmt, ...);

/* Adds a job of the current line; `name` is copied. A requested time of 0 means that none was requested. */
void wf_workload_add(struct wf_workload_reading *r, const char *name, struct wf_queue_job job);

/* Seconds, such as "12" or "0.5", as microseconds. False if it is no number from 0 to 10^10. */
bool wf_workload_seconds(const char *text, int64_t *us);
