/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/windows.h"

#include "base/mem.h"
#include "engine/execute.h"

#include <stdlib.h>

enum {
    PREFETCH_LP = 6,     /* events ahead whose processes are prefetched */
    PREFETCH_EVENT = 12, /* events ahead that are prefetched themselves */
    NEAR_BETWEEN_CHECKS = 256,
    FEW = 16,     /* fewer events than this are sorted without counting */
    CROWDED = 24, /* more events than this in a bucket are sorted by merging */
};

void wf_windows_init(struct wf_windows *windows, struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;

    memset(windows, 0, sizeof(*windows));
    wf_wheel_init(&windows->wheel, &worker->pool, engine->lookahead);
    wf_wheel_blocks(&windows->wheel, engine->block_shift, engine->local_block,
                    worker->n_blocks);
    wf_near_init(&windows->near, engine->stride);
    windows->buckets =
        wf_xcalloc((size_t)1 << engine->block_shift, sizeof(struct wf_window_bucket));
    windows->running = WF_WHEEL_NEVER;
    worker->ctx.wheel = &windows->wheel;
    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        worker->ctx.bags[worker->blocks[b]] = &windows->wheel.ring[(size_t)b * WF_WHEEL_SLOTS];
    }
}

void wf_windows_leave(struct wf_worker *worker)
{
    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        worker->ctx.bags[worker->blocks[b]] = NULL;
    }
}

void wf_windows_fini(struct wf_windows *windows)
{
    wf_wheel_fini(&windows->wheel);
    wf_sorter_fini(&windows->sorter);
    wf_near_fini(&windows->near);
    free(windows->buckets);
    free(windows->entries);
}

static bool before(const struct wf_event *a, const struct wf_event *b)
{
    return a->dst != b->dst ? a->dst < b->dst : wf_key_before(&a->key, &b->key);
}

/* Inserts an event into the sorted entries[begin..end). If all are of one process, their times
 * in the list decide: reading the other events would take longer. */
__attribute__((always_inline)) static inline void insert(struct wf_window_entry *entries,
                                                         uint32_t begin, uint32_t end,
                                                         struct wf_event *ev, bool one_process)
{
    int64_t time = ev->key.time;

    for (; end > begin; end--) {
        const struct wf_window_entry *last = &entries[end - 1];
        if (one_process && last->time != time ? time >= last->time : !before(ev, last->ev)) {
            break;
        }
        entries[end] = *last;
    }
    entries[end] = (struct wf_window_entry){time, ev};
}

static void sort_few(struct wf_windows *windows, const struct wf_bag *bag, uint32_t stride)
{
    uint32_t n = 0;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0; o < chunk->used; o += stride) {
            insert(windows->entries, 0, n++, wf_chunk_event(chunk, o), false);
        }
    }
}

/* Counts the events of each bucket of 2^shift processes, and finds where their places in the
 * sorted list begin. Returns the largest count. */
static uint32_t count_by_bucket(struct wf_windows *windows, const struct wf_bag *bag,
                                const struct wf_block *block, uint32_t stride, unsigned shift)
{
    struct wf_window_bucket *buckets = windows->buckets;
    uint32_t n_buckets = ((block->count - 1) >> shift) + 1;
    uint32_t at = 0, most = 0;

    memset(buckets, 0, n_buckets * sizeof(*buckets));
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        /* Inside a chunk the hardware prefetches. */
        __builtin_prefetch(chunk->next);
        for (uint32_t o = 0; o < chunk->used; o += stride) {
            buckets[(wf_chunk_event(chunk, o)->dst - block->first) >> shift].next++;
        }
    }
    for (uint32_t i = 0; i < n_buckets; i++) {
        uint32_t count = buckets[i].next;
        buckets[i].begin = buckets[i].next = at;
        most = count > most ? count : most;
        at += count;
    }
    return most;
}

/* Counting sort by bucket. Each event is put in order among the few of its bucket. */
__attribute__((always_inline)) static inline void
place_in_order(struct wf_windows *windows, const struct wf_bag *bag,
               const struct wf_block *block, uint32_t stride, unsigned shift)
{
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0; o < chunk->used; o += stride) {
            struct wf_event *ev = wf_chunk_event(chunk, o);
            struct wf_window_bucket *bucket =
                &windows->buckets[(ev->dst - block->first) >> shift];
            insert(windows->entries, bucket->begin, bucket->next, ev, shift == 0);
            bucket->next++;
        }
    }
}

