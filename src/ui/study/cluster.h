/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A workload on a machine under one or more scheduling policies, and what is said about it: text,
 * document, table of jobs, Gantt chart and page. */

#include "model/queue/queue.h"
#include "run/workload/workload.h"

#include <stdio.h>

struct wf_topo;

/* As the user wrote it; null or 0: not given. */
struct wf_cluster_options {
    const char *path;    /* of the workload */
    const char *machine; /* name or file */
    const char *topo;
    uint64_t nodes, per_node, seed;
    const char *policies, *placement;
    const char *fail, *checkpoint, *restart;
    uint64_t retries;
    bool skip;
};

enum { WF_CLUSTER_FIGURES = 14 };

/* What a policy gave. */
struct wf_cluster_run {
    const struct wf_queue_policy *policy;
    struct wf_queue_result result;
    double figures[WF_CLUSTER_FIGURES];
};

enum { WF_CLUSTER_RUNS_MAX = 16 };

struct wf_cluster {
    const struct wf_cluster_options *options;
    struct wf_workload workload;
    char *topo_spec; /* null: none */
    struct wf_topo *topo;
    struct wf_failure_class failures; /* without a law: none */
    struct wf_queue_config config;
    struct wf_cluster_run runs[WF_CLUSTER_RUNS_MAX];
    size_t n_runs;
};

/* Reads the workload and the machine, and runs every policy. `options` is kept. The caller
 * releases *out, on success only. */
enum wf_status wf_cluster_run(const struct wf_cluster_options *options, struct wf_cluster *out,
                              struct wf_err *err);
void wf_cluster_fini(struct wf_cluster *cluster);

/* Prints policies, placements and formats, for help. */
void wf_cluster_list(FILE *out);

/* What is left out or assumed, a sentence each; null after the last. Returns `buf`. */
enum { WF_CLUSTER_NOTE_MAX = 160 };
const char *wf_cluster_note(const struct wf_cluster *cluster, size_t i, char *buf);

/* A figure of a run in words, "2.50 h"; and its name in tables. */
enum { WF_CLUSTER_FIGURE_MAX = 48 };
const char *wf_cluster_figure(const struct wf_cluster_run *run, size_t i, char *buf);
const char *wf_cluster_figure_name(size_t i);
/* Whether it says anything of these runs. */
bool wf_cluster_has_figure(const struct wf_cluster *cluster, size_t i);

/* ---- output ---- */

struct wf_cluster_format {
    const char *extension;
    void (*write)(const struct wf_cluster *cluster, FILE *out);
};

void wf_cluster_text(const struct wf_cluster *cluster, FILE *out);
void wf_cluster_json(const struct wf_cluster *cluster, FILE *out);
/* A line for each job and policy. */
void wf_cluster_csv(const struct wf_cluster *cluster, FILE *out);
/* Nodes over time, a panel for each policy. */
void wf_cluster_gantt(const struct wf_cluster *cluster, FILE *out);

const char *wf_cluster_extension(size_t i);
enum wf_status wf_cluster_for_path(const char *path, const struct wf_cluster_format **out,
                                   struct wf_err *err);
