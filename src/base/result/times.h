/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The words for kinds of time (base/result/times.def), in the order in which reports show them. Both
 * tables end with a null path. */

/* The times of a rank. */
struct wf_result_rank_time {
    const char *path, *mean; /* in a document: a spread, and its mean */
    const char *words;       /* "waiting in sends" */
    const char *verb;        /* "waits in sends" */
};
extern const struct wf_result_rank_time wf_result_rank_times[];

/* The shares of the critical path. */
struct wf_result_path_time {
    const char *path;  /* in a document */
    const char *words; /* "CPU time to send" */
    const char *brief; /* "sending" */
};
extern const struct wf_result_path_time wf_result_path_times[];
