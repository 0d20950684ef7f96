/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sched/windows.h"

#include "base/mem.h"
#include "engine/core/execute.h"
#include "engine/core/forecast.h"
#include "engine/queue/pack.h"
#include "engine/tuning.h"

#include <stdlib.h>

/* Bits of the order by which a block sorts its events; the rest is the process. */
enum { TIME_BITS = 31, SOURCE_BITS = 22, SOURCE_MAX = (1 << SOURCE_BITS) - 1 };
_Static_assert(TIME_BITS + SOURCE_BITS + WF_ID_ALIGN_SHIFT <= 64,
               "a block has so many processes");

void wf_windows_init(struct wf_windows *windows, struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;

    memset(windows, 0, sizeof(*windows));
    wf_wheel_init(&windows->wheel, &worker->pool, engine->lookahead);
    wf_wheel_blocks(&windows->wheel, engine->map, engine->local_block, worker->n_blocks);
    wf_near_init(&windows->near, engine->stride);
    windows->places = wf_xcalloc((size_t)1 << engine->map.shift, sizeof(uint32_t));
    windows->length = engine->lookahead;
    while ((uint64_t)windows->length >> (windows->time_shift + TIME_BITS - 1) != 0) {
        windows->time_shift++;
    }
    windows->source_mask = windows->time_shift == 0 ? SOURCE_MAX : 0;
    windows->running = WF_WHEEL_NEVER;
    worker->ctx.wheel = &windows->wheel;
    worker->ctx.near = &windows->near;
    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        worker->ctx.bags[worker->blocks[b]] = &windows->wheel.ring[(size_t)b * WF_WHEEL_SLOTS];
    }
}

void wf_windows_queue_block(struct wf_windows *windows, struct wf_worker *worker, uint32_t b,
                            struct wf_pending *pending)
{
    struct wf_bag *bag = wf_wheel_bag(&windows->wheel, b);

    wf_bag_open(bag, &worker->pool);
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
            wf_pending_push(pending, wf_chunk_event(chunk, at));
        }
    }
    wf_bag_free(bag, &worker->pool);
}

void wf_windows_queue_all(struct wf_windows *windows, struct wf_worker *worker,
                          struct wf_pending *pending)
{
    struct wf_wheel *wheel = &windows->wheel;

    for (uint64_t next = wf_wheel_next(wheel); next != WF_WHEEL_NEVER;
         next = wf_wheel_next(wheel)) {
        wf_wheel_advance(wheel, next);
        bool any = wf_wheel_take(wheel);
        for (uint32_t b = 0; any && b < worker->n_blocks; b++) {
            wf_windows_queue_block(windows, worker, b, pending);
        }
    }
    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        worker->ctx.bags[worker->blocks[b]] = NULL;
    }
}

void wf_windows_fini(struct wf_windows *windows)
{
    wf_wheel_fini(&windows->wheel);
    wf_sorter_fini(&windows->sorter);
    wf_near_fini(&windows->near);
    free(windows->places);
}

void wf_store_init(struct wf_store *store, struct wf_worker *worker)
{
    store->windowed = worker->engine->lookahead > 0;
    wf_pending_init(&store->pending, &worker->pool);
    if (store->windowed) {
        wf_windows_init(&store->windows, worker);
    }
}

void wf_store_queue_all(struct wf_store *store, struct wf_worker *worker)
{
    if (store->windowed) {
        wf_windows_queue_all(&store->windows, worker, &store->pending);
        store->windowed = false;
    }
}

void wf_store_take_all(struct wf_store *store, struct wf_worker *worker, struct wf_bag *all)
{
    if (store->windowed) {
        wf_wheel_gather(&store->windows.wheel, all);
        store->windowed = false;
        return;
    }
    struct wf_event *ev = wf_xaligned_zero(worker->engine->stride);
    while (wf_pending_peek(&store->pending) != NULL) {
        wf_pending_pop(&store->pending, ev);
        (void)wf_bag_add(all, &worker->pool, ev);
    }
    wf_bag_seal(all);
    free(ev);
}

void wf_store_fini(struct wf_store *store)
{
    wf_pending_fini(&store->pending);
    wf_windows_fini(&store->windows); /* all zero if there were none */
}

static bool before(const struct wf_event *a, const struct wf_event *b)
{
    return a->dst != b->dst ? a->dst < b->dst : wf_key_before(&a->key, &b->key);
}

/* The offset of the event after the one at `offset`. */
static inline uint32_t step(struct wf_chunk *chunk, uint32_t offset, uint32_t fixed)
{
    return fixed != 0 ? offset + fixed : wf_chunk_after(chunk, offset);
}

/* Counts the events of each bucket of 2^shift processes, and finds where their entries begin. With
 * events of a fixed size, which is 0 if they differ, the offset of the next one is known without
 * reading the event, so that the processor need not wait for it. */
