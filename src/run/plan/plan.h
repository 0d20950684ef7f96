/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A scenario after interpretation: every name is resolved, every value checked, every default
 * filled in.
 */

#include "engine/config.h"
#include "model/ranks/tally.h"
#include "program/ops/source.h"
#include "run/plan/placement.h"
#include "run/scenario/scenario.h"

struct wf_bench_ops;
struct wf_graph;
struct wf_graph_ops;
struct wf_net_ops;
struct wf_reader_ops;
struct wf_reader_probe;
struct wf_topo;
struct wf_value;

/* What executes a model. Only synthetic traffic on routers has a choice. */
enum wf_exec { WF_EXEC_AUTO, WF_EXEC_EVENTS, WF_EXEC_LOCKSTEP, WF_EXEC_GPU };
extern const char *const wf_exec_names[]; /* null-terminated */

/* The parameters of one scope. */
struct wf_plan_block {
    const char *scope;
    const struct wf_param *table;
    void *values;
};

enum { WF_PLAN_BLOCKS_MAX = 10 };

/* A program. */
struct wf_plan_job {
    struct wf_scenario_job *settings;     /* for the first job, those of plan->core */
    const struct wf_source_ops *gen;      /* either this... */
    const struct wf_graph_ops *graph_gen; /* ...or this... */
    struct wf_reader_probe *probe;        /* ...or these, for a trace... */
    const struct wf_reader_ops *reader;
    bool program;               /* ...or a program to run (run/program/program.h) */
    bool extrapolated;          /* ...or traces at other numbers of ranks */
    struct wf_plan_block block; /* the generator's or reader's parameters; empty if none */
    struct wf_placement placement;
    uint32_t n_ranks;         /* or PEs */
    struct wf_fold fold;      /* which ranks each rank stands for (run/execute/fold.c) */
    struct wf_source *source; /* either this, perhaps only a part of the trace... */
    struct wf_graph *graph;   /* ...or this */
};

struct wf_plan {
    const struct wf_scenario *scenario; /* what the caller gave, or... */
    struct wf_scenario *expanded; /* ...with the jobs of TraceR (import/tracer.h); or null */
    struct wf_scenario_core core;
    struct wf_engine_config engine;
    int exec;                         /* enum wf_exec */
    int device;                       /* index into wf_gpu_names */
    const struct wf_bench_ops *bench; /* either this... */
    const char *pattern;              /* ...or this and the network... */
    const struct wf_net_ops *net;     /* ...or all of these; topo may be null */
    struct wf_plan_job *jobs;         /* [n_jobs] */
    uint32_t n_jobs;
    struct wf_topo *topo;
    struct wf_plan_block blocks[WF_PLAN_BLOCKS_MAX];
    size_t n_blocks;
};

/* Makes a plan. On failure nothing is left to release. The plan keeps a pointer to
 * `scenario`. */
enum wf_status wf_plan_init(struct wf_plan *plan, const struct wf_scenario *scenario,
                            struct wf_err *err);
void wf_plan_fini(struct wf_plan *plan);

/* The parameter struct of a scope; null if the plan has none. */
void *wf_plan_values(const struct wf_plan *plan, const char *scope);

/* Whether programs run, and not their record or a trace. */
bool wf_plan_runs_programs(const struct wf_plan *plan);

/* Whether a setting from a file was skipped, because it does not apply to the network model or
 * topology that was chosen later in place of the file's. */
bool wf_plan_skips(const struct wf_plan *plan, const struct wf_setting *setting);

/* For a failure after the plan was made: adds the place of the setting whose key begins the
 * message ("net.bandwidth: ..."), or else of the setting `key`, if it comes from a file.
 * Returns the status. */
enum wf_status wf_plan_blame(const struct wf_plan *plan, const char *key, enum wf_status status,
                             struct wf_err *err);

/* Adds the section `scenario` to a document. It is the same for every schedule. */
void wf_plan_describe(const struct wf_plan *plan, struct wf_value *root);

/* Adds a section with the values of one scope, under `name`. */
void wf_plan_describe_block(const struct wf_plan *plan, const char *scope,
                            struct wf_value *parent, const char *name);
