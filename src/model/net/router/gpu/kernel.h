/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a kernel may use. One source is compiled for the host and, by clang's NVPTX back end, for
 * GPUs: only integers and memory, no library.
 *
 * A kernel is a function of its place in the launch and of a struct:
 *
 *     static inline void advance(const struct wf_gpu_at *at, const struct advance_args *args);
 *     WF_GPU_KERNEL(advance, struct advance_args)
 */

#include <stdbool.h>
#include <stdint.h>

/* The place of a thread in a launch. */
struct wf_gpu_at {
    uint32_t thread, threads; /* in its block */
    uint32_t block, blocks;
    uint64_t *shared;         /* memory of the block */
    struct wf_gpu_crew *crew; /* host only */
};

/* Words that are copied at once. */
struct wf_gpu_four {
    uint32_t words[4];
} __attribute__((aligned(16)));

#ifdef __NVPTX__

/* clang-format off */
extern __attribute__((address_space(3))) uint64_t wf_gpu_shared_memory[];

#define WF_GPU_KERNEL(function, type)                                                            \
    void wf_gpu_##function(type args);                                                           \
    void wf_gpu_##function(type args)                                                            \
    {                                                                                            \
        const struct wf_gpu_at at = {                                                            \
            __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_ntid_x(),                         \
            __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_nctaid_x(),                     \
            (uint64_t *)wf_gpu_shared_memory, 0};                                                \
        function(&at, &args);                                                                    \
    }
/* clang-format on */

/* All threads of the block wait for each other, and see what the others wrote. */
static inline void wf_gpu_barrier(const struct wf_gpu_at *at)
{
    (void)at;
    __syncthreads();
}

/* All threads of a launch whose blocks run together wait for each other, in two steps: the threads of
 * a block wait for each other and arrive; then they wait for `turn` arrivals of every block. `count`
 * was 0 before the launch. What others wrote before they arrived must be read with wf_gpu_load(): the
 * cache of a processor may still hold older words. */
static inline void wf_gpu_arrive_all(const struct wf_gpu_at *at, uint32_t *count)
{
    __syncthreads();
    if (at->thread == 0) {
        __asm__ volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    }
}

static inline void wf_gpu_wait_all(const struct wf_gpu_at *at, uint32_t *count, uint32_t turn)
{
    if (at->thread == 0) {
        uint32_t seen, target = turn * at->blocks;
        do {
            __asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                             : "=r"(seen)
                             : "l"(count)
                             : "memory");
        } while ((int32_t)(seen - target) < 0);
    }
    __syncthreads();
}

/* Reads a word of global memory that other blocks write, past the caches of the processor. */
static inline uint32_t wf_gpu_load32(const uint32_t *at)
{
    uint32_t value;

    __asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}

/* Likewise 16 bytes, which are aligned. */
static inline void wf_gpu_load128(const void *at, void *to)
{
    uint32_t *words = (uint32_t *)to;

    __asm__ volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "l"(at));
}

/* Likewise 8 bytes. */
static inline void wf_gpu_load64(const void *at, void *to)
{
    uint32_t *words = (uint32_t *)to;

    __asm__ volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1])
                     : "l"(at));
}

static inline void wf_gpu_max64(uint64_t *at, uint64_t value)
{
    (void)__nvvm_atom_max_gen_ull((unsigned long long *)at, value);
}

static inline void wf_gpu_max32(uint32_t *at, uint32_t value)
{
    (void)__nvvm_atom_max_gen_ui(at, value);
}

/* Sums and sets of bits that several threads change; the order does not matter. */
static inline uint32_t wf_gpu_add32(uint32_t *at, uint32_t value)
{
    return (uint32_t)__nvvm_atom_add_gen_i((int *)at, (int)value);
}

static inline void wf_gpu_add64(uint64_t *at, uint64_t value)
{
    (void)__nvvm_atom_add_gen_ll((long long *)at, (long long)value);
}

static inline uint32_t wf_gpu_or32(uint32_t *at, uint32_t bits)
{
    return (uint32_t)__nvvm_atom_or_gen_i((int *)at, (int)bits);
}

static inline void wf_gpu_and32(uint32_t *at, uint32_t bits)
{
    (void)__nvvm_atom_and_gen_i((int *)at, (int)bits);
}

/* Sets bits that other threads of the block may set at the same time; nobody clears any. */
static inline void wf_gpu_set16(uint16_t *at, uint32_t bits)
{
    *at = (uint16_t)(*at | bits);
}

static inline void wf_gpu_set8(uint8_t *at, uint32_t bits)
{
    *at = (uint8_t)(*at | bits);
}

#else

#define WF_GPU_KERNEL(function, type)                                                \
    static void wf_gpu_host_##function(const struct wf_gpu_at *at, const void *args) \
    {                                                                                \
        function(at, args);                                                          \
    }

/* model/net/router/gpu/host.c */
void wf_gpu_barrier(const struct wf_gpu_at *at);
void wf_gpu_arrive_all(const struct wf_gpu_at *at, uint32_t *count);
void wf_gpu_wait_all(const struct wf_gpu_at *at, uint32_t *count, uint32_t turn);

static inline uint32_t wf_gpu_load32(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static inline void wf_gpu_load128(const void *at, void *to)
{
    const uint32_t *from = at;
    uint32_t *words = to;

    for (int i = 0; i < 4; i++) {
        words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    }
}

static inline void wf_gpu_load64(const void *at, void *to)
{
    const uint32_t *from = at;
    uint32_t *words = to;

    for (int i = 0; i < 2; i++) {
        words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    }
}

static inline void wf_gpu_max64(uint64_t *at, uint64_t value)
{
    uint64_t seen = __atomic_load_n(at, __ATOMIC_RELAXED);

    while (seen < value && !__atomic_compare_exchange_n(at, &seen, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static inline void wf_gpu_max32(uint32_t *at, uint32_t value)
{
    uint32_t seen = __atomic_load_n(at, __ATOMIC_RELAXED);

    while (seen < value && !__atomic_compare_exchange_n(at, &seen, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static inline void wf_gpu_set16(uint16_t *at, uint32_t bits)
{
    (void)__atomic_fetch_or(at, (uint16_t)bits, __ATOMIC_RELAXED);
}

static inline void wf_gpu_set8(uint8_t *at, uint32_t bits)
{
    (void)__atomic_fetch_or(at, (uint8_t)bits, __ATOMIC_RELAXED);
}

static inline uint32_t wf_gpu_add32(uint32_t *at, uint32_t value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

static inline void wf_gpu_add64(uint64_t *at, uint64_t value)
{
    (void)__atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

static inline uint32_t wf_gpu_or32(uint32_t *at, uint32_t bits)
{
    return __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
}

static inline void wf_gpu_and32(uint32_t *at, uint32_t bits)
{
    (void)__atomic_fetch_and(at, bits, __ATOMIC_RELAXED);
}

#endif
