/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/pending.h"

#include "base/mem.h"
#include "harness/engine_events.h"

enum { SEED = 5, MOST = 70000 };

/* A queue, with its oracle: the names of the events that it holds, in reverse order. */
struct pair {
    struct wf_depot depot;
    struct wf_pool pool;
    struct wf_pending pending;
    struct test_event *events; /* by name */
    uint32_t n_events;
    uint32_t *held;
    uint32_t n;
    int64_t now; /* time of the event taken last */
    bool right;
};

static struct pair *pair_new(void)
{
    struct pair *pair = wf_xcalloc(1, sizeof(*pair));

    wf_depot_init(&pair->depot);
    wf_pool_init(&pair->pool, &pair->depot, TEST_STRIDE);
    wf_pending_init(&pair->pending, &pair->pool);
    pair->events = wf_xcalloc(MOST, sizeof(*pair->events));
    pair->held = wf_xcalloc(MOST, sizeof(*pair->held));
    pair->right = true;
    return pair;
}

static void pair_free(struct pair *pair)
{
    wf_pending_fini(&pair->pending);
    wf_depot_fini(&pair->depot);
    free(pair->events);
    free(pair->held);
    free(pair);
}

static void push(struct pair *pair, int64_t time)
{
    uint32_t name = pair->n_events++;
    uint32_t low = 0, high = pair->n;

    pair->events[name] = make_event(time, name);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (wf_key_before(&pair->events[name].key, &pair->events[pair->held[middle]].key)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memmove(pair->held + low + 1, pair->held + low, (pair->n - low) * sizeof(*pair->held));
    pair->held[low] = name;
    pair->n++;
    wf_pending_push(&pair->pending, as_event(&pair->events[name]));
    pair->right = pair->right && pair->pending.n == pair->n;
}

/* Takes up to `count` events and compares. */
static void pop(struct pair *pair, uint32_t count)
{
    for (; count > 0 && pair->n > 0 && pair->right; count--) {
        const struct test_event *expected = &pair->events[pair->held[--pair->n]];
        struct test_event out;
        const struct wf_event *first = wf_pending_peek(&pair->pending);
        pair->right = first != NULL && is_event(first, expected) &&
                      wf_pending_peek(&pair->pending) == first;
        if (pair->right) {
            wf_pending_pop(&pair->pending, (void *)&out);
            pair->right = is_event((void *)&out, expected) && pair->pending.n == pair->n;
        }
        pair->now = expected->key.time;
    }
}

/* Takes the rest; true if all was right, and nothing and no chunk is left. */
static bool drain(struct pair *pair)
{
    pop(pair, pair->n);
    return pair->right && wf_pending_peek(&pair->pending) == NULL && pair->pending.n == 0 &&
           free_chunks(&pair->depot, &pair->pool, 1) == pair->depot.bytes / WF_CHUNK_BYTES;
}

static int64_t clip(int64_t now, uint64_t ahead)
{
    uint64_t left = (uint64_t)(INT64_MAX - 1 - now);

    return now + (int64_t)(ahead < left ? ahead : left);
}

enum spread { SAME, NARROW, WIDE, PAST, FAR, ANY, SPREADS };

static int64_t time_for(enum spread spread, int64_t now, uint64_t random)
{
    switch (spread) {
    case SAME:
        return now;
    case NARROW:
        return clip(now, random % 400);
    case WIDE:
        return clip(now, (random >> 8) >> (random % 56));
    case PAST:
        return now - (int64_t)(random % (1 + (uint64_t)now / 16));
    case FAR:
        return INT64_MAX - 1 - (int64_t)(random % 100000);
    case ANY:
    case SPREADS:
        break;
    }
    return time_for((enum spread)(random % ANY), now, wf_test_rand(SEED, random, 0));
}

/* Bursts of pushes and pops by turns. */
static void pushes_and_pops_of_all_spreads_come_out_sorted(void)
{
    for (uint64_t stream = 0; stream < UINT64_C(10) * SPREADS; stream++) {
        struct pair *pair = pair_new();
        enum spread spread = (enum spread)(stream % SPREADS);
        uint32_t burst = 1U << (stream % 10);
        pair->now = stream % 2 == 0 ? 0 : INT64_C(1) << (stream % 60);
        for (uint64_t i = 0; pair->n_events < 4000; i++) {
            uint64_t random = wf_test_rand(SEED, stream, i);
            for (uint64_t k = 0; k < 1 + random % burst; k++) {
                push(pair, time_for(spread, pair->now, wf_test_rand(SEED, random, k)));
            }
            pop(pair, (uint32_t)(random >> 32) % burst);
        }
        CHECK(drain(pair));
        pair_free(pair);
    }
}

/* Each event creates another, as in a simulation. */
static void a_hold_model_stays_sorted(void)
{
    static const unsigned shifts[] = {0, 4, 10, 20, 40};

    for (uint64_t s = 0; s < sizeof(shifts) / sizeof(shifts[0]); s++) {
        struct pair *pair = pair_new();
        for (uint64_t i = 0; i < 2000; i++) {
            push(pair, (int64_t)((wf_test_rand(SEED, s, i) % 1000) << shifts[s]));
        }
        for (uint64_t i = 2000; i < 40000; i++) {
            pop(pair, 1);
            push(pair, pair->now + (int64_t)((wf_test_rand(SEED, s, i) % 1000) << shifts[s]));
        }
        CHECK(drain(pair));
        pair_free(pair);
    }
}

/* More events at one time than are sorted in one go, and then some that join them. */
static void a_storm_at_one_time_comes_out_by_the_rest_of_the_key(void)
{
    static const int64_t times[] = {0, 1, 255, 256, INT64_C(123456789012), INT64_MAX - 1};

    for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++) {
        struct pair *pair = pair_new();
        for (uint32_t i = 0; i < 21000; i++) {
            push(pair, times[t]);
        }
        pop(pair, 5000);
        for (uint32_t i = 0; i < 9000; i++) {
            push(pair, times[t]);
            pop(pair, i % 2);
        }
        CHECK(drain(pair));
        pair_free(pair);
    }
}

