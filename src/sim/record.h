/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_SIM_RECORD_H
#define WF_SIM_RECORD_H

/* What a run left behind, put into a result document. */

#include "base/status.h"
#include "engine/run.h"

#include <stdbool.h>

struct wf_plan;
struct wf_replay_tally;
struct wf_value;

/* Adds the section `run`. `memory_estimate` is what the run was thought to need, in bytes. */
void wf_record_run(struct wf_value *root, const struct wf_plan *plan, const struct wf_run *run,
                   uint64_t memory_estimate);

/* Fills the section `result` of a replay that ran as far as the tally says. Returns WF_ESIM,
 * and says in a line who waits for what, if it ended before its ranks did; `interrupted` tells
 * that it was made to. */
enum wf_status wf_record_replay(struct wf_value *result, const struct wf_run *run,
                                const struct wf_replay_tally *tally, bool interrupted,
                                struct wf_err *err);

/* Adds the digest of a run, or of its facts. */
void wf_record_digest(struct wf_value *result, uint64_t digest);

#endif
