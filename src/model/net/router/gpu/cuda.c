/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs, through the driver's own library. Nothing of the vendor's kit is needed: the few
 * types and functions are declared here, as cuda.h documents them. */
#include "base/mem.h"
#include "base/units.h"
#include "model/net/router/gpu/gpu.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 2048 };

/* CUdevice_attribute, CUfunction_attribute and CUjit_option that are used. */
enum {
    ATTRIBUTE_THREADS = 1,     /* MAX_THREADS_PER_BLOCK */
    ATTRIBUTE_PROCESSORS = 16, /* MULTIPROCESSOR_COUNT */
    ATTRIBUTE_MAJOR = 75,      /* COMPUTE_CAPABILITY_MAJOR */
    ATTRIBUTE_TOGETHER = 95,   /* COOPERATIVE_LAUNCH */
    ATTRIBUTE_SHARED = 97,     /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
    FUNCTION_SHARED = 8,       /* MAX_DYNAMIC_SHARED_SIZE_BYTES */
    JIT_REGISTERS = 0,         /* MAX_REGISTERS */
    JIT_ERROR_LOG = 5,         /* ERROR_LOG_BUFFER */
    JIT_ERROR_LOG_SIZE = 6,    /* ERROR_LOG_BUFFER_SIZE_BYTES */
};

enum { MAJOR_LEAST = 7 }; /* what the kernels are compiled for */

/* The functions of the driver: name in the table, name in the library, parameters. All return
 * CUresult, which is 0 for success. */
#define FUNCTIONS(X)                                                                        \
    X(init, "cuInit", unsigned)                                                             \
    X(error_text, "cuGetErrorString", int, const char **)                                   \
    X(count, "cuDeviceGetCount", int *)                                                     \
    X(device, "cuDeviceGet", int *, int)                                                    \
    X(device_name, "cuDeviceGetName", char *, int, int)                                     \
    X(attribute, "cuDeviceGetAttribute", int *, int, int)                                   \
    X(retain, "cuDevicePrimaryCtxRetain", void **, int)                                     \
    X(release_context, "cuDevicePrimaryCtxRelease_v2", int)                                 \
    X(set_context, "cuCtxSetCurrent", void *)                                               \
    X(synchronize, "cuCtxSynchronize", void)                                                \
    X(memory, "cuMemGetInfo_v2", size_t *, size_t *)                                        \
    X(allocate, "cuMemAlloc_v2", uint64_t *, size_t)                                        \
    X(release, "cuMemFree_v2", uint64_t)                                                    \
    X(zero, "cuMemsetD8_v2", uint64_t, unsigned char, size_t)                               \
    X(copy_in, "cuMemcpyHtoD_v2", uint64_t, const void *, size_t)                           \
    X(copy_out, "cuMemcpyDtoH_v2", void *, uint64_t, size_t)                                \
    X(load, "cuModuleLoadDataEx", void **, const void *, unsigned, int *, void **)          \
    X(unload, "cuModuleUnload", void *)                                                     \
    X(function, "cuModuleGetFunction", void **, void *, const char *)                       \
    X(set_attribute, "cuFuncSetAttribute", void *, int, int)                                \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", int *, void *, int, size_t) \
    X(launch, "cuLaunchKernel", void *, unsigned, unsigned, unsigned, unsigned, unsigned,   \
      unsigned, unsigned, void *, void **, void **)                                         \
    X(launch_together, "cuLaunchCooperativeKernel", void *, unsigned, unsigned, unsigned,   \
      unsigned, unsigned, unsigned, unsigned, void *, void **)

struct driver {
#define X(member, symbol, ...) int (*member)(__VA_ARGS__);
    FUNCTIONS(X)
#undef X
};

struct cuda_gpu {
    struct wf_gpu gpu;
    void *library;
    struct driver driver;
    int device;
    void *context, *module;
    int processors;
};

static struct cuda_gpu *cuda_of(struct wf_gpu *gpu)
{
    return (struct cuda_gpu *)gpu;
}

static enum wf_status failed(const struct cuda_gpu *gpu, int code, const char *what,
                             struct wf_err *err)
{
    const char *text = NULL;

    if (code == 0) {
        return WF_OK;
    }
    if (gpu->driver.error_text == NULL || gpu->driver.error_text(code, &text) != 0) {
        text = NULL;
    }
    return wf_err_set(err, WF_EIO, "the GPU's driver cannot %s: %.300s (CUDA error %d)", what,
                      text != NULL ? text : "unknown error", code);
}

/* ---- opening ---- */

static enum wf_status find_functions(struct cuda_gpu *gpu, struct wf_err *err)
{
    static const struct {
        size_t offset;
        const char *symbol;
    } rows[] = {
#define X(member, symbol, ...) {offsetof(struct driver, member), symbol},
        FUNCTIONS(X)
#undef X
    };

