/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Workloads: files of jobs that were or are to be submitted to a machine, for model/queue. A
 * format is one file with a const struct wf_workload_reader and one line in readers.def.
 */

#include "base/status.h"
#include "model/queue/queue.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct wf_workload_options {
    uint32_t n_nodes;  /* of the machine; 0: what the file says */
    uint32_t per_node; /* processors that make a node; 0: what the file says, else 1 */
    bool skip;     /* leave out jobs that lack something or do not fit, instead of failing */
    uint64_t seed; /* for classes of jobs */
};

struct wf_workload {
    struct wf_queue_jobs jobs;
    const char *format;
    uint32_t n_nodes, per_node; /* as used */
    uint64_t n_not_run;         /* jobs that ended before they began, or have not begun */
    uint64_t n_skipped;         /* jobs left out because of `skip` */
    uint64_t n_unlimited;       /* jobs without a requested time: their real time is used */
    uint64_t n_cut;             /* jobs that ran longer than they requested */
    bool has_priorities;        /* they are not all the same */
};

/* Reads and checks a file; the caller releases *out. Mistakes are WF_EINVAL with file and line. */
enum wf_status wf_workload_read(const char *path, const struct wf_workload_options *options,
                                struct wf_workload *out, struct wf_err *err);
void wf_workload_fini(struct wf_workload *workload);

/* Prints the formats, for help. */
void wf_workload_list(FILE *out);
