/* SPDX-License-Identifier: Apache-2.0 */
/* A page has no GPU. */
#include "model/net/router/gpu/gpu.h"
#include "run/execute/executor.h"

const char *const wf_gpu_names[] = {"auto", "cuda", "host", NULL};

static enum wf_status refuse(const struct wf_job *job, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "a page in a browser uses no GPU");
}

const struct wf_executor wf_executor_gpu = {.name = "gpu", .accepts = refuse};
