/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Settings whose values are known up to some percent: keys uncertainty.<setting>, from -p or from
 * `uncertainty` in a machine file. The value is the relative standard deviation, "3.1%". A run
 * with error bars (run/execute/replicas.c) multiplies each setting by a factor that is drawn from
 * the log-normal distribution with median 1 and that standard deviation.
 *
 * The key uncertainty.model is how far the models are off where all settings are right: a
 * factor of the time that is not spent computing.
 */

#include "base/status.h"
#include "run/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_net_ops;
struct wf_param;
struct wf_plan;
struct wf_value;

#define WF_SIM_UNCERTAINTY "uncertainty."

/* Whether the key begins with "uncertainty.". */
bool wf_sim_uncertainty_is(const char *key);

/* WF_EUSAGE unless the key, which is "uncertainty." and a setting, names a quantity that some
 * network model, processor, node or MPI library has. `origin` is its name in messages. */
WF_NODISCARD
enum wf_status wf_sim_uncertainty_check_key(const char *key, const char *origin,
                                            struct wf_err *err);
/* Checks the value too; and with `net` not null, that this model has the setting. */
WF_NODISCARD
enum wf_status wf_sim_uncertainty_check(const struct wf_setting *setting,
                                        const struct wf_net_ops *net, struct wf_err *err);

/* Whether a setting from a file has no meaning for this plan: its network model has no such
 * quantity, or the quantity has no number. */
bool wf_sim_uncertainty_skips(const struct wf_plan *plan, const struct wf_setting *setting);

/* Checks all of them when the values of the plan are known. */
WF_NODISCARD
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
