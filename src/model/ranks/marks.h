/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * When the ranks of each job passed the marks of its program: regions, and the beginnings and
 * ends of iterations. The size is fixed: the first regions and the first iterations of a job
 * are kept, and its last iteration.
 */

#include "model/ranks/stat.h"

#include <stdbool.h>

enum {
    WF_MARKS_JOBS = 16,
    WF_MARKS_REGIONS = 64, /* regions of a job that are kept */
    WF_MARKS_MAX = 2048,   /* beginnings and ends of iterations, all jobs together */
};

/* A region of a job. */
struct wf_region_marks {
    struct wf_stat time; /* time that a rank spent in it, added each time the rank left it */
    int64_t first, last; /* when it was first entered and last left, if time.n > 0 */
};

/* When the ranks of a job passed the k-th beginning or end of an iteration. */
struct wf_iteration_mark {
    uint32_t job, number, is_end, padding;
    struct wf_stat time;
};

/* All zero means empty. */
struct wf_marks {
    struct wf_region_marks regions[WF_MARKS_JOBS][WF_MARKS_REGIONS]; /* by number */
    struct wf_iteration_mark last[WF_MARKS_JOBS]
                                 [2]; /* beginning and end of the last iteration */
    struct wf_iteration_mark
        list[WF_MARKS_MAX]; /* marks of the first iterations: by job, number, begin, end */
    uint64_t n;             /* entries used */
};

/* The number of iterations that are kept for each of n_jobs jobs, besides the last. */
static inline uint32_t wf_marks_kept(uint32_t n_jobs)
{
    return WF_MARKS_MAX / 2 / n_jobs;
}

/* A rank left a region that it had entered `time` before. */
void wf_marks_region(struct wf_marks *marks, uint32_t job, uint32_t number, int64_t left,
                     int64_t time);
/* A rank passes the beginning or end of an iteration; `kept` is the same for the whole run. */
void wf_marks_pass(struct wf_marks *marks, const struct wf_iteration_mark *mark, uint32_t kept,
                   int64_t time);
/* Renumbers the regions of a job: region i becomes numbers[i]. */
void wf_marks_renumber(struct wf_marks *marks, uint32_t job,
                       const uint32_t numbers[WF_MARKS_REGIONS]);
void wf_marks_merge(struct wf_marks *into, const struct wf_marks *from);

/* Whether the job has marked anything. */
bool wf_marks_any(const struct wf_marks *marks, uint32_t job);
