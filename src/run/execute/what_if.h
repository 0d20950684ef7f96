/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The time of a run with half the latency, twice the bandwidth, or processors twice as fast. It
 * is simulated again, or estimated from the critical path. The path gives an upper bound of the
 * saving, because another path may become the longest.
 */

#include "base/status.h"
#include "engine/config.h"

#include <stdbool.h>

struct wf_comm;
struct wf_job;
struct wf_value;

/* Adds the section `what_if` to the document of a completed run. In processes other than the
 * first, `doc` is null. `again` permits further runs of the job, in which all processes take
 * part. An interrupted run is WF_OK. */
WF_NODISCARD
enum wf_status wf_what_if(struct wf_job *job, const struct wf_engine_config *config,
                          struct wf_comm *world, bool again, struct wf_value *doc,
                          struct wf_err *err);
