/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sched/windows.h"

#include "base/mem.h"
#include "engine/core/execute.h"
#include "engine/queue/pack.h"

#include <stdlib.h>

enum {
    PREFETCH_CELLS = 3,                /* events ahead whose processes fetch cells */
    PREFETCH_LP = 6,                   /* events ahead whose processes are prefetched */
    PREFETCH_EVENT = WF_WINDOWS_AHEAD, /* events ahead that are prefetched themselves */
    NEAR_BETWEEN_CHECKS = 256,
    FEW = 16,                    /* fewer events than this are sorted without counting */
    CROWDED = 24,                /* more events than this in a bucket are sorted by merging */
    ORDERED_WIDTH_MAX = 1 << 29, /* picoseconds; order_since() needs shorter windows */
};

void wf_windows_init(struct wf_windows *windows, struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;

    memset(windows, 0, sizeof(*windows));
    wf_wheel_init(&windows->wheel, &worker->pool, engine->lookahead);
    wf_wheel_blocks(&windows->wheel, engine->block_shift, engine->local_block,
                    worker->n_blocks);
    wf_exchanges_init(&windows->exchanges);
    wf_near_init(&windows->near, engine->stride);
    windows->buckets =
        wf_xcalloc((size_t)1 << engine->block_shift, sizeof(struct wf_window_bucket));
    windows->running = WF_WHEEL_NEVER;
    worker->ctx.wheel = &windows->wheel;
    worker->ctx.near = &windows->near;
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

/* An entry whose order is the time. */
static inline struct wf_window_entry by_time(struct wf_event *ev)
{
    return (struct wf_window_entry){(uint64_t)ev->key.time, ev};
}

/* Inserts an entry into the sorted entries[begin..end). If all are of one process, the orders in the
 * list decide: reading the other events would take longer. */
__attribute__((always_inline)) static inline void insert(struct wf_window_entry *entries,
                                                         uint32_t begin, uint32_t end,
                                                         struct wf_window_entry entry,
                                                         bool one_process)
{
    for (; end > begin; end--) {
        const struct wf_window_entry *last = &entries[end - 1];
        if (one_process && last->order != entry.order ? entry.order > last->order
                                                      : !before(entry.ev, last->ev)) {
            break;
        }
        entries[end] = *last;
    }
    entries[end] = entry;
}

/* The offset of the next event in a chunk. If the events of the model have no payloads (`bare`) it
 * is known without reading the event, so that the processor need not wait for it. */
__attribute__((always_inline)) static inline uint32_t step(struct wf_chunk *chunk,
                                                           uint32_t offset, bool bare)
{
    return bare ? offset + (uint32_t)sizeof(struct wf_event) : wf_chunk_after(chunk, offset);
}

static void sort_few(struct wf_windows *windows, const struct wf_bag *bag)
{
    uint32_t n = 0;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0; o < chunk->used; o = step(chunk, o, false)) {
            insert(windows->entries, 0, n++, by_time(wf_chunk_event(chunk, o)), false);
        }
    }
}

/* Inserts an event into the sorted entries[begin..end), which are all of its process. How many there
 * are and which is first cannot be predicted, so the last entry and the event are put in order by
 * computing their places instead of branching. */
__attribute__((always_inline)) static inline void
insert_of_process(struct wf_window_entry *entries, uint32_t begin, uint32_t end,
                  struct wf_event *ev)
{
    const struct wf_window_entry entry = by_time(ev);
    uint32_t any = end > begin;
    const struct wf_window_entry last = entries[end - any]; /* of no meaning if there is none */
    uint32_t first = any & (uint32_t)(entry.order < last.order);

    if (__builtin_expect(
            (any & (uint32_t)(entry.order == last.order)) | (first & (end - begin > 1)), 0)) {
        insert(entries, begin, end, entry, true);
        return;
    }
    entries[end - any + first] = last;
    entries[end - first] = entry;
}

/* Counts the events of each bucket of 2^shift processes, and finds where their places in the
 * sorted list begin. Returns the largest count. */
