/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/gpu/gpu.h"

static const struct wf_gpu_ops *const backends[] = {
#define WF_GPU_BACKEND(name) &wf_gpu_##name,
#include "model/net/router/gpu/backends.def"
#undef WF_GPU_BACKEND
};

enum { N_BACKENDS = sizeof(backends) / sizeof(backends[0]) };

const char *const wf_gpu_names[] = {
    "auto",
#define WF_GPU_BACKEND(name) #name,
#include "model/net/router/gpu/backends.def"
#undef WF_GPU_BACKEND
    NULL,
};

enum wf_status wf_gpu_open(int backend, struct wf_gpu **out, struct wf_err *err)
{
    enum wf_status status = WF_EINVAL;

    if (backend > 0) {
        return backends[backend - 1]->open(out, err);
    }
    for (int i = 0; i < N_BACKENDS && status != WF_OK; i++) {
        if (!backends[i]->explicit_only) {
            status = backends[i]->open(out, err);
        }
    }
    return status;
}

void wf_gpu_close(struct wf_gpu *gpu)
{
    if (gpu != NULL) {
        gpu->ops->close(gpu);
    }
}
