/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The settings of a plan that are uncertain (run/scenario/uncertainty.h). */

#include "run/plan/plan.h"

/* Whether a setting from a file has no meaning for this plan: its network model has no such
 * quantity, or the quantity has no number. */
bool wf_sim_uncertainty_skips(const struct wf_plan *plan, const struct wf_setting *setting);

/* Checks all of them when the values of the plan are known. */
enum wf_status wf_sim_uncertainty_check_all(const struct wf_plan *plan, struct wf_err *err);

/* The number of settings that are uncertain: not by 0 %, and not 0 themselves. */
size_t wf_sim_uncertainty_count(const struct wf_plan *plan);

/* Sets the uncertain values of the plan to those of `nominal`, a plan of the same settings, times
 * the factors of one replica. A factor is a function of the seed, the number of the replica and
 * the name of the setting, not of other settings. */
void wf_sim_uncertainty_draw(struct wf_plan *plan, const struct wf_plan *nominal,
                             uint64_t replica);

/* The factor of uncertainty.model in one replica, as a fixed-point number (base/param_scale.h);
 * 1 if it is not given. */
uint64_t wf_sim_uncertainty_model(const struct wf_plan *nominal, uint64_t replica);

/* Adds one member, the percentage, for each uncertain setting. */
void wf_sim_uncertainty_describe(const struct wf_plan *plan, struct wf_value *section);
