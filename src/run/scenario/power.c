/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario/power.h"

#define ROW(member, text)                                                                \
    {                                                                                    \
        .name = #member, .type = WF_PARAM_REAL,                                          \
        .offset = offsetof(struct wf_sim_energy_params, member), .def = "0", .min = "0", \
        .max = "1000000000", .doc = (text)                                               \
    }

static const char *const charges[] = {"used", "machine", NULL};

const struct wf_param wf_sim_energy_params[] = {
    ROW(idle, "Power of a node, in watts, whatever it does; 0 if unknown"),
    ROW(busy, "Power that a rank adds while it computes or handles messages, in watts"),
    ROW(link, "Power of a link, in watts, whatever it carries"),
    ROW(byte, "Energy of a byte on a link, in picojoules"),
    {.name = "charge",
     .type = WF_PARAM_ENUM,
     .offset = offsetof(struct wf_sim_energy_params, charge),
     .def = "used",
     .choices = charges,
     .doc =
         "Which nodes and links the run pays for: used, the nodes with ranks and their share "
         "of the links; or those of the whole machine"},
    WF_PARAM_END,
};

bool wf_sim_energy_is_known(const struct wf_sim_energy_params *params)
{
    return params->idle > 0 || params->busy > 0 || params->link > 0 || params->byte > 0;
}