__attribute__((always_inline)) static inline uint32_t
count_by_bucket(struct wf_windows *windows, const struct wf_bag *bag,
                const struct wf_block *block, unsigned shift, bool bare)
{
    struct wf_window_bucket *buckets = windows->buckets;
    uint32_t n_buckets = ((block->count - 1) >> shift) + 1, first = block->first;
    uint32_t at = 0, most = 0;

    memset(buckets, 0, n_buckets * sizeof(*buckets));
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        wf_chunk_prefetch(chunk->next);
        for (uint32_t o = 0, used = chunk->used; o < used; o = step(chunk, o, bare)) {
            buckets[(wf_chunk_event(chunk, o)->dst - first) >> shift].next++;
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
__attribute__((always_inline)) static inline void place_in_order(struct wf_windows *windows,
                                                                 const struct wf_bag *bag,
                                                                 const struct wf_block *block,
                                                                 unsigned shift, bool bare)
{
    struct wf_window_bucket *buckets = windows->buckets;
    struct wf_window_entry *entries = windows->entries;
    uint32_t first = block->first;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0, used = chunk->used; o < used; o = step(chunk, o, bare)) {
            struct wf_event *ev = wf_chunk_event(chunk, o);
            struct wf_window_bucket *bucket = &buckets[(ev->dst - first) >> shift];
            if (shift == 0) {
                insert_of_process(entries, bucket->begin, bucket->next, ev);
            } else {
                insert(entries, bucket->begin, bucket->next, by_time(ev), false);
            }
            bucket->next++;
        }
    }
}

/* Time and source of an event as its order. The time is not before `base` and less than 2^31 ps
 * after it. An event with a delta comes after all others of its instant; two of them have the same
 * order, so that their keys decide. */
static inline uint64_t order_since(int64_t base, const struct wf_event *ev)
{
    uint64_t time = (uint64_t)(ev->key.time - base) << 33;

    return time | (ev->key.delta != 0 ? UINT64_C(1) << 32 : ev->key.src);
}

/* Sorts the entries of one process by order, and by key where orders are equal. */
static inline void sort_of_process(const struct wf_windows *windows,
                                   struct wf_window_entry *entries, uint32_t n)
{
    uint32_t equal = 0;

    if (n <= WF_EXCHANGE_MAX) {
        wf_exchange_sort(&windows->exchanges, entries, n);
        for (uint32_t i = 1; i < n; i++) {
            equal |= entries[i - 1].order == entries[i].order;
        }
        if (__builtin_expect(!equal, 1)) {
            return;
        }
    }
    for (uint32_t i = 1; i < n; i++) {
        insert(entries, 0, i, entries[i], true);
    }
}

/* Counting sort by process, then a sort of the entries of each. */
static void place_and_exchange(struct wf_windows *windows, const struct wf_bag *bag,
                               const struct wf_block *block, int64_t base)
{
    struct wf_window_bucket *buckets = windows->buckets;
    struct wf_window_entry *entries = windows->entries;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0; o < chunk->used; o = wf_chunk_after(chunk, o)) {
            struct wf_event *ev = wf_chunk_event(chunk, o);
            entries[buckets[ev->dst - block->first].next++] =
                (struct wf_window_entry){order_since(base, ev), ev};
        }
    }
    for (uint32_t i = 0; i < block->count; i++) {
        sort_of_process(windows, entries + buckets[i].begin,
                        buckets[i].next - buckets[i].begin);
    }
}

/* Counting sort by process, then a sort by key of the many events of a process. */
static void place_and_sort(struct wf_windows *windows, const struct wf_bag *bag,
                           const struct wf_block *block)
{
    struct wf_event **events = windows->sorter.events;
    struct wf_window_bucket *buckets = windows->buckets;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        for (uint32_t o = 0; o < chunk->used; o = wf_chunk_after(chunk, o)) {
            struct wf_event *ev = wf_chunk_event(chunk, o);
            events[buckets[ev->dst - block->first].next++] = ev;
        }
    }
    for (uint32_t i = 0; i < block->count; i++) {
        wf_sort_by_key(events + buckets[i].begin, buckets[i].next - buckets[i].begin,
                       windows->sorter.scratch);
    }
    for (uint32_t i = 0; i < bag->n; i++) {
        windows->entries[i] = by_time(events[i]);
    }
}

static void reserve(struct wf_windows *windows, size_t n)
{
    if (n > windows->capacity) {
        windows->capacity = n < 1024 ? 1024 : n + n / 2;
        free(windows->entries);
        windows->entries =
            wf_xmalloc((windows->capacity + PREFETCH_EVENT) * sizeof(*windows->entries));
    }
}

