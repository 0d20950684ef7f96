/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs the scenario of a result again, with a run on an ideal network besides, which tells what the
 * network and the order of the work cost. */

#include "base/status.h"

#include <stdbool.h>

struct wf_sim_host;
struct wf_value;

/* Whether the document describes a replay that can run again: a complete one, not of a program. */
bool wf_study_can_run_again(const struct wf_value *doc);

/* Whether that takes a few seconds at most, by what the run took. */
bool wf_study_is_quick_again(const struct wf_value *doc);

/* Runs the scenario of `doc` again and adds the section result.efficiency to it. Fails with
 * WF_EINVAL if the digest differs, because a trace or a machine file has changed since. */
enum wf_status wf_study_add_efficiency(struct wf_value *doc, const struct wf_sim_host *host,
                                       struct wf_err *err);
