/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/gpu/kernels.h"

static inline void ring(const struct wf_gpu_at *at, const struct ring_args *args)
{
    uint32_t n = args->n, all = at->threads * at->blocks;

    for (uint32_t turn = 1; turn <= args->turns; turn++) {
        const uint32_t *from = args->cells + (turn & 1 ? 0 : n);
        uint32_t *to = args->cells + (turn & 1 ? n : 0);
        for (uint32_t i = at->block * at->threads + at->thread; i < n; i += all) {
            to[i] = wf_gpu_load32(&from[i == 0 ? n - 1 : i - 1]) +
                    3 * wf_gpu_load32(&from[i + 1 == n ? 0 : i + 1]);
        }
        wf_gpu_arrive_all(at, args->count);
        wf_gpu_wait_all(at, args->count, turn);
    }
}
WF_GPU_KERNEL(ring, struct ring_args)

static inline void count(const struct wf_gpu_at *at, const struct count_args *args)
{
    uint32_t *classes = (uint32_t *)at->shared;

    for (uint32_t i = at->thread; i < CLASSES; i += at->threads) {
        classes[i] = 0;
    }
    wf_gpu_barrier(at);
    for (uint32_t i = at->block * at->threads + at->thread; i < args->n;
         i += at->threads * at->blocks) {
        uint32_t number = mix(i);
        (void)wf_gpu_add32(&classes[number % CLASSES], 1);
        wf_gpu_max64(args->most, number);
        (void)wf_gpu_or32(args->bits, number & 0xff00);
    }
    wf_gpu_barrier(at);
    for (uint32_t i = at->thread; i < CLASSES; i += at->threads) {
        wf_gpu_add64(&args->sums[i], classes[i]);
    }
}
WF_GPU_KERNEL(count, struct count_args)

#ifndef __NVPTX__
#include "model/net/router/gpu/gpu.h"

#include <stddef.h>

extern const char *const weft_test_gpu_ptx;

static const struct wf_gpu_host_kernel host[] = {
    {"wf_gpu_ring", wf_gpu_host_ring},
    {"wf_gpu_count", wf_gpu_host_count},
    {NULL, NULL},
};

const struct wf_gpu_program *test_gpu_program(void);
const struct wf_gpu_program *test_gpu_program(void)
{
    static struct wf_gpu_program program;

    program = (struct wf_gpu_program){.name = "test", .ptx = weft_test_gpu_ptx, .host = host};
    return &program;
}
#endif