/* Sorts the events of a block, of which there are many, if no bucket has too many. */
__attribute__((always_inline)) static inline bool
sort_by_buckets(struct wf_windows *windows, const struct wf_bag *bag,
                const struct wf_block *block, unsigned shift, bool bare, int64_t width)
{
    if (count_by_bucket(windows, bag, block, shift, bare) > CROWDED) {
        return false;
    }
    if (!bare && shift == 0 && bag->n >= block->count && width < ORDERED_WIDTH_MAX) {
        place_and_exchange(windows, bag, block, wf_chunk_event(bag->head, 0)->key.time - width);
    } else if (shift == 0) {
        place_in_order(windows, bag, block, 0, bare);
    } else {
        place_in_order(windows, bag, block, shift, bare);
    }
    return true;
}

/* Sorts the events of a block by process and key. In a block with fewer events than processes a
 * bucket has several processes: there are at most twice as many buckets as events. */
static void sort_events(struct wf_windows *windows, const struct wf_bag *bag,
                        const struct wf_block *block, bool bare, int64_t width)
{
    unsigned shift = 0;

    reserve(windows, bag->n);
    if (bag->n < FEW) {
        sort_few(windows, bag);
        return;
    }
    while (block->count >> shift > 2 * bag->n) {
        shift++;
    }
    if (bare ? sort_by_buckets(windows, bag, block, shift, true, width)
             : sort_by_buckets(windows, bag, block, shift, false, width)) {
        return;
    }
    if (shift > 0) {
        (void)count_by_bucket(windows, bag, block, 0, false);
    }
    wf_sorter_reserve(&windows->sorter, bag->n);
    place_and_sort(windows, bag, block);
}

/* Executes the events of the heap that precede `next`, which is null or in the same block. A
 * model in which time stands still may never leave this loop. */
static void run_near(struct wf_windows *windows, struct wf_worker *worker,
                     const struct wf_block *block, const struct wf_event *next)
{
    while (windows->near.n > 0 && (next == NULL || before(wf_near_top(&windows->near), next))) {
        /* It stays the least while it is executed: an event that it schedules has a later key. */
        const struct wf_event *ev = wf_near_top(&windows->near);
        wf_execute_in(worker, block, ev);
        wf_worker_count(worker, ev);
        wf_near_drop(&windows->near);
        if (++windows->near_run % NEAR_BETWEEN_CHECKS == 0 &&
            wf_engine_must_stop(worker->engine)) {
            windows->stopped = true;
            return;
        }
    }
}

/* The first lines of a process have its digest and, at a node, the ports of its router. */
__attribute__((always_inline)) static inline void prefetch_process(const unsigned char *record,
                                                                   size_t bytes)
{
    __builtin_prefetch(record, 1);
    if (bytes > (size_t)2 * WF_CACHE_LINE) {
        __builtin_prefetch(record + WF_CACHE_LINE, 1);
        __builtin_prefetch(record + (size_t)2 * WF_CACHE_LINE, 1);
    }
    if (bytes > (size_t)4 * WF_CACHE_LINE) {
        __builtin_prefetch(record + (size_t)3 * WF_CACHE_LINE, 1);
        __builtin_prefetch(record + (size_t)4 * WF_CACHE_LINE, 1);
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
    const struct wf_window_entry *entry = windows->entries, *end = entry + n;
    unsigned char *records = block->records;
    size_t stride = block->group->stride;
    uint32_t first = block->first;
    /* Most events with payloads reach into a second cache line. */
    size_t tail = worker->engine->stride < 64 ? 0 : 56;
    int64_t last = worker->count.last_time;

    worker->ctx.block = block;
    for (; entry < end && !windows->stopped; entry++) {
        const unsigned char *ahead = (const void *)entry[PREFETCH_EVENT].ev;
        const struct wf_event *ev = entry->ev;
        __builtin_prefetch(ahead);
        __builtin_prefetch(ahead + tail);
        fetch_line(&next);
        prefetch_process(records + (entry[PREFETCH_LP].ev->dst - first) * stride, stride);
        if (ops->fetch != NULL) {
            const struct wf_event *soon = entry[PREFETCH_CELLS].ev;
            ops->fetch(records + (soon->dst - first) * stride + sizeof(struct wf_lp), soon,
                       &worker->ctx);
        }
        if (windows->near.n > 0) {
            run_near(windows, worker, block, ev);
        }
        last = ev->key.time > last ? ev->key.time : last;
        wf_execute_at(worker, ops, (void *)(records + (ev->dst - first) * stride), ev);
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
                worker->engine->stride == sizeof(struct wf_event), worker->engine->lookahead);
    for (size_t i = 0; i < PREFETCH_EVENT; i++) {
        windows->entries[n + i] = windows->entries[n - 1]; /* to be prefetched in vain */
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
