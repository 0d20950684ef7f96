/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/executor.h"

static enum wf_status events_accept(const struct wf_job *job, struct wf_err *err)
{
    return WF_OK;
}

const struct wf_executor wf_executor_events = {.name = "events", .accepts = events_accept};