    gpu->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (gpu->library == NULL) {
        return wf_err_set(
            err, WF_EINVAL,
            "no GPU was found: the driver's library libcuda.so.1 cannot be loaded "
            "(only NVIDIA GPUs are supported)");
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *function = dlsym(gpu->library, rows[i].symbol);
        if (function == NULL) {
            return wf_err_set(err, WF_EINVAL,
                              "the GPU's driver is too old: it has no %s; version 450 or later "
                              "is needed",
                              rows[i].symbol);
        }
        memcpy((char *)&gpu->driver + rows[i].offset, &function, sizeof(function));
    }
    return WF_OK;
}

static enum wf_status find_device(struct cuda_gpu *gpu, struct wf_err *err)
{
    const struct driver *driver = &gpu->driver;
    int n = 0, major = 0, together = 0;

    int code = driver->init(0);
    if (code == 0) {
        code = driver->count(&n);
    }
    if (code != 0 || n == 0) {
        const char *text = NULL;
        (void)driver->error_text(code, &text);
        return wf_err_set(err, WF_EINVAL,
                          "no GPU was found: the driver is installed, but reports %.200s",
                          code != 0 && text != NULL ? text : "no device");
    }
    WF_TRY(failed(gpu, driver->device(&gpu->device, 0), "find device 0", err));
    (void)driver->attribute(&major, ATTRIBUTE_MAJOR, gpu->device);
    (void)driver->attribute(&together, ATTRIBUTE_TOGETHER, gpu->device);
    (void)driver->attribute(&gpu->processors, ATTRIBUTE_PROCESSORS, gpu->device);
    if (major < MAJOR_LEAST || together == 0) {
        return wf_err_set(
            err, WF_EINVAL,
            "the GPU is too old: compute capability %d or later is needed, it has "
            "%d",
            MAJOR_LEAST, major);
    }
    return WF_OK;
}

static void cuda_close(struct wf_gpu *own)
{
    struct cuda_gpu *gpu = cuda_of(own);
    if (gpu->context != NULL) {
        (void)gpu->driver.set_context(gpu->context);
        if (gpu->module != NULL) {
            (void)gpu->driver.unload(gpu->module);
        }
        (void)gpu->driver.release_context(gpu->device);
    }
    /* The library stays loaded: drivers do not expect to be unloaded. */
    free(gpu);
}

static enum wf_status cuda_open(struct wf_gpu **out, struct wf_err *err)
{
    struct cuda_gpu *gpu = wf_xcalloc(1, sizeof(*gpu));

    gpu->gpu.ops = &wf_gpu_cuda;
    enum wf_status status = find_functions(gpu, err);
    WF_THEN(status, find_device(gpu, err));
    if (status != WF_OK) {
        cuda_close(&gpu->gpu);
        return status;
    }
    *out = &gpu->gpu;
    return WF_OK;
}

/* Contexts belong to threads. The first use creates the context, which takes a while: who only asks
 * whether there is a device need not wait for it. */
static enum wf_status enter(struct cuda_gpu *gpu, struct wf_err *err)
{
    if (gpu->context == NULL) {
        WF_TRY(failed(gpu, gpu->driver.retain(&gpu->context, gpu->device), "create a context",
                      err));
    }
    return failed(gpu, gpu->driver.set_context(gpu->context), "use its context", err);
}

static enum wf_status cuda_facts(struct wf_gpu *own, struct wf_gpu_facts *facts,
                                 struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    size_t available = 0, total = 0;
    int threads = 0, shared = 0;

    memset(facts, 0, sizeof(*facts));
    WF_TRY(enter(gpu, err));
    WF_TRY(failed(gpu, gpu->driver.device_name(facts->name, WF_GPU_NAME_MAX - 1, gpu->device),
                  "tell its name", err));
    WF_TRY(failed(gpu, gpu->driver.memory(&available, &total), "tell its memory", err));
    (void)gpu->driver.attribute(&threads, ATTRIBUTE_THREADS, gpu->device);
    (void)gpu->driver.attribute(&shared, ATTRIBUTE_SHARED, gpu->device);
    facts->memory_free = available;
    facts->memory_total = total;
    facts->processors = (uint32_t)gpu->processors;
    facts->threads_max = (uint32_t)threads;
    facts->shared_max = (uint32_t)shared;
    return WF_OK;
}

/* ---- memory ---- */

static enum wf_status cuda_allocate(struct wf_gpu *own, uint64_t bytes, wf_gpu_address *at,
                                    struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    char size[WF_UNITS_TEXT_MAX], what[64];

    WF_TRY(enter(gpu, err));
    (void)snprintf(what, sizeof(what), "allocate %s", wf_human_size(bytes, size));
    return failed(gpu, gpu->driver.allocate(at, bytes > 0 ? bytes : 1), what, err);
}

