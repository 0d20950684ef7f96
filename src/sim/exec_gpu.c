/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/executor.h"

static enum wf_status gpu_accepts(const struct wf_job *job, struct wf_err *err)
{
    return wf_err_set(err, WF_EUSAGE,
                      "engine.exec: gpu cannot execute this network; use events");
}

const struct wf_executor wf_executor_gpu = {
    .name = "gpu", .many = true, .accepts = gpu_accepts};
