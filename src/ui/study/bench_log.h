/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What others measured, read from what benchmarks print: nccl-tests and rccl-tests, OSU
 * micro-benchmarks, the Intel MPI Benchmarks (IMB-MPI1), NetPIPE, STREAM, and HPL and HPCC. A file may
 * contain several outputs and lines of other programs; the table headers decide.
 */

#include "base/status.h"
#include "model/coll/coll.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wf_measured_what {
    WF_MEASURED_LATENCY,    /* of a message in one direction; seconds */
    WF_MEASURED_BANDWIDTH,  /* of messages in a row; bytes in a second */
    WF_MEASURED_BOTH_WAYS,  /* likewise, in both directions together */
    WF_MEASURED_COLLECTIVE, /* seconds */
    WF_MEASURED_STREAM,     /* memory bandwidth of a node, bytes in a second; one row */
    WF_MEASURED_HPL,        /* operations in a second; one row, whose `bytes` is N */
    WF_MEASURED_DGEMM,      /* likewise, of a process */
    WF_MEASURED_WHATS,
};

struct wf_measured_row {
    uint64_t bytes; /* as weft counts: one block of an allgather or alltoall */
    uint64_t printed;
    double value;
};

struct wf_measured_curve {
    enum wf_measured_what what;
    enum wf_coll_kind kind; /* of a collective */
    const char *tool;       /* "nccl-tests" */
    char name[48];          /* "allreduce", "osu_latency" */
    uint32_t ranks, nodes;  /* 0: the output does not say it */
    size_t line;            /* of its header */
    struct wf_measured_row *rows;
    size_t n, capacity;
    const char *path; /* of the file; belongs to the caller */
};

struct wf_measured_log {
    struct wf_measured_curve *curves;
    size_t n, capacity;
};

/* Adds the tables of a file to a log, zeroed at first. WF_EIO if it cannot be read; WF_EINVAL,
 * with the line, if a table lacks columns, or if there is no table. The caller releases
 * the log with wf_measured_log_fini(), also after an error; `path` must live as long. */
enum wf_status wf_measured_log_read(struct wf_measured_log *log, const char *path,
                                    struct wf_err *err);
void wf_measured_log_fini(struct wf_measured_log *log);
