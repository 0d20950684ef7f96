/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Runs of TraceR (https://github.com/hpcgroup/TraceR): its configuration file names the traces
 * of all jobs and the files that map their ranks to cores. Used as the source of a scenario, it
 * stands for the settings of all these jobs.
 *
 *   <global map file, or NA>
 *   <number of jobs>
 *   <trace> <map file, or NA> <ranks> [<iterations>]    one line for each job; iterations of
 *                                                       the loop that the trace marks
 *   E <job> <event> <seconds>                           any number of such lines
 *   M <job> <limit> <bytes> | S <job> <size> <bytes> | T <limit> <seconds>
 *
 * Paths are relative to the directory of the file, or else to the working directory, which is
 * what TraceR takes them for.
 *
 * TraceR calls cores "servers" and numbers them through: first those of the first switch. The
 * servers of a switch are dealt to its nodes in turn. A map file of a job has the server of
 * each rank; the global map file has server, rank and job of every rank. All are 32-bit
 * numbers, least significant byte first.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_scenario;
struct wf_topo;

enum { WF_TRACER_BYTES_MAX = 1 << 20, WF_TRACER_CHANGES_MAX = 4096 };

struct wf_tracer_job {
    char *trace;
    char *map; /* null: none */
    uint32_t ranks, iterations;
    uint32_t line; /* of the configuration */
};

/* A line that changes what a trace says. */
struct wf_tracer_change {
    char kind;     /* E, M, S or T */
    uint32_t job;  /* 0 for T */
    char *event;   /* of E; null otherwise */
    double limit;  /* of M, S and T; 0 for E */
    double number; /* the last one of the line */
    uint32_t line;
};

struct wf_tracer {
    char *label;      /* name of the configuration in messages */
    char *global_map; /* null: none */
    struct wf_tracer_job *jobs;
    uint32_t n_jobs;
    struct wf_tracer_change *changes;
    size_t n_changes;
};

/* Reads a configuration. `label` is its path, to which the paths in it are relative. A failure
 * is WF_EINVAL and begins with `label:line:`; then nothing is left to release. */
enum wf_status wf_tracer_parse(const char *label, const char *text, size_t size,
                               struct wf_tracer **out, struct wf_err *err);
/* The same for a file, which may also be WF_EIO. */
enum wf_status wf_tracer_load(const char *path, struct wf_tracer **out, struct wf_err *err);
void wf_tracer_free(struct wf_tracer *tracer); /* null is allowed */

/* The path of the configuration that a source names: the file itself, or tracer_config in a
 * directory. Null if it is neither; the caller frees it. */
char *wf_tracer_find(const char *source);

/* The path of a file that the configuration names; the caller frees it. */
char *wf_tracer_path(const struct wf_tracer *tracer, const char *name);

/* Whether a source, and so the whole scenario, is a run of TraceR. If so, *out is a copy of the
 * scenario, which the caller frees, with the settings of all jobs in place of the source;
 * otherwise null. Settings that the scenario has already are not changed. Refuses lines of the
 * configuration that have no counterpart. */
enum wf_status wf_tracer_expand(const struct wf_scenario *scenario, struct wf_scenario **out,
                                struct wf_err *err);

/* A job of the configuration at `path`, and the machine it runs on; `topo` may be null. */
struct wf_tracer_placing {
    const char *path;
    uint32_t job, n_ranks, ranks_per_node;
    uint32_t n_nodes;
    const struct wf_topo *topo;
};

/* Sets the node of each rank of the job, as the map files have it; without map files, the jobs
 * get the servers in their order. Where nodes are not attached to switches, or not the same
 * number to each, the servers of a node follow each other. */
enum wf_status wf_tracer_place(const struct wf_tracer_placing *placing, uint32_t *node_of,
                               struct wf_err *err);
