/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A machine that jobs queue for: a plain discrete simulation, event by event, of arrivals, starts
 * and ends. Jobs have their recorded time; the network is not simulated. Times are microseconds
 * from the first submission, because a year in picoseconds does not fit in 64 bits.
 *
 * A policy (policy.h) decides which jobs start, a placement (nodes.h) on which nodes. The result
 * is a function of the configuration: no clock, no floating point in simulated time.
 */

#include "base/status.h"
#include "model/failure/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_topo;
struct wf_queue_place;
struct wf_queue_policy;

struct wf_queue_job {
    char *name;
    int64_t submit;    /* from the first submission */
    int64_t run;       /* real time */
    int64_t requested; /* time after which the scheduler ends it; at least 1 */
    uint32_t nodes;    /* at least 1 */
    int32_t priority;  /* larger is sooner, for policies that look at it */
};

/* Sorted by time of submission. The sum of all requested times and the last submission is below
 * WF_QUEUE_TIME_MAX, so that no simulated time overflows. */
struct wf_queue_jobs {
    struct wf_queue_job *items;
    size_t n, capacity;
};

#define WF_QUEUE_TIME_MAX (INT64_MAX / 4)
/* No such time, node or job. */
#define WF_QUEUE_NEVER INT64_MAX
#define WF_QUEUE_NONE  UINT32_MAX

enum { WF_QUEUE_NODES_MAX = 1 << 24, WF_QUEUE_JOBS_MAX = 1 << 24 };

void wf_queue_jobs_fini(struct wf_queue_jobs *jobs);

struct wf_queue_config {
    const struct wf_queue_jobs *jobs;
    uint32_t n_nodes;
    const struct wf_queue_policy *policy;
    const struct wf_queue_place *place;
    uint64_t seed;
    const struct wf_topo *topo; /* null: none. Node i is the vertex of its first interface */
    uint32_t nics, nic_group;   /* as in model/net/ends.h; 1 without a topology */
    /* Nodes that fail end their job, which waits again with what is left of it after its last
     * checkpoint. Null: none does. `count` is the number of nodes. */
    const struct wf_failure_class *failures;
    int64_t checkpoint; /* run time from one checkpoint to the next; 0: there are none */
    int64_t restart;    /* that a job takes longer after a failure */
    uint64_t retries;   /* after so many failures more, a job is given up */
    bool keep_nodes;    /* fill in the ranges of the result */
};

/* What became of a job. */
struct wf_queue_outcome {
    int64_t start, end; /* of its first and its last run */
    int64_t ran;        /* time on nodes in all runs */
    int64_t lost;       /* of that, time that failures made useless */
    uint32_t failures;
    bool given_up;
    uint32_t groups; /* that its nodes are in; 0 without a topology */
    double hops;     /* mean distance of pairs of its nodes, from a sample of pairs */
};

/* The job of nodes that are being repaired. */
#define WF_QUEUE_DOWN (UINT32_MAX - 1)

/* A job on its nodes, from a start to an end. */
struct wf_queue_span {
    uint32_t job;
    int64_t start, end;
    size_t first_range, n_ranges;
};

struct wf_queue_range {
    uint32_t first, last;
};

struct wf_queue_result {
    struct wf_queue_outcome *outcomes; /* by job */
    struct wf_queue_span *spans;       /* by start; only with keep_nodes, as are ranges */
    struct wf_queue_range *ranges;
    size_t n_spans, spans_capacity, n_ranges, ranges_capacity;
};

/* Runs all jobs, which fit on the machine. The caller releases *out. The time of an event is what its
 * policy and placement take; besides, to start or end a job takes the logarithm of their number and
 * moves the jobs and runs of free nodes behind it. */
void wf_queue_run(const struct wf_queue_config *config, struct wf_queue_result *out);
void wf_queue_result_fini(struct wf_queue_result *result);
