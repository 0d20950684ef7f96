/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_SPREAD_H
#define WF_RANKS_SPREAD_H

/* Programs that run in several operating-system processes: which rank runs where is a matter of
 * the engine, and what ranks say to each other travels with its events. */

#include "engine/cargo.h"
#include "ops/live.h"

struct wf_replay;

/* One of the jobs. */
struct wf_spread {
    struct wf_homes homes; /* first */
    const struct wf_replay *replay;
    const struct wf_engine *engine;
    uint32_t job;
    uint32_t first_node; /* the number of node 0 as a simulated process */
};

/* Tells the programs among the jobs, if there is more than one process. `first_node` as above.
 */
void wf_spread_programs(struct wf_replay *replay, struct wf_engine *engine,
                        uint32_t first_node);

#endif
