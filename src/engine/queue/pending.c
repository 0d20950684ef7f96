/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/pending.h"

#include "base/arith.h"
#include "engine/tuning.h"

void wf_pending_init(struct wf_pending *pending, struct wf_pool *pool)
{
    memset(pending, 0, sizeof(*pending));
    pending->pool = pool;
    pending->near_max = WF_TUNE_QUEUE_NEAR_MAX;
    wf_near_init(&pending->near, pool->stride);
}

void wf_pending_fini(struct wf_pending *pending)
{
    wf_sorter_fini(&pending->run);
    wf_near_fini(&pending->near);
}

static void file_event(struct wf_pending *pending, const struct wf_event *ev)
{
    uint64_t differ = (uint64_t)ev->key.time ^ (uint64_t)pending->base;
    unsigned level = differ == 0 ? 0 : (63U - (unsigned)__builtin_clzll(differ)) / 8;
    unsigned slot = (unsigned)((uint64_t)ev->key.time >> (8 * level)) & 255U;

    (void)wf_bag_add(&pending->bucket[level][slot], pending->pool, ev);
    pending->used[level][slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* Closes the open stretch: its remaining events go back into finer buckets. The present does
 * not move, because the buckets were chosen by it; events before it stay in the heap. */
static void close_stretch(struct wf_pending *pending)
{
    struct wf_near past;

    wf_near_init(&past, pending->near.stride);
    pending->open_end = pending->base;
    while (pending->run_next < pending->run_n) {
        file_event(pending, pending->run.entries[pending->run_next++].ev);
    }
    for (uint32_t i = 0; i < pending->near.n; i++) {
        const struct wf_event *ev = wf_near_at(&pending->near, i);
        if (ev->key.time >= pending->base) {
            file_event(pending, ev);
        } else {
            wf_near_push(&past, ev);
        }
    }
    wf_near_fini(&pending->near);
    pending->near = past;
    pending->near_max =
        past.n < WF_TUNE_QUEUE_NEAR_MAX / 2 ? WF_TUNE_QUEUE_NEAR_MAX : 2 * past.n;
    wf_bag_free(&pending->open, pending->pool);
}

void wf_pending_push(struct wf_pending *pending, const struct wf_event *ev)
{
    pending->n++;
    if (ev->key.time >= pending->open_end) {
        file_event(pending, ev);
        return;
    }
    wf_near_push(&pending->near, ev);
    if (pending->near.n > pending->near_max && pending->open_level > 0) {
        close_stretch(pending);
    }
}

/* The first bucket in use. Lower levels come first: their times share more leading bits with
 * the present. */
static bool first_bucket(const struct wf_pending *pending, unsigned *level, unsigned *slot)
{
    for (unsigned l = 0; l < WF_PENDING_LEVELS; l++) {
        for (unsigned word = 0; word < WF_PENDING_SLOTS / 64; word++) {
            if (pending->used[l][word] != 0) {
                *level = l;
                *slot = 64 * word + (unsigned)__builtin_ctzll(pending->used[l][word]);
                return true;
            }
        }
    }
    return false;
}

static struct wf_bag take_bucket(struct wf_pending *pending, unsigned level, unsigned slot)
{
    struct wf_bag bag = pending->bucket[level][slot];
    uint64_t below = level == 7 ? UINT64_MAX : (UINT64_C(1) << (8 * (level + 1))) - 1;

    pending->bucket[level][slot] = (struct wf_bag){.head = NULL};
    pending->used[level][slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    pending->base =
        (int64_t)(((uint64_t)pending->base & ~below) | ((uint64_t)slot << (8 * level)));
    return bag;
}

/* How many bits of the time spread n events so that few stay together. */
static unsigned spread_bits(size_t n, unsigned width)
{
    unsigned bits = 0;

    while (bits < WF_TUNE_QUEUE_BITS && bits < width && (size_t)1 << bits < n) {
        bits++;
    }
    return bits;
}

/* Sorts the entries of the open stretch, which are in `entries`: by the upper bits of their times, and
 * then those in which they agree. */
static void spread(struct wf_pending *pending, size_t n)
{
    struct wf_sort_entry *from = pending->run.entries, *to = pending->run.scratch;
    unsigned width = 8 * pending->open_level, bits = spread_bits(n, width);
    unsigned shift = width - bits, n_parts = 1U << bits;
    uint32_t count[1U << WF_TUNE_QUEUE_BITS];
    uint32_t at = 0;

    memset(count, 0, n_parts * sizeof(*count));
    for (size_t i = 0; i < n; i++) {
        count[(from[i].order >> shift) & (n_parts - 1)]++;
    }
    for (unsigned b = 0; b < n_parts; b++) {
        uint32_t c = count[b];
        count[b] = at;
        at += c;
    }
    for (size_t i = 0; i < n; i++) {
        to[count[(from[i].order >> shift) & (n_parts - 1)]++] = from[i];
    }
    size_t begin = 0;
    for (unsigned b = 0; b < n_parts; begin = count[b++]) {
        if (count[b] > begin) {
            wf_sort(from + begin, to + begin, count[b] - begin);
        }
    }
}

/* Sorts the bag, which holds n events, into the open stretch. */
static void open_stretch(struct wf_pending *pending, struct wf_bag bag, size_t n,
                         unsigned level)
{
    size_t i = 0;

    wf_sorter_reserve(&pending->run, n);
    pending->open = bag;
    pending->open_level = level;
    bool spreads = n > 64 && level > 0;
    struct wf_sort_entry *to = spreads ? pending->run.entries : pending->run.scratch;
    for (struct wf_chunk *chunk = bag.head; chunk != NULL; chunk = chunk->next) {
        wf_chunk_prefetch(chunk->next);
        for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
            struct wf_event *ev = wf_chunk_event(chunk, at);
            to[i++] = (struct wf_sort_entry){(uint64_t)ev->key.time, ev};
        }
    }
    if (spreads) {
        spread(pending, n);
    } else {
        wf_sort(pending->run.entries, pending->run.scratch, n);
    }
    pending->run_next = 0;
    pending->run_n = n;
    uint64_t most = wf_min_u64(wf_max_u64(n / WF_TUNE_QUEUE_NEAR_SHARE, WF_TUNE_QUEUE_NEAR_MIN),
                               WF_TUNE_QUEUE_NEAR_MAX);
    pending->near_max = (uint32_t)most + 2 * pending->near.n;

    int64_t width = (int64_t)(UINT64_C(1) << (8 * level));
    pending->open_end = pending->base > INT64_MAX - width ? INT64_MAX : pending->base + width;
}

static void refile(struct wf_pending *pending, struct wf_bag bag)
{
    while (bag.head != NULL) {
        struct wf_chunk *chunk = bag.head;
        wf_chunk_prefetch(chunk->next);
        for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
            file_event(pending, wf_chunk_event(chunk, at));
        }
        bag.head = chunk->next;
        wf_chunk_free(pending->pool, chunk);
    }
}

/* Opens the next stretch; false when no events are left. */
static bool open_next(struct wf_pending *pending)
{
    unsigned level = 0, slot = 0;

    wf_bag_free(&pending->open, pending->pool);
    while (first_bucket(pending, &level, &slot)) {
        struct wf_bag bag = take_bucket(pending, level, slot);
        wf_bag_seal(&bag);
        if (bag.n <= WF_TUNE_QUEUE_SORT || level == 0) {
            open_stretch(pending, bag, bag.n, level);
            return true;
        }
        refile(pending, bag);
    }
    return false;
}

const struct wf_event *wf_pending_peek(struct wf_pending *pending)
{
    if (pending->run_next == pending->run_n) {
        if (pending->near.n > 0) {
            return wf_near_top(&pending->near);
        }
        if (!open_next(pending)) {
            return NULL;
        }
    }

    const struct wf_event *first = pending->run.entries[pending->run_next].ev;
    if (pending->near.n > 0 && wf_key_before(&wf_near_top(&pending->near)->key, &first->key)) {
        return wf_near_top(&pending->near);
    }
    return first;
}

const struct wf_event *wf_pending_take(struct wf_pending *pending, const struct wf_event *first,
                                       struct wf_event *scratch)
{
    pending->n--;
    if (pending->near.n > 0 && first == wf_near_top(&pending->near)) {
        wf_near_pop(&pending->near, scratch);
        return scratch;
    }
    pending->run_next++;
    return first;
}

void wf_pending_pop(struct wf_pending *pending, struct wf_event *to)
{
    const struct wf_event *first = wf_pending_take(pending, wf_pending_peek(pending), to);

    if (first != to) {
        wf_event_copy(to, first);
    }
}