static void cuda_release(struct wf_gpu *own, wf_gpu_address at)
{
    struct cuda_gpu *gpu = cuda_of(own);
    if (at != 0 && enter(gpu, NULL) == WF_OK) {
        (void)gpu->driver.release(at);
    }
}

static enum wf_status cuda_zero(struct wf_gpu *own, wf_gpu_address at, uint64_t bytes,
                                struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    WF_TRY(enter(gpu, err));
    return failed(gpu, bytes > 0 ? gpu->driver.zero(at, 0, bytes) : 0, "clear memory", err);
}

static enum wf_status cuda_copy_in(struct wf_gpu *own, wf_gpu_address to, const void *from,
                                   uint64_t bytes, struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    WF_TRY(enter(gpu, err));
    return failed(gpu, bytes > 0 ? gpu->driver.copy_in(to, from, bytes) : 0,
                  "copy data to its memory", err);
}

static enum wf_status cuda_copy_out(struct wf_gpu *own, void *to, wf_gpu_address from,
                                    uint64_t bytes, struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    WF_TRY(enter(gpu, err));
    return failed(gpu, bytes > 0 ? gpu->driver.copy_out(to, from, bytes) : 0,
                  "copy data from its memory", err);
}

/* ---- kernels ---- */

static enum wf_status cuda_load(struct wf_gpu *own, const struct wf_gpu_program *program,
                                struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    char log[LOG_MAX] = "";
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE, JIT_REGISTERS};
    void *values[] = {log, wf_gpu_pointer(LOG_MAX - 1), wf_gpu_pointer(program->registers)};
    unsigned n_options = program->registers > 0 ? 3 : 2;

    if (program->ptx == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "this build has no kernels for GPUs; rebuild with clang installed");
    }
    WF_TRY(enter(gpu, err));
    if (gpu->module != NULL) {
        (void)gpu->driver.unload(gpu->module);
        gpu->module = NULL;
    }
    int code = gpu->driver.load(&gpu->module, program->ptx, n_options, options, values);
    if (code != 0 && log[0] != '\0') {
        log[strcspn(log, "\n")] = '\0';
        return wf_err_set(err, WF_EIO,
                          "the GPU's driver cannot translate the kernels '%.40s': %.300s",
                          program->name, log);
    }
    return failed(gpu, code, "load the kernels", err);
}

static enum wf_status find_kernel(struct cuda_gpu *gpu, const struct wf_gpu_launch *launch,
                                  void **function, struct wf_err *err)
{
    char what[80];

    WF_TRY(enter(gpu, err));
    (void)snprintf(what, sizeof(what), "find the kernel %.40s", launch->kernel);
    WF_TRY(failed(gpu, gpu->driver.function(function, gpu->module, launch->kernel), what, err));
    return failed(gpu,
                  gpu->driver.set_attribute(*function, FUNCTION_SHARED, (int)launch->shared),
                  "reserve shared memory", err);
}

static enum wf_status cuda_resident(struct wf_gpu *own, const struct wf_gpu_launch *launch,
                                    uint32_t *blocks, struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    void *function = NULL;
    int each = 0;

    WF_TRY(find_kernel(gpu, launch, &function, err));
    WF_TRY(failed(gpu,
                  gpu->driver.occupancy(&each, function, (int)launch->threads, launch->shared),
                  "tell how many blocks fit", err));
    *blocks = (uint32_t)(each * gpu->processors);
    return WF_OK;
}

static enum wf_status cuda_launch(struct wf_gpu *own, const struct wf_gpu_launch *launch,
                                  struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    const struct driver *driver = &gpu->driver;
    void *function = NULL, *args[] = {launch->args};
    int code;

    WF_TRY(find_kernel(gpu, launch, &function, err));
    if (launch->together) {
        code = driver->launch_together(function, launch->blocks, 1, 1, launch->threads, 1, 1,
                                       launch->shared, NULL, args);
    } else {
        code = driver->launch(function, launch->blocks, 1, 1, launch->threads, 1, 1,
                              launch->shared, NULL, args, NULL);
    }
    return failed(gpu, code, "start a kernel", err);
}

static enum wf_status cuda_wait(struct wf_gpu *own, struct wf_err *err)
{
    struct cuda_gpu *gpu = cuda_of(own);
    WF_TRY(enter(gpu, err));
    return failed(gpu, gpu->driver.synchronize(), "complete a kernel", err);
}

const struct wf_gpu_ops wf_gpu_cuda = {
    .name = "cuda",
    .doc = "NVIDIA GPUs",
    .open = cuda_open,
    .close = cuda_close,
    .facts = cuda_facts,
    .load = cuda_load,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .zero = cuda_zero,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .resident = cuda_resident,
    .launch = cuda_launch,
    .wait = cuda_wait,
};
