/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The powers and prices that a machine file gives, for the energy and the cost of a run
 * (run/document/energy.h). */

#include "base/param.h"

/* Whose idle nodes and links a run pays for. */
enum wf_sim_energy_charge { WF_SIM_ENERGY_USED, WF_SIM_ENERGY_MACHINE };

/* Scope `power`; 0: not known. */
struct wf_sim_energy_params {
    double idle; /* watts of a node */
    double busy; /* watts that a rank adds while it computes or handles messages */
    double link; /* watts of a link, whatever it carries */
    double byte; /* picojoules of a byte on a link */
    int charge;  /* enum wf_sim_energy_charge */
};

extern const struct wf_param wf_sim_energy_params[];

/* Whether the machine has any figure. */
bool wf_sim_energy_is_known(const struct wf_sim_energy_params *params);

/* Scope `price`; 0: not known. */
struct wf_sim_price_params {
    double node_hour; /* of a node for an hour */
    double kwh;       /* of a kilowatt hour, if energy is paid for itself */
    char *currency;   /* "": not said */
};

extern const struct wf_param wf_sim_price_params[];
bool wf_sim_price_is_known(const struct wf_sim_price_params *params);
