/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The powers that a machine file gives, for the energy of a run (run/document/energy.h). */

#include "base/param.h"

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
