/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_SIM_SCENARIO_H
#define WF_SIM_SCENARIO_H

/*
 * What is to be simulated, as keys and values in the order in which they were given; the last
 * of equal keys counts. A key is one of
 *
 *   source, ranks, ranks_per_node, network, topology, seed
 *   <scope>.<name>, a parameter: net.L, gen.bytes, engine.threads
 *
 * Which parameters there are depends on the source and the network, so that values are checked
 * when all is known, by wf_sim_run().
 */

#include "base/param.h"
#include "base/status.h"

#include <stddef.h>

struct wf_setting {
    char *key;
    char *value;
    char *origin; /* what messages call it: "--threads" */
};

struct wf_scenario {
    struct wf_setting *settings;
    size_t n;
};

/* The settings of the scenario itself. */
struct wf_scenario_core {
    char *source;   /* "gen:stencil3d", "bench:phold" */
    uint64_t ranks; /* 0: not given */
    uint64_t ranks_per_node;
    char *network;
    char *topology; /* "" is none */
    uint64_t seed;
};

extern const struct wf_param wf_scenario_params[]; /* over struct wf_scenario_core */

struct wf_scenario *wf_scenario_new(void);
void wf_scenario_free(struct wf_scenario *scenario); /* null is allowed */

/* Fails with WF_EUSAGE if no scenario has such a key. `origin` is what messages call the
 * setting; null is the key itself. */
WF_NODISCARD
enum wf_status wf_scenario_set(struct wf_scenario *scenario, const char *key, const char *value,
                               const char *origin, struct wf_err *err);

#endif
