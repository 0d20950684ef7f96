/* SPDX-License-Identifier: Apache-2.0 */
/* A page has no GPU. */
#include "gpu/gpu.h"
#include "sim/executor.h"

const char *const wf_gpu_names[] = {"auto", "cuda", "host", NULL};

static enum wf_status refuse(const struct wf_job *job, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "a page in a browser uses no GPU");
}

const struct wf_executor wf_executor_gpu = {.name = "gpu", .accepts = refuse};
