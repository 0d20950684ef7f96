/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario/power.h"

#define ROW_OF(type_, member, text)                                                            \
    {                                                                                          \
        .name = #member, .type = WF_PARAM_REAL, .offset = offsetof(type_, member), .def = "0", \
        .min = "0", .max = "1000000000", .doc = (text)                                         \
    }
#define ROW(member, text) ROW_OF(struct wf_sim_energy_params, member, text)

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

const struct wf_param wf_sim_price_params[] = {
    ROW_OF(struct wf_sim_price_params, node_hour, "Price of a node for an hour; 0 if unknown"),
    ROW_OF(struct wf_sim_price_params, kwh,
           "Price of a kilowatt hour, where energy is not in the price of a node"),
    {.name = "currency",
     .type = WF_PARAM_TEXT,
     .offset = offsetof(struct wf_sim_price_params, currency),
     .def = "",
     .doc = "Currency of the prices; only echoed in results"},
    WF_PARAM_END,
};

bool wf_sim_price_is_known(const struct wf_sim_price_params *params)
{
    return params->node_hour > 0 || params->kwh > 0;
}
