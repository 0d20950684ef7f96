/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The settings cpu.region.<name>, cpu.counter.<name> and cpu.memory.<region>. No parameter
 * table lists them, because the names depend on the program. */

#include "run/scenario/scenario.h"

#include <stdint.h>

struct wf_cpu_rules;
struct wf_node_params;
struct wf_source;
struct wf_value;

bool wf_sim_cpu_settings_has(const struct wf_setting *setting);

/* Builds the rules (model/ranks/cpu/cpu.h) for the programs of a run. If a key occurs several times,
 * the last setting counts. The message of a failure begins with the key. */
enum wf_status wf_sim_cpu_settings_build(const struct wf_scenario *scenario,
                                         const struct wf_node_params *node,
                                         const struct wf_source *const *sources,
                                         uint32_t n_sources, struct wf_cpu_rules **out,
                                         struct wf_err *err);

/* Adds the sections `region`, `counter` and `memory` with the settings in effect, if there are
 * any. */
void wf_sim_cpu_settings_describe(const struct wf_scenario *scenario, struct wf_value *section);
