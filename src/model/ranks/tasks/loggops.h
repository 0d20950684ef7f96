/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Task graphs by the rules of LogGOPSim (Hoefler, Schneider and Lumsdaine, "LogGOPSim:
 * simulating large-scale applications in the LogGOPS model", 2010), to the nanosecond. A host
 * executes the steps of a PE (program/ops/steps.h). docs/models/loggp.md has the rules.
 *
 * The simulator orders everything that happens at the same time by one counter for all hosts,
 * and a long message lets its sender continue without a latency. Both can change times. So all
 * hosts together are one process of the engine, which no number of threads makes faster.
 */

#include "base/status.h"

struct wf_engine;
struct wf_loggops;
struct wf_pes;

/* Adds the process to the engine. Uses the graphs, processor, recorder and rules of `pes`,
 * which must outlive the result. WF_EUSAGE if a node has several PEs or costs of its own. The
 * caller owns *out. */
enum wf_status wf_loggops_new(const struct wf_pes *pes, struct wf_engine *engine,
                              struct wf_loggops **out, struct wf_err *err);
void wf_loggops_free(struct wf_loggops *loggops); /* null is allowed */
