/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The energy of a run, from powers that the machine file gives. docs/models/energy.md has the
 * equation. Without any of these figures there is no energy in the result. */

#include "base/param.h"
#include "base/result/doc.h"
#include "model/ranks/tally.h"

struct wf_job;

/* Scope `power`; 0: not known. */
struct wf_sim_energy_params {
    double idle; /* watts of a node */
    double busy; /* watts that a rank adds while it computes or handles messages */
    double link; /* watts of a link, whatever it carries */
    double byte; /* picojoules of a byte on a link */
};

extern const struct wf_param wf_sim_energy_params[];

/* Whether the machine has any figure. */
bool wf_sim_energy_is_known(const struct wf_sim_energy_params *params);

/* Adds the section `energy` to the result of a run that took `end` picoseconds, if powers are
 * known. The network has described itself before. */
void wf_sim_energy_describe(const struct wf_job *job, const struct wf_ranks_tally *tally,
                            int64_t end, struct wf_value *result);
