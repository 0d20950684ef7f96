/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How much jobs disturb each other: each of several jobs is run once more on its nodes while the
 * others do nothing, and the difference is added to its entry in the document.
 */

#include "base/status.h"
#include "engine/config.h"

struct wf_comm;
struct wf_job;
struct wf_value;

/* Adds `alone_time_ps`, `slowdown`, `bytes_per_second` and `alone_bytes_per_second` to the jobs of
 * the document of a completed run. In processes other than the first, `doc` is null; all of them
 * take part. A job whose run alone is interrupted gets none of these. */
WF_NODISCARD
enum wf_status wf_job_run_alone(struct wf_job *job, const struct wf_engine_config *config,
                                struct wf_comm *world, struct wf_value *doc,
                                struct wf_err *err);