/* Counting sort by process, then a sort by key of the many events of a process. */
static void place_and_sort(struct wf_windows *windows, const struct wf_bag *bag,
                           const struct wf_block *block, uint32_t stride)
{
    struct wf_event **events = windows->sorter.events;
    struct wf_window_bucket *buckets = windows->buckets;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0; o < chunk->used; o += stride) {
            struct wf_event *ev = wf_chunk_event(chunk, o);
            events[buckets[ev->dst - block->first].next++] = ev;
        }
    }
    for (uint32_t i = 0; i < block->count; i++) {
        wf_sort_by_key(events + buckets[i].begin, buckets[i].next - buckets[i].begin,
                       windows->sorter.scratch);
    }
    for (uint32_t i = 0; i < bag->n; i++) {
        windows->entries[i] = (struct wf_window_entry){events[i]->key.time, events[i]};
    }
}

static void reserve(struct wf_windows *windows, size_t n)
{
    if (n > windows->capacity) {
        windows->capacity = n < 1024 ? 1024 : n + n / 2;
        free(windows->entries);
        windows->entries = wf_xmalloc(windows->capacity * sizeof(*windows->entries));
    }
}

/* Sorts the events of a block by process and key. In a block with fewer events than processes a
 * bucket has several processes: there are at most twice as many buckets as events. */
static void sort_events(struct wf_windows *windows, const struct wf_bag *bag,
                        const struct wf_block *block, uint32_t stride)
{
    unsigned shift = 0;

    reserve(windows, bag->n);
    if (bag->n < FEW) {
        sort_few(windows, bag, stride);
        return;
    }
    while (block->count >> shift > 2 * bag->n) {
        shift++;
    }
    bool crowded = count_by_bucket(windows, bag, block, stride, shift) > CROWDED;
    if (!crowded && shift == 0) {
        place_in_order(windows, bag, block, stride, 0);
    } else if (!crowded) {
        place_in_order(windows, bag, block, stride, shift);
    } else {
        if (shift > 0) {
            (void)count_by_bucket(windows, bag, block, stride, 0);
        }
        wf_sorter_reserve(&windows->sorter, bag->n);
        place_and_sort(windows, bag, block, stride);
    }
}

/* Executes the events of the heap that precede `next`, which is null or in the same block. A
 * model in which time stands still may never leave this loop. */
static void run_near(struct wf_windows *windows, struct wf_worker *worker,
                     const struct wf_block *block, const struct wf_event *next)
{
    while (windows->near.n > 0 && (next == NULL || before(wf_near_top(&windows->near), next))) {
        wf_near_pop(&windows->near, worker->current);
        wf_execute_in(worker, block, worker->current);
        wf_worker_count(worker, worker->current);
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
    size_t n = bag->n;
    int64_t last = worker->count.last_time;

    wf_bag_seal(bag);
    sort_events(windows, bag, block, worker->engine->stride);
    const struct wf_window_entry *entries = windows->entries;
    /* Most events with payloads reach into a second cache line. */
    size_t tail = worker->engine->stride < 64 ? 0 : 56, i = 0;
    for (; i < n && !windows->stopped; i++) {
        const struct wf_event *ev = entries[i].ev;
        if (i + PREFETCH_EVENT < n) {
            const unsigned char *ahead = (const void *)entries[i + PREFETCH_EVENT].ev;
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + tail);
            __builtin_prefetch(wf_block_lp(block, entries[i + PREFETCH_LP].ev->dst), 1);
        }
        if (windows->near.n > 0) {
            run_near(windows, worker, block, ev);
        }
        wf_execute_in(worker, block, ev);
        last = entries[i].time > last ? entries[i].time : last;
    }
    worker->count.committed += i;
    worker->count.last_time = last > worker->count.last_time ? last : worker->count.last_time;
    if (!windows->stopped) {
        run_near(windows, worker, block, NULL);
    }
    wf_bag_free(bag, &worker->pool);
}

void wf_windows_run(struct wf_windows *windows, struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;

    worker->count.rounds++;
    if (!wf_wheel_take(&windows->wheel)) {
        return;
    }
    windows->running = windows->wheel.now;
    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        struct wf_bag *bag = wf_wheel_bag(&windows->wheel, b);
        if (bag->head == NULL) {
            continue;
        }
        windows->stopped = windows->stopped || wf_engine_must_stop(engine);
        if (windows->stopped) {
            wf_bag_free(bag, &worker->pool);
        } else {
            run_block(windows, worker, bag, &engine->blocks[worker->blocks[b]]);
        }
    }
    windows->running = WF_WHEEL_NEVER;
}
