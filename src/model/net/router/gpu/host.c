/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A back end without a device: the threads of a kernel take turns on one thread of this machine,
 * from barrier to barrier, and memory is memory. It finds mistakes of kernels and of their
 * launches where there is no GPU. It is slow: use lock step on cores to simulate.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "model/net/router/gpu/gpu.h"
#include "model/net/router/gpu/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { THREADS_MAX = 4, BLOCKS_TOGETHER = 3, SHARED_MAX = 8 * 1024, STACK = 256 * 1024 };

struct host_gpu {
    struct wf_gpu gpu;
    const struct wf_gpu_host_kernel *kernels;
};

enum { RUNS, WAITS_FOR_BLOCK, WAITS_FOR_ALL, ENDED };

/* A thread of a kernel. */
struct worker {
    ucontext_t context;
    void *stack;
    int state;
    struct wf_gpu_at at;
    const struct wf_gpu_host_kernel *kernel;
    const void *args;
};

/* The threads of the blocks that run at the same time; `self` is the one whose turn it is. */
struct wf_gpu_crew {
    ucontext_t scheduler;
    struct worker workers[BLOCKS_TOGETHER * THREADS_MAX], *self;
    uint32_t n, threads; /* in all, and of a block */
};

static void wait_in(struct wf_gpu_crew *crew, int state)
{
    crew->self->state = state;
    (void)swapcontext(&crew->self->context, &crew->scheduler);
}

void wf_gpu_barrier(const struct wf_gpu_at *at)
{
    wait_in(at->crew, WAITS_FOR_BLOCK);
}

void wf_gpu_arrive_all(const struct wf_gpu_at *at, uint32_t *count)
{
    (void)count;
    wait_in(at->crew, WAITS_FOR_BLOCK);
}

void wf_gpu_wait_all(const struct wf_gpu_at *at, uint32_t *count, uint32_t turn)
{
    (void)count;
    if (turn > 0) {
        wait_in(at->crew, WAITS_FOR_ALL);
    }
}

static enum wf_status host_open(struct wf_gpu **out, struct wf_err *err)
{
    struct host_gpu *host = wf_xcalloc(1, sizeof(*host));

    host->gpu.ops = &wf_gpu_host;
    *out = &host->gpu;
    return WF_OK;
}

static void host_close(struct wf_gpu *gpu)
{
    free(gpu);
}

static enum wf_status host_facts(struct wf_gpu *gpu, struct wf_gpu_facts *facts,
                                 struct wf_err *err)
{
    *facts = (struct wf_gpu_facts){.name = "this machine",
                                   .memory_free = wf_clock_memory(),
                                   .memory_total = wf_clock_memory(),
                                   .processors = BLOCKS_TOGETHER,
                                   .threads_max = THREADS_MAX,
                                   .shared_max = SHARED_MAX};
    return WF_OK;
}

static enum wf_status host_load(struct wf_gpu *gpu, const struct wf_gpu_program *program,
                                struct wf_err *err)
{
    ((struct host_gpu *)gpu)->kernels = program->host;
    return WF_OK;
}

static enum wf_status host_allocate(struct wf_gpu *gpu, uint64_t bytes, wf_gpu_address *at,
                                    struct wf_err *err)
{
    void *memory = wf_xmalloc(bytes > 0 ? bytes : 1);

    memset(memory, 0xa5, bytes); /* as little defined as a device's */
    *at = (uintptr_t)memory;
    return WF_OK;
}

static void host_release(struct wf_gpu *gpu, wf_gpu_address at)
{
    free(wf_gpu_pointer(at));
}

static enum wf_status host_zero(struct wf_gpu *gpu, wf_gpu_address at, uint64_t bytes,
                                struct wf_err *err)
{
    memset(wf_gpu_pointer(at), 0, bytes);
    return WF_OK;
}

static enum wf_status host_copy_in(struct wf_gpu *gpu, wf_gpu_address to, const void *from,
                                   uint64_t bytes, struct wf_err *err)
{
    memcpy(wf_gpu_pointer(to), from, bytes);
    return WF_OK;
}

static enum wf_status host_copy_out(struct wf_gpu *gpu, void *to, wf_gpu_address from,
                                    uint64_t bytes, struct wf_err *err)
{
    memcpy(to, wf_gpu_pointer(from), bytes);
    return WF_OK;
}

static enum wf_status host_resident(struct wf_gpu *gpu, const struct wf_gpu_launch *launch,
                                    uint32_t *blocks, struct wf_err *err)
{
    *blocks = BLOCKS_TOGETHER;
    return WF_OK;
}

/* makecontext() passes only integers. */
static void worker_main(unsigned high, unsigned low)
{
    struct worker *worker = wf_gpu_pointer((uint64_t)high << 32 | low);

    worker->kernel->run(&worker->at, worker->args);
    worker->state = ENDED;
}

