/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * When the ranks of each job passed the marks of its program: regions, and the beginnings and
 * ends of iterations. The size is fixed: the first regions of each job are kept, its last
 * iteration, and a share of the first iterations that gets smaller the more jobs there are.
 */

#include "model/ranks/stat.h"

#include <stdbool.h>

enum {
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

/* Of one job. All zero means empty. */
struct wf_job_marks {
    struct wf_region_marks regions[WF_MARKS_REGIONS]; /* by number */
    struct wf_iteration_mark last[2];                 /* begin and end of the last iteration */
};

/* The first iterations of all jobs. All zero means empty. */
struct wf_marks {
    struct wf_iteration_mark list[WF_MARKS_MAX]; /* by job, number, begin, end */
    uint64_t n;                                  /* entries used */
};

/* The number of iterations that are kept for each of n_jobs jobs, besides the last. */
static inline uint32_t wf_marks_kept(uint32_t n_jobs)
{
    return WF_MARKS_MAX / 2 / n_jobs;
}

/* A rank left a region that it had entered `time` before. */
void wf_marks_region(struct wf_job_marks *job, uint32_t number, int64_t left, int64_t time);
/* A rank of the job passes the beginning or end of an iteration, of which `kept` are kept. */
void wf_marks_pass(struct wf_marks *marks, struct wf_job_marks *job,
                   const struct wf_iteration_mark *mark, uint32_t kept, int64_t time);
/* Renumbers the regions of a job: region i becomes numbers[i]. */
void wf_marks_renumber(struct wf_job_marks *job, const uint32_t numbers[WF_MARKS_REGIONS]);
void wf_marks_merge(struct wf_marks *into, const struct wf_marks *from);
void wf_marks_merge_job(struct wf_job_marks *into, const struct wf_job_marks *from);

/* Whether the job has marked anything. */
bool wf_marks_any(const struct wf_job_marks *job);