static uint32_t count_by_bucket(struct wf_windows *windows, const struct wf_bag *bag,
                                const struct wf_block *block, unsigned shift, uint32_t fixed)
{
    uint32_t *places = windows->places, at = 0;
    uint32_t n_buckets = ((block->count - 1) >> shift) + 1;

    memset(places, 0, n_buckets * sizeof(*places));
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        wf_chunk_prefetch(chunk->next);
        for (uint32_t o = 0, used = chunk->used; o < used; o = step(chunk, o, fixed)) {
            places[wf_block_index(block, wf_chunk_event(chunk, o)->dst) >> shift]++;
        }
    }
    for (uint32_t i = 0; i < n_buckets; i++) {
        uint32_t count = places[i];
        places[i] = at;
        at += count;
    }
    return n_buckets;
}

/* The place of its process in the block, its time since `base`, and its source, in one number. If its
 * time has too many bits, the lower ones and the source are left out: then keys decide. An event with
 * a delta comes after all others of its instant. */
static inline uint64_t order_of(const struct wf_windows *windows, const struct wf_event *ev,
                                uint64_t process, int64_t base)
{
    uint64_t time = ((uint64_t)ev->key.time - (uint64_t)base) >> windows->time_shift;
    uint32_t source = ev->key.src < SOURCE_MAX - 1 ? ev->key.src : SOURCE_MAX - 1;

    source = ev->key.delta != 0 ? SOURCE_MAX : source;
    return process << (TIME_BITS + SOURCE_BITS) | time << SOURCE_BITS |
           (source & windows->source_mask);
}

/* The place of the process of an event in its block. */
static inline size_t process_of(const struct wf_sort_entry *entry)
{
    return entry->order >> (TIME_BITS + SOURCE_BITS);
}

/* Writes an entry for each event of a block, behind those of its bucket that are there; without `places` one
 * after the other. */
__attribute__((always_inline)) static inline void
list_events(struct wf_windows *windows, const struct wf_bag *bag, const struct wf_block *block,
            uint32_t fixed, uint32_t *places, unsigned shift)
{
    struct wf_sort_entry *scratch = windows->sorter.scratch;
    /* Events of a window are less than its length apart. */
    int64_t base = wf_chunk_event(bag->head, 0)->key.time - windows->length;
    size_t n = 0;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0, used = chunk->used; o < used; o = step(chunk, o, fixed)) {
            struct wf_event *ev = wf_chunk_event(chunk, o);
            uint32_t process = wf_block_index(block, ev->dst);
            size_t at = places != NULL ? places[process >> shift]++ : n++;
            scratch[at] = (struct wf_sort_entry){order_of(windows, ev, process, base), ev};
        }
    }
}

/* Sorts the events of a block by process and key: by counting the events of each bucket, and then
 * those of a bucket among each other. In a block with fewer events than processes a bucket has
 * several processes: there are at most twice as many buckets as events. */
static void sort_events(struct wf_windows *windows, const struct wf_bag *bag,
                        const struct wf_block *block, uint32_t fixed)
{
    struct wf_sorter *sorter = &windows->sorter;
    uint32_t *places = windows->places, begin = 0;
    unsigned shift = 0;

    wf_sorter_reserve(sorter, bag->n + WF_TUNE_AHEAD_EVENT);
    if (bag->n <= WF_SORT_FEW) {
        list_events(windows, bag, block, fixed, NULL, 0);
        wf_sort(sorter->entries, sorter->scratch, bag->n);
        return;
    }
    while (block->count >> shift > 2 * bag->n) {
        shift++;
    }
    uint32_t n_buckets = count_by_bucket(windows, bag, block, shift, fixed);
    list_events(windows, bag, block, fixed, places, shift);
    for (uint32_t i = 0; i < n_buckets; i++) {
        uint32_t n = places[i] - begin;
        if (n > 0) {
            wf_sort(sorter->entries + begin, sorter->scratch + begin, n);
        }
        begin = places[i];
    }
}

/* Executes the events of the heap that precede `next`, which is null or in the same block. A
 * model in which time stands still may never leave this loop. */
static void run_near(struct wf_windows *windows, struct wf_worker *worker,
                     const struct wf_block *block, const struct wf_event *next)
{
    while (windows->near.n > 0 && (next == NULL || before(wf_near_top(&windows->near), next))) {
        /* It stays the least while it is executed: an event that it schedules has a later key. */
        const struct wf_event *ev = wf_near_top(&windows->near);
        if (worker->forecast != NULL) {
            wf_forecast_count(worker->forecast, windows->wheel.now, ev->dst, ev->key.src);
        }
        wf_execute_in(worker, block, ev);
        wf_worker_count(worker, ev);
        wf_near_drop(&windows->near);
        if (++windows->near_run % WF_TUNE_STOP_CHECK == 0 &&
            wf_engine_must_stop(worker->engine)) {
            windows->stopped = true;
            return;
        }
    }
}