/* A bucket with too many events to sort is spread over finer ones, down to the picosecond. */
static void crowds_in_a_wide_range_are_spread(void)
{
    for (uint64_t stream = 0; stream < 4; stream++) {
        struct pair *pair = pair_new();
        uint64_t range = UINT64_C(300) << (16 * stream);
        for (uint64_t i = 0; i < 50000; i++) {
            push(pair, (int64_t)(wf_test_rand(SEED, 20 + stream, i) % range));
        }
        pop(pair, 20000);
        CHECK(pair->pending.open_level < (stream == 0 ? 1U : 2 * (unsigned)stream + 1));
        for (uint64_t i = 0; i < 3000; i++) {
            push(pair, (int64_t)(wf_test_rand(SEED, 30 + stream, i) % range));
        }
        CHECK(drain(pair));
        pair_free(pair);
    }
}

static void push_some(struct pair *pair, int64_t time)
{
    for (int i = 0; i < 10; i++) {
        push(pair, time);
    }
}

/* Few events far apart make a wide stretch; thousands that then arrive inside it must not all
 * end up in the heap. Those before its beginning have to; those at it must not be parted. */
static void a_stretch_that_is_too_wide_is_given_up(void)
{
    enum { AHEAD = 9000 };
    static const uint32_t pasts[] = {0, 100, 3000, 6000};

    for (size_t p = 0; p < sizeof(pasts) / sizeof(pasts[0]); p++) {
        struct pair *pair = pair_new();
        int64_t base = INT64_C(5) << 32;
        for (uint64_t i = 0; i < 1000; i++) {
            push(pair, base + (int64_t)(wf_test_rand(SEED, 40, i) % (UINT64_C(1) << 32)));
        }
        pop(pair, 10);
        CHECK(pair->pending.open_level > 0);
        push_some(pair, base);
        for (uint64_t i = 0; i < pasts[p]; i++) {
            push(pair, base - 1 - (int64_t)(wf_test_rand(SEED, 41, i) % 1000));
        }
        for (uint64_t i = 0; i < AHEAD; i++) {
            push(pair, base + (int64_t)(wf_test_rand(SEED, 42, i) % (UINT64_C(1) << 32)));
        }
        CHECK(pair->pending.near.n >= pasts[p]);
        CHECK(pair->pending.near.n < pasts[p] + AHEAD);
        push_some(pair, base);
        pop(pair, pasts[p] / 2);
        for (uint64_t i = 0; i < AHEAD; i++) {
            push(pair, base + (int64_t)(wf_test_rand(SEED, 43, i) % (UINT64_C(1) << 32)));
            pop(pair, i % 4 == 0);
        }
        CHECK(drain(pair));
        pair_free(pair);
    }
}

/* What lies ahead is only a hint, but never anything that is not held. */
static void the_hint_is_an_event_of_the_run(void)
{
    struct pair *pair = pair_new();

    for (uint64_t i = 0; i < 50; i++) {
        push(pair, (int64_t)(10 * i));
    }
    CHECK(wf_pending_peek(&pair->pending) != NULL);
    for (uint32_t left = 50; left > 0; left--) {
        for (size_t ahead = 0; ahead < 60; ahead++) {
            const struct wf_event *ev = wf_pending_ahead(&pair->pending, ahead);
            CHECK(ev == NULL ||
                  (ahead < left && is_event(ev, &pair->events[50 - left + ahead])));
        }
        pop(pair, 1);
        (void)wf_pending_peek(&pair->pending);
    }
    CHECK(drain(pair));
    pair_free(pair);
}

int main(void)
{
    RUN(pushes_and_pops_of_all_spreads_come_out_sorted);
    RUN(a_hold_model_stays_sorted);
    RUN(a_storm_at_one_time_comes_out_by_the_rest_of_the_key);
    RUN(crowds_in_a_wide_range_are_spread);
    RUN(a_stretch_that_is_too_wide_is_given_up);
    RUN(the_hint_is_an_event_of_the_run);
    return wf_test_done();
}
