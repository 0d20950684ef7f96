/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The files of a BigSim trace, taken apart: the summary `bgTrace`, and bgTrace0, bgTrace1 and
 * so on with the logs of the processing elements (PEs). A log is an uninterrupted span of a PE's
 * time. The first failure is kept in `err`; after it there are no more logs.
 */

#include "base/buf.h"
#include "program/trace/kit/infile.h"

enum {
    WF_BIGSIM_MAGIC_BYTES = 4,
    WF_BIGSIM_NAME_BYTES = 20,
    WF_BIGSIM_STARTS = 1, /* flag of the log at which the simulation starts */
    WF_BIGSIM_ALL = -1,
    WF_BIGSIM_ALL_BUT = -100, /* all nodes but -100 - number */
};

extern const unsigned char wf_bigsim_magic[WF_BIGSIM_MAGIC_BYTES];

struct wf_bigsim_trace {
    const char *path; /* of the summary; numbers after it name the other files */
    uint32_t n_pes, n_threads, n_files;
    int32_t version;
};

struct wf_bigsim_message {
    int32_t number, node, thread;
    double time;
    uint64_t bytes;
};

struct wf_bigsim_log {
    int32_t source, message; /* that starts it: a PE and a number; -1: none */
    double start, duration;  /* seconds */
    unsigned flags;
    char name[WF_BIGSIM_NAME_BYTES + 1];
    uint32_t n_messages, n_before;
    struct wf_buf messages; /* struct wf_bigsim_message */
    struct wf_buf before;   /* uint32_t: logs of the PE that must be over */
};

/* One of the files with logs. */
struct wf_bigsim_file {
    struct wf_infile in;
    const struct wf_bigsim_trace *trace;
    uint32_t number, n_pes;
    uint32_t n, next; /* logs of the PE that is read, and the next of them */
    uint64_t used;    /* bytes of all logs that were read */
};

/* Reads the summary and checks that the files are there. The trace keeps the path. */
void wf_bigsim_open(struct wf_bigsim_trace *trace, const char *path, struct wf_err *err);

/* The number of the file with the logs of a PE. */
uint32_t wf_bigsim_file_of(const struct wf_bigsim_trace *trace, uint32_t pe);

void wf_bigsim_file_open(struct wf_bigsim_file *file, const struct wf_bigsim_trace *trace,
                         uint32_t number, struct wf_err *err);
void wf_bigsim_file_close(struct wf_bigsim_file *file); /* zeroed is allowed */

/* Goes to the logs of one of its PEs. */
void wf_bigsim_pe(struct wf_bigsim_file *file, uint32_t pe);

/* Reads the next log of the PE; false if there is none. The log is zeroed before the first time
 * and released with wf_bigsim_log_fini(). Logs of a file that share bytes are refused, so that
 * reading each PE once takes no more time than the file is long. */
bool wf_bigsim_next(struct wf_bigsim_file *file, struct wf_bigsim_log *log);
void wf_bigsim_log_fini(struct wf_bigsim_log *log);
