/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What is to be simulated, as keys and values in the order in which they were given; the last
 * of equal keys counts. A key is one of
 *
 *   network, topology, seed, efficiency
 *   source, ranks, ranks_per_node, placement, start, repeat, region, iterations,
 *   repeat_iteration: the program that is run
 *   <scope>.<name>, a parameter: net.L, gen.bytes, trace.flop_rate, engine.threads
 *   job.<number>.<name>, number from 1 on: of another program that runs at the same time, one
 *   of its settings (job.1.source) or of the parameters of its generator or of its trace's
 *   format (job.1.gen.bytes)
 *
 * Which parameters there are depends on the source and the network, so that values are checked
 * when all is known, by wf_sim_run().
 */

#include "base/param.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_setting {
    char *key;
    char *value;
    char *origin; /* what messages call it: "--threads" */
    /* Of settings that come from a file; null and false otherwise. */
    char *place;        /* where it stands: "bgp.yaml:12:3" */
    char *model;        /* of net.*: the network model it was written for */
    bool with_topology; /* one value per level of the topology that the same file gives */
};

struct wf_scenario {
    struct wf_setting *settings;
    size_t n;
};

/* A program, and where and when it runs. */
struct wf_scenario_job {
    char *source;   /* "gen:stencil3d", "bench:phold", or the path of a trace */
    uint64_t ranks; /* 0: not given */
    uint64_t ranks_per_node;
    char *placement; /* as sim/placement.h reads it */
    int64_t start;   /* picoseconds */
    uint64_t repeat;
    char *region, *iterations; /* the part that is played; "" is all */
    uint64_t repeat_iteration;
};

/* The settings of the scenario itself. */
struct wf_scenario_core {
    struct wf_scenario_job job; /* the first one; the others have keys job.<number>.<name> */
    char *network;
    char *topology; /* "" is none */
    uint64_t seed;
    bool efficiency;
};

extern const struct wf_param wf_scenario_params[]; /* over struct wf_scenario_core */

/* The end of that table: its rows over struct wf_scenario_job. */
const struct wf_param *wf_scenario_job_params(void);

/* Whether the key is of another program than the first: sets its number, 1 or above, and where
 * in the key the name begins. */
bool wf_scenario_job_key(const char *key, uint32_t *number, const char **name);

/* Whether the key, or the name of one of another program, is a parameter of a source:
 * gen.bytes.
 */
bool wf_scenario_source_key(const char *name);

struct wf_scenario *wf_scenario_new(void);
void wf_scenario_free(struct wf_scenario *scenario); /* null is allowed */

/* Fails with WF_EUSAGE if no scenario has such a key. `origin` is what messages call the
 * setting; null is the key itself. */
WF_NODISCARD
enum wf_status wf_scenario_set(struct wf_scenario *scenario, const char *key, const char *value,
                               const char *origin, struct wf_err *err);
/* The same for a complete setting; takes ownership of its texts, also on failure. If it
 * has a place, a failure is WF_EINVAL and names it. */
WF_NODISCARD
enum wf_status wf_scenario_add(struct wf_scenario *scenario, struct wf_setting setting,
                               struct wf_err *err);
/* Copies all settings of another one. */
void wf_scenario_append(struct wf_scenario *scenario, const struct wf_scenario *more);

/* The setting of that key that counts; null if there is none. */
const struct wf_setting *wf_scenario_find(const struct wf_scenario *scenario, const char *key);

/* Sets the member `name` of a parameter table from the setting. Errors call it by its origin
 * and place. */
WF_NODISCARD
enum wf_status wf_setting_apply(const struct wf_setting *setting, const struct wf_param *table,
                                void *values, const char *name, struct wf_err *err);

/* For a failure that is the fault of this setting: if it has a place, puts that before the
 * message and makes the status WF_EINVAL. Returns the status. `setting` may be null. */
enum wf_status wf_setting_blame(const struct wf_setting *setting, enum wf_status status,
                                struct wf_err *err);
