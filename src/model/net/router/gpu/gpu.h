/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Accelerators that run kernels. A back end is a table of functions around a driver that is loaded
 * when it is first needed: no build and no run needs the driver of a vendor. The back end `host`
 * runs the same kernels on threads of this machine; it is for tests and for debugging.
 *
 * Functions may be called from several threads. Launches and copies of one device are executed in
 * the order of the calls.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WF_GPU_NAME_MAX = 96, WF_GPU_ARGS_MAX = 4000 };

struct wf_gpu_at; /* model/net/router/gpu/kernel.h */

/* A kernel as a thread of the host runs it: `args` are those of the launch. */
struct wf_gpu_host_kernel {
    const char *name; /* null ends a table */
    void (*run)(const struct wf_gpu_at *at, const void *args);
};

/* Kernels that are loaded together: as text for a device, and as functions for the host. */
struct wf_gpu_program {
    const char *name;
    const char *ptx;    /* null: this build has none */
    uint32_t registers; /* of a thread, at most; 0: as many as the driver likes */
    const struct wf_gpu_host_kernel *host;
};

struct wf_gpu_facts {
    char name[WF_GPU_NAME_MAX];
    uint64_t memory_free, memory_total; /* bytes */
    uint32_t processors;
    uint32_t threads_max; /* of a block */
    uint32_t shared_max;  /* bytes of shared memory of a block */
};

/* A launch: `blocks` of `threads` each, with `shared` bytes for each block. The kernel gets one
 * struct by value. */
struct wf_gpu_launch {
    const char *kernel;
    uint32_t blocks, threads, shared;
    bool together; /* all blocks run at the same time, so that they may wait for each other */
    void *args;
    size_t args_size;
};

/* An open device. Back ends have more behind this. */
struct wf_gpu {
    const struct wf_gpu_ops *ops;
};

/* An address in the memory of a device; 0 is none. */
typedef uint64_t wf_gpu_address;

/* The same as a pointer, for the structs that kernels get. Only the host's back end may follow it. */
static inline void *wf_gpu_pointer(wf_gpu_address at)
{
    void *pointer = NULL;

    memcpy(&pointer, &at, sizeof(pointer) < sizeof(at) ? sizeof(pointer) : sizeof(at));
    return pointer;
}

struct wf_gpu_ops {
    const char *name;
    const char *doc;
    bool explicit_only; /* never chosen by `auto` */
    /* Opens the first device. WF_EINVAL with the reason if there is none. */
    enum wf_status (*open)(struct wf_gpu **out, struct wf_err *err);
    void (*close)(struct wf_gpu *gpu); /* what was allocated on it has been released */
    enum wf_status (*facts)(struct wf_gpu *gpu, struct wf_gpu_facts *facts, struct wf_err *err);
    enum wf_status (*load)(struct wf_gpu *gpu, const struct wf_gpu_program *program,
                           struct wf_err *err);
    enum wf_status (*allocate)(struct wf_gpu *gpu, uint64_t bytes, wf_gpu_address *at,
                               struct wf_err *err);
    void (*release)(struct wf_gpu *gpu, wf_gpu_address at); /* 0 is allowed */
    enum wf_status (*zero)(struct wf_gpu *gpu, wf_gpu_address at, uint64_t bytes,
                           struct wf_err *err);
    enum wf_status (*copy_in)(struct wf_gpu *gpu, wf_gpu_address to, const void *from,
                              uint64_t bytes, struct wf_err *err);
    /* Waits for the launches before it. */
    enum wf_status (*copy_out)(struct wf_gpu *gpu, void *to, wf_gpu_address from,
                               uint64_t bytes, struct wf_err *err);
    /* The blocks of a kernel that can run at the same time; args are not used. */
    enum wf_status (*resident)(struct wf_gpu *gpu, const struct wf_gpu_launch *launch,
                               uint32_t *blocks, struct wf_err *err);
    enum wf_status (*launch)(struct wf_gpu *gpu, const struct wf_gpu_launch *launch,
                             struct wf_err *err);
    enum wf_status (*wait)(struct wf_gpu *gpu, struct wf_err *err);
};

#define WF_GPU_BACKEND(name) extern const struct wf_gpu_ops wf_gpu_##name;
#include "model/net/router/gpu/backends.def"
#undef WF_GPU_BACKEND

/* Names of the back ends after "auto", null-terminated, in the order of wf_gpu_backends. */
extern const char *const wf_gpu_names[];

/* Opens a device: of the back end with this number in wf_gpu_names, 0: of the first that has one.
 * WF_EINVAL says why there is none. The caller closes it with wf_gpu_close(). */
enum wf_status wf_gpu_open(int backend, struct wf_gpu **out, struct wf_err *err);
void wf_gpu_close(struct wf_gpu *gpu); /* null is allowed */
