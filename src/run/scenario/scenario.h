/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The description of a simulation: keys and values in the order in which they were given. If a
 * key occurs several times, the last value counts. A key is one of
 *
 *   network, topology, seed, efficiency, runs, until
 *   source, ranks, ranks_per_node, placement, start, repeat, region, iterations,
 *   repeat_iteration, loops, changes: settings of the first program
 *   <scope>.<name>, a parameter: net.L, gen.bytes, trace.flop_rate, engine.threads
 *   job.<number>.<name>, number from 1 on: a setting of another program that runs at the same
 *   time (job.1.source), or a parameter of its generator or trace format (job.1.gen.bytes)
 *   uncertainty.<scope>.<name>: how well a parameter is known (run/scenario/uncertainty.h)
 *
 * The valid parameters depend on the source and the network, so values are checked when all
 * settings are known, by wf_sim_run().
 */

#include "base/param.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_setting {
    char *key;
    char *value;
    char *origin; /* its name in messages: "--threads" */
    /* For settings from a file; null and false otherwise. */
    char *place;        /* its position: "bgp.yaml:12:3" */
    char *model;        /* for net.*: the network model it was written for */
    bool with_topology; /* one value per level of the topology in the same file */
    bool implied; /* from a machine file, or chosen by weft for a report: not the user's own */
};

struct wf_scenario {
    struct wf_setting *settings;
    size_t n;
    char *
        machine; /* the machine file that settings came from, as the user named it; may be null */
    /* Lines for the user: what files of other simulators say and the settings do not. */
    char **notes;
    size_t n_notes;
};

/* A program, and where and when it runs. */
struct wf_scenario_job {
    char *source;   /* "gen:stencil3d", "bench:phold", or the path of a trace */
    uint64_t ranks; /* 0: not given */
    uint64_t ranks_per_node;
    char *placement; /* in the syntax of run/plan/placement.h */
    int64_t start;   /* picoseconds */
    uint64_t repeat;
    char *region, *iterations; /* the part that is replayed; "" is all */
    uint64_t repeat_iteration;
    uint64_t loops; /* how often a loop is played (program/ops/looped.h) */
    char *changes;  /* of times and sizes (program/ops/changed.h); "" is none */
};

/* The settings of the scenario itself. */
struct wf_scenario_core {
    struct wf_scenario_job job; /* the first one; the others have keys job.<number>.<name> */
    char *network;
    char *topology; /* "" is none */
    uint64_t seed;
    bool efficiency;
    bool alone;
    uint64_t runs; /* repeated runs for error bars; 0: none */
    int64_t until; /* simulated time at which the run stops; 0: when the programs end */
};

extern const struct wf_param wf_scenario_params[]; /* over struct wf_scenario_core */

/* The last rows of that table, which apply to struct wf_scenario_job. */
const struct wf_param *wf_scenario_job_params(void);

/* The number of the last job: records of ranks have 16 bits for it. */
enum { WF_JOBS_MAX = 65535 };

/* Whether the key belongs to a program other than the first. Sets its number, 1 or above, and
 * where in the key the name begins. */
bool wf_scenario_job_key(const char *key, uint32_t *number, const char **name);

/* Whether the name is a parameter of a source, such as gen.bytes. For programs other than the
 * first, `name` is the part of the key after the number. */
bool wf_scenario_source_key(const char *name);

struct wf_scenario *wf_scenario_new(void);
void wf_scenario_free(struct wf_scenario *scenario); /* null is allowed */

/* Adds a setting. Fails with WF_EUSAGE if no scenario has such a key. `origin` is the name of
 * the setting in messages; null means the key itself. */
enum wf_status wf_scenario_set(struct wf_scenario *scenario, const char *key, const char *value,
                               const char *origin, struct wf_err *err);
/* WF_EUSAGE if the scope of the key is known, and nothing that a scenario can consist of has this parameter:
 * for callers that do not know yet what the scenario will be. The error names the nearest one. */
enum wf_status wf_scenario_check_name(const char *key, struct wf_err *err);
/* Adds a complete setting and takes ownership of its texts, also on failure. If the setting has
 * a place, a failure is WF_EINVAL and its message names the place. */
enum wf_status wf_scenario_add(struct wf_scenario *scenario, struct wf_setting setting,
                               struct wf_err *err);
/* Copies all settings and notes of another scenario. */
void wf_scenario_append(struct wf_scenario *scenario, const struct wf_scenario *from);
/* Likewise, but only the settings with keys that `keep` accepts; null accepts all. */
void wf_scenario_append_if(struct wf_scenario *scenario, const struct wf_scenario *from,
                           bool (*keep)(const void *arg, const char *key), const void *arg);

/* Keeps the name of the machine for the result document. */
void wf_scenario_name_machine(struct wf_scenario *scenario, const char *name);

/* Adds a note, a line without a newline at its end. */
WF_PRINTF(2, 3)
void wf_scenario_note(struct wf_scenario *scenario, const char *fmt, ...);

/* The last setting with that key; null if there is none. */
const struct wf_setting *wf_scenario_find(const struct wf_scenario *scenario, const char *key);

/* Whether it is the source of a job, and a program that runs. */
bool wf_setting_runs_program(const struct wf_setting *setting);

/* Sets the member `name` of a parameter table from the setting. Error messages name its origin
 * and place. */
enum wf_status wf_setting_apply(const struct wf_setting *setting, const struct wf_param *table,
                                void *values, const char *name, struct wf_err *err);

/* For a failure caused by this setting: if the setting has a place, puts it in front of the
 * message and makes the status WF_EINVAL. Returns the status. `setting` may be null. */
enum wf_status wf_setting_blame(const struct wf_setting *setting, enum wf_status status,
                                struct wf_err *err);
