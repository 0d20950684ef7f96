/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/executor.h"

static enum wf_status lockstep_accepts(const struct wf_job *job, struct wf_err *err)
{
    return wf_err_set(err, WF_EUSAGE,
                      "engine.exec: lockstep cannot execute this network; use events");
}

const struct wf_executor wf_executor_lockstep = {.name = "lockstep",
                                                 .accepts = lockstep_accepts};
