/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * weft run --check=all-orders: runs a program again for each order in which its messages and
 * requests could complete (a stateless search). Each run fixes the decisions up to one that it
 * changes, and is free after that. What a run shows of other outcomes is tried later, the last
 * decisions first, so that no order is tried twice. Runs take place in child processes, without
 * output; the caller then runs the order that is to be reported.
 */

#include "program/ops/decision.h"
#include "run/execute/run.h"

/* What is known after the search. */
struct wf_orders {
    bool is_search; /* there was one */
    bool is_complete;
    bool found; /* an error, in the order of the schedule */
    uint64_t runs;
    uint64_t impossible; /* of them, those that MPI does not allow */
    uint64_t most;
    char *schedule; /* owned */
};

/* Runs a scenario. Adds its decisions to the list; *deadlock: so it ended. */
typedef enum wf_status wf_orders_run(const struct wf_scenario *scenario,
                                     const struct wf_sim_host *host,
                                     struct wf_decisions *decisions, bool *deadlock);

/* If the scenario asks for a search or has a schedule: sets *out to the scenario that is to be
 * run and reported, which the caller frees, after the search if it asks for one; else to null. */
enum wf_status wf_orders_prepare(const struct wf_scenario *scenario,
                                 const struct wf_sim_host *host, wf_orders_run *run,
                                 struct wf_orders *orders, struct wf_scenario **out,
                                 struct wf_err *err);
