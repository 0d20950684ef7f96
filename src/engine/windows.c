/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/windows.h"

#include "base/mem.h"

#include <stdlib.h>

enum {
    PREFETCH_LP = 6,     /* events ahead whose processes are prefetched */
    PREFETCH_EVENT = 12, /* events ahead that are prefetched themselves */
    NEAR_BETWEEN_CHECKS = 256,
    SPARSE = 48, /* fewer events than this are sorted without counting */
};

void wf_windows_init(struct wf_windows *windows, struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;

    memset(windows, 0, sizeof(*windows));
    wf_wheel_init(&windows->wheel, &worker->pool, engine->lookahead);
    wf_wheel_blocks(&windows->wheel, engine->block_shift, engine->local_block,
                    worker->n_blocks);
    wf_near_init(&windows->near, engine->stride);
    windows->count = wf_xcalloc(((size_t)1 << engine->block_shift) + 1, sizeof(uint32_t));
    windows->running = WF_WHEEL_NEVER;
}

void wf_windows_fini(struct wf_windows *windows)
{
    wf_wheel_fini(&windows->wheel);
    wf_sorter_fini(&windows->sorter);
    wf_near_fini(&windows->near);
    free(windows->count);
}

static bool before(const struct wf_event *a, const struct wf_event *b)
{
    return a->dst != b->dst ? a->dst < b->dst : wf_key_before(&a->key, &b->key);
}

/* Puts the addresses of the events of a bag into `to`. */
static void gather(const struct wf_bag *bag, uint32_t stride, struct wf_event **to)
{
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t at = 0; at < chunk->used; at += stride) {
            *to++ = wf_chunk_event(chunk, at);
        }
    }
}

static void sort_sparse(struct wf_windows *windows, const struct wf_bag *bag, size_t n,
                        uint32_t stride)
{
    struct wf_event **events = windows->sorter.events;

    gather(bag, stride, events);
    for (size_t i = 1; i < n; i++) {
        struct wf_event *ev = events[i];
        size_t j = i;
        for (; j > 0 && before(ev, events[j - 1]); j--) {
            events[j] = events[j - 1];
        }
        events[j] = ev;
    }
}

/* Counting sort by process, then a sort by key of the few events of each process. */
static void sort_dense(struct wf_windows *windows, const struct wf_bag *bag,
                       const struct wf_block *block, uint32_t stride)
{
    struct wf_event **events = windows->sorter.events;
    uint32_t *count = windows->count;
    uint32_t at = 0;

    memset(count, 0, block->count * sizeof(*count));
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        /* Inside a chunk the hardware prefetches. */
        __builtin_prefetch(chunk->next);
        for (uint32_t o = 0; o < chunk->used; o += stride) {
            count[wf_chunk_event(chunk, o)->dst - block->first]++;
        }
    }
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t c = count[i];
        count[i] = at;
        at += c;
    }
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0; o < chunk->used; o += stride) {
            struct wf_event *ev = wf_chunk_event(chunk, o);
            events[count[ev->dst - block->first]++] = ev;
        }
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        if (count[i] - begin > 1) {
            wf_sort_by_key(events + begin, count[i] - begin, windows->sorter.scratch);
        }
        begin = count[i];
    }
}

/* Executes the events of the heap that precede `next`, which is null or in the same block. A
 * model in which time stands still may never leave this loop. */
static void run_near(struct wf_windows *windows, struct wf_worker *worker,
                     const struct wf_event *next)
{
    while (windows->near.n > 0 && (next == NULL || before(wf_near_top(&windows->near), next))) {
        wf_near_pop(&windows->near, worker->current);
        wf_worker_execute(worker, worker->current);
        if (++windows->near_run % NEAR_BETWEEN_CHECKS == 0 &&
            wf_engine_must_stop(worker->engine)) {
            windows->stopped = true;
            return;
        }
    }
}

static void run_block(struct wf_windows *windows, struct wf_worker *worker, struct wf_bag *bag,
                      const struct wf_block *block)
{
    uint32_t stride = worker->engine->stride;
    size_t n = bag->n;

    wf_bag_seal(bag);
    wf_sorter_reserve(&windows->sorter, n);
    if (n < SPARSE) {
        sort_sparse(windows, bag, n, stride);
    } else {
        sort_dense(windows, bag, block, stride);
    }
    struct wf_event **events = windows->sorter.events;
    for (size_t i = 0; i < n && !windows->stopped; i++) {
        if (i + PREFETCH_EVENT < n) {
            __builtin_prefetch(events[i + PREFETCH_EVENT]);
            __builtin_prefetch(wf_block_lp(block, events[i + PREFETCH_LP]->dst), 1);
        }
        if (windows->near.n > 0) {
            run_near(windows, worker, events[i]);
        }
        wf_worker_execute(worker, events[i]);
    }
    if (!windows->stopped) {
        run_near(windows, worker, NULL);
    }
    wf_bag_free(bag, &worker->pool);
}

void wf_windows_run(struct wf_windows *windows, struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;
    struct wf_bag *bags = wf_wheel_take(&windows->wheel);

    worker->count.rounds++;
    if (bags == NULL) {
        return;
    }
    windows->running = windows->wheel.now;
    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        if (bags[b].head == NULL) {
            continue;
        }
        windows->stopped = windows->stopped || wf_engine_must_stop(engine);
        if (windows->stopped) {
            wf_bag_free(&bags[b], &worker->pool);
        } else {
            run_block(windows, worker, &bags[b], &engine->blocks[worker->blocks[b]]);
        }
    }
    windows->running = WF_WHEEL_NEVER;
}
