/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A prediction as a distribution: the replay is repeated, each time with compute spans drawn
 * from those recorded at the same place (program/ops/resample.h), with uncertain settings drawn around
 * their values (run/scenario/uncertainty.h), and with other noise of the nodes. A replica is a
 * function of the scenario and its number, so results do not depend on threads and processes.
 * docs/models/uncertainty.md describes what is covered.
 */

#include "base/status.h"
#include "run/plan/plan.h"

struct wf_sim_host;
struct wf_value;

/* Runs the replicas of a completed replay, in parallel over the cores of all processes, and adds
 * their quantiles to the document. `plan` is that of the replay; its sources can be played
 * again. `scenario` describes the same replay without running programs. `doc` is null in
 * processes other than the first. WF_EINTR after an interruption: the document then has the
 * quantiles of those that are finished. */
WF_NODISCARD
enum wf_status wf_sim_replicas(const struct wf_plan *plan, const struct wf_scenario *scenario,
                               const struct wf_sim_host *host, struct wf_value *doc,
                               struct wf_err *err);