/* Whether all workers from `first` on wait in the same way, or have ended. */
static bool all_wait(const struct wf_gpu_crew *crew, uint32_t first, uint32_t n, int state)
{
    for (uint32_t i = first; i < first + n; i++) {
        if (crew->workers[i].state != state && crew->workers[i].state != ENDED) {
            return false;
        }
    }
    return true;
}

static void release_all(struct wf_gpu_crew *crew, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) {
        if (crew->workers[i].state != ENDED) {
            crew->workers[i].state = RUNS;
        }
    }
}

/* Runs each worker to its next barrier. The order changes from round to round: no result may depend
 * on it. Returns whether any worker is left. */
static bool run_round(struct wf_gpu_crew *crew, uint32_t round)
{
    bool left = false;

    for (uint32_t i = 0; i < crew->n; i++) {
        struct worker *worker =
            &crew->workers[round % 2 == 0 ? (i + round) % crew->n : crew->n - 1 - i];
        if (worker->state == RUNS) {
            crew->self = worker;
            (void)swapcontext(&crew->scheduler, &worker->context);
        }
        left = left || worker->state != ENDED;
    }
    for (uint32_t first = 0; first < crew->n; first += crew->threads) {
        if (all_wait(crew, first, crew->threads, WAITS_FOR_BLOCK)) {
            release_all(crew, first, crew->threads);
        }
    }
    if (all_wait(crew, 0, crew->n, WAITS_FOR_ALL)) {
        release_all(crew, 0, crew->n);
    }
    return left;
}

/* Prepares the threads of a block. */
static void add_block(struct wf_gpu_crew *crew, const struct wf_gpu_host_kernel *kernel,
                      const struct wf_gpu_launch *launch, uint32_t block)
{
    uint64_t *shared = wf_xmalloc((size_t)launch->shared + sizeof(uint64_t));

    memset(shared, 0x5a, launch->shared); /* as little defined as a device's */
    for (uint32_t thread = 0; thread < launch->threads; thread++) {
        struct worker *worker = &crew->workers[crew->n++];
        uintptr_t address = (uintptr_t)worker;
        worker->kernel = kernel;
        worker->args = launch->args;
        worker->state = RUNS;
        worker->at = (struct wf_gpu_at){.thread = thread,
                                        .threads = launch->threads,
                                        .block = block,
                                        .blocks = launch->blocks,
                                        .shared = shared,
                                        .crew = crew};
        worker->stack = wf_xmalloc(STACK);
        (void)getcontext(&worker->context);
        worker->context.uc_stack.ss_sp = worker->stack;
        worker->context.uc_stack.ss_size = STACK;
        worker->context.uc_link = &crew->scheduler;
        makecontext(&worker->context, (void (*)(void))worker_main, 2, (unsigned)(address >> 32),
                    (unsigned)address);
    }
}

/* Runs `n` blocks from `first` on at the same time. */
static void run_blocks(const struct wf_gpu_host_kernel *kernel,
                       const struct wf_gpu_launch *launch, uint32_t first, uint32_t n)
{
    struct wf_gpu_crew *crew = wf_xcalloc(1, sizeof(*crew));

    crew->threads = launch->threads;
    for (uint32_t block = 0; block < n; block++) {
        add_block(crew, kernel, launch, first + block);
    }
    for (uint32_t round = 0; run_round(crew, round); round++) {
    }
    for (uint32_t i = 0; i < crew->n; i++) {
        if (crew->workers[i].at.thread == 0) {
            free(crew->workers[i].at.shared);
        }
        free(crew->workers[i].stack);
    }
    free(crew);
}

static enum wf_status host_launch(struct wf_gpu *gpu, const struct wf_gpu_launch *launch,
                                  struct wf_err *err)
{
    const struct wf_gpu_host_kernel *kernel = ((const struct host_gpu *)gpu)->kernels;

    while (kernel->name != NULL && strcmp(kernel->name, launch->kernel) != 0) {
        kernel++;
    }
    if (kernel->name == NULL || launch->threads > THREADS_MAX ||
        (launch->together && launch->blocks > BLOCKS_TOGETHER)) {
        return wf_err_set(err, WF_EIO, "the kernel %.40s cannot be started", launch->kernel);
    }
    for (uint32_t first = 0; first < launch->blocks; first += BLOCKS_TOGETHER) {
        uint32_t left = launch->blocks - first;
        run_blocks(kernel, launch, first, left < BLOCKS_TOGETHER ? left : BLOCKS_TOGETHER);
    }
    return WF_OK;
}

static enum wf_status host_wait(struct wf_gpu *gpu, struct wf_err *err)
{
    return WF_OK;
}

const struct wf_gpu_ops wf_gpu_host = {
    .name = "host",
    .doc = "threads of this machine, for tests",
    .explicit_only = true,
    .open = host_open,
    .close = host_close,
    .facts = host_facts,
    .load = host_load,
    .allocate = host_allocate,
    .release = host_release,
    .zero = host_zero,
    .copy_in = host_copy_in,
    .copy_out = host_copy_out,
    .resident = host_resident,
    .launch = host_launch,
    .wait = host_wait,
};
