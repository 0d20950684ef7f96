/* SPDX-License-Identifier: Apache-2.0 */
/* A page has no GPU. */
#include "gpu/gpu.h"

const char *const wf_gpu_names[] = {"auto", "cuda", "host", NULL};

enum wf_status wf_gpu_open(int backend, struct wf_gpu **out, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "a page in a browser uses no GPU");
}

void wf_gpu_close(struct wf_gpu *gpu)
{
}
