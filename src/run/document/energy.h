/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The energy and the cost of a run, from powers and prices that the machine file gives.
 * docs/models/energy.md has the equations. Without any of these figures neither is in the result. */

#include "base/result/doc.h"
#include "model/ranks/tally.h"

struct wf_job;

/* Adds the sections `energy` and `cost` to the result of a run that took `end` picoseconds, if powers
 * and prices are known. The network has described itself before. */
void wf_sim_energy_describe(const struct wf_job *job, const struct wf_ranks_tally *tally,
                            int64_t end, struct wf_value *result);