/* The first lines of a process have its digest and, at a node, the ports of its router. */
__attribute__((always_inline)) static inline void prefetch_process(const unsigned char *lp,
                                                                   size_t bytes)
{
    __builtin_prefetch(lp, 1);
    if (bytes > (size_t)2 * WF_CACHE_LINE) {
        __builtin_prefetch(lp + WF_CACHE_LINE, 1);
        __builtin_prefetch(lp + (size_t)2 * WF_CACHE_LINE, 1);
    }
    if (bytes > (size_t)4 * WF_CACHE_LINE) {
        __builtin_prefetch(lp + (size_t)3 * WF_CACHE_LINE, 1);
        __builtin_prefetch(lp + (size_t)4 * WF_CACHE_LINE, 1);
    }
}

/* The events of the next block, which are fetched line by line while those of this block are
 * executed. Where the next chunk is, is known only when the head of this one has arrived. */
struct fetched {
    const struct wf_chunk *chunk; /* null: all are fetched */
    size_t at;
};

__attribute__((always_inline)) static inline void fetch_line(struct fetched *next)
{
    if (next->chunk != NULL) {
        __builtin_prefetch((const unsigned char *)next->chunk + next->at);
        next->at += WF_CACHE_LINE;
        if (next->at == WF_CHUNK_BYTES) {
            *next = (struct fetched){.chunk = next->chunk->next};
        }
    }
}

/* Executes the sorted events of a block; returns how many. What stays the same for all of them is
 * read once. */
static size_t run_sorted(struct wf_windows *windows, struct wf_worker *worker,
                         const struct wf_block *block, size_t n, struct fetched next)
{
    const struct wf_process_ops *ops = block->group->ops;
    const struct wf_sort_entry *entry = windows->sorter.entries, *end = entry + n;
    unsigned char *lps = block->lps;
    size_t stride = block->group->stride;
    /* Most events with payloads reach into a second cache line. */
    size_t tail = worker->engine->stride < 64 ? 0 : 56;
    int64_t last = worker->count.last_time;

    worker->ctx.block = block;
    for (; entry < end && !windows->stopped; entry++) {
        const unsigned char *ahead = (const void *)entry[WF_TUNE_AHEAD_EVENT].ev;
        const struct wf_event *ev = entry->ev;
        __builtin_prefetch(ahead);
        __builtin_prefetch(ahead + tail);
        fetch_line(&next);
        prefetch_process(lps + process_of(&entry[WF_TUNE_AHEAD_LP]) * stride, stride);
        if (ops->fetch != NULL) {
            const struct wf_sort_entry *soon = &entry[WF_TUNE_AHEAD_CELLS];
            ops->fetch(lps + process_of(soon) * stride + sizeof(struct wf_lp), soon->ev,
                       &worker->ctx);
        }
        if (windows->near.n > 0) {
            run_near(windows, worker, block, ev);
        }
        last = ev->key.time > last ? ev->key.time : last;
        wf_execute_at(worker, ops, (void *)(lps + process_of(entry) * stride), ev);
    }
    worker->count.last_time = last > worker->count.last_time ? last : worker->count.last_time;
    return n - (size_t)(end - entry);
}

static const struct wf_block *block_of(const struct wf_worker *worker, uint32_t b)
{
    return &worker->engine->blocks[worker->blocks[b]];
}

size_t wf_windows_sort_block(struct wf_windows *windows, struct wf_worker *worker, uint32_t b)
{
    struct wf_bag *bag = wf_wheel_bag(&windows->wheel, b);
    size_t n = bag->n;

    wf_bag_open(bag, &worker->pool);
    sort_events(windows, bag, block_of(worker, b),
                worker->engine->stride == sizeof(struct wf_event) ? sizeof(struct wf_event)
                                                                  : 0);
    for (size_t i = 0; i < WF_TUNE_AHEAD_EVENT; i++) {
        windows->sorter.entries[n + i] =
            windows->sorter.entries[n - 1]; /* for prefetches past the end */
    }
    return n;
}

/* The first events of the next block in this window, if it has any. */
static const struct wf_chunk *after_block(const struct wf_windows *windows,
                                          const struct wf_worker *worker, uint32_t b)
{
    return b + 1 < worker->n_blocks ? wf_wheel_bag(&windows->wheel, b + 1)->head : NULL;
}

void wf_windows_run_block(struct wf_windows *windows, struct wf_worker *worker, uint32_t b)
{
    const struct wf_block *block = block_of(worker, b);
    size_t n = wf_windows_sort_block(windows, worker, b);

    for (size_t i = 0; worker->forecast != NULL && i < n; i++) {
        const struct wf_event *ev = windows->sorter.entries[i].ev;
        wf_forecast_count(worker->forecast, windows->wheel.now, ev->dst, ev->key.src);
    }
    worker->count.committed += run_sorted(
        windows, worker, block, n, (struct fetched){.chunk = after_block(windows, worker, b)});
    if (!windows->stopped) {
        run_near(windows, worker, block, NULL);
    }
    wf_bag_free(wf_wheel_bag(&windows->wheel, b), &worker->pool);
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
            wf_windows_run_block(windows, worker, b);
        }
    }
    windows->running = WF_WHEEL_NEVER;
}
