/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The points of a curve or a study, executed together (run/execute/run.h). */

#include "base/points.h"

struct wf_sim_item;

/* Executes the items. `host` is used for its stop, running and progress. */
void wf_study_run_together(struct wf_sim_item *items, size_t n,
                           const struct wf_points_host *host);
