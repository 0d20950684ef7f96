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

#define WF_SIM_UNCERTAINTY "uncertainty."

/* Whether the key begins with "uncertainty.". */
bool wf_sim_uncertainty_is(const char *key);

/* WF_EUSAGE unless the key, which is "uncertainty." and a setting, names a quantity that some
 * network model, processor, node or MPI library has. `origin` is its name in messages. */
enum wf_status wf_sim_uncertainty_check_key(const char *key, const char *origin,
                                            struct wf_err *err);
/* Checks the value too; and with `net` not null, that this model has the setting. */
enum wf_status wf_sim_uncertainty_check(const struct wf_setting *setting,
                                        const struct wf_net_ops *net, struct wf_err *err);

/* The setting that is uncertain: "net.bandwidth". */
const char *wf_sim_uncertainty_of(const char *key);
/* Whether the key is uncertainty.model. */
bool wf_sim_uncertainty_is_model(const char *key);
/* The scope and the table of that setting, for a network model, and its name there; null if nothing of
 * the scope can be uncertain. */
const struct wf_param *wf_sim_uncertainty_table(const char *key, const struct wf_net_ops *net,
                                                const char **scope, const char **name);
/* The value of a setting. */
enum wf_status wf_sim_uncertainty_percent(const struct wf_setting *setting, double *out,
                                          struct wf_err *err);
