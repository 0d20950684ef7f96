/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/wheel.h"

#include "base/mem.h"
#include "engine/queue/pack.h"
#include "harness/engine_events.h"

enum { SEED = 6, CASES = 3000 };

static const int64_t widths[] = {1,        2, 3, 7, 100000, INT64_C(1) << 40, INT64_MAX / 3,
                                 INT64_MAX};

enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

static uint64_t window(int64_t width, int64_t time)
{
    struct wf_wheel wheel;

    wf_wheel_init(&wheel, NULL, width);
    return wf_wheel_window(&wheel, time);
}

/* A time of any magnitude, often next to a multiple of the width. */
static int64_t random_time(int64_t width, uint64_t stream, uint64_t i)
{
    uint64_t random = wf_test_rand(SEED, stream, i);
    int64_t time = (int64_t)((random >> 1) >> (random % 63));

    if (random >> 63 != 0 && time - 1 > width) {
        time = time / width * width - 1 + (int64_t)(random >> 32) % 3;
    }
    return time;
}

static bool right_windows(int64_t width, int64_t time)
{
    uint64_t at = window(width, time);
    int64_t room = INT64_MAX - time;

    return (time == 0 || window(width, time - 1) <= at) && /* monotonic */
           (room == 0 || window(width, time + 1) >= at) &&
           (room < width || window(width, time + width) > at) && /* never as long as `width` */
           at / 2 <= (uint64_t)time / (uint64_t)width + 1;       /* nor much shorter */
}

static void windows_are_monotonic_and_shorter_than_the_lookahead(void)
{
    for (size_t w = 0; w < WIDTHS; w++) {
        for (uint64_t i = 0; i < CASES; i++) {
            CHECK(right_windows(widths[w], (int64_t)i));
            CHECK(right_windows(widths[w], INT64_MAX - (int64_t)i));
            CHECK(right_windows(widths[w], random_time(widths[w], w, i)));
        }
    }
}

static void a_picosecond_is_a_window_of_its_own(void)
{
    CHECK_U64(window(1, 0), 0);
    CHECK_U64(window(1, 1), 1);
    CHECK_U64(window(1, INT64_MAX - 1), INT64_MAX - 1);
    CHECK_U64(window(1, INT64_MAX), INT64_MAX);
}

/* A wheel of a few blocks beside a plain list of what it holds. */
enum { BLOCK_SHIFT = 1, OWN_BLOCKS = 3, MOST = 400 };

/* The worker's blocks among all; events of the last two wait in the same bag. */
static const uint32_t blocks[OWN_BLOCKS] = {0, 2, 2 + WF_WHEEL_BAGS};
static const uint32_t local_block[] = {[0] = 0, [2] = 1, [2 + WF_WHEEL_BAGS] = 2};

struct pair {
    struct wf_depot depot;
    struct wf_pool pool;
    struct wf_wheel wheel;
    struct test_event held[MOST];
    uint32_t n;
    uint64_t names;
    int64_t present; /* a time in the present window */
};

static struct pair *pair_new(int64_t width, bool packs)
{
    struct pair *pair = wf_xcalloc(1, sizeof(*pair));

    wf_depot_init(&pair->depot);
    pair->depot.pack_from = packs ? 0 : SIZE_MAX;
    wf_pool_init(&pair->pool, &pair->depot, TEST_STRIDE);
    wf_wheel_init(&pair->wheel, &pair->pool, width);
    wf_wheel_blocks(&pair->wheel, (struct wf_block_map){.shift = BLOCK_SHIFT}, local_block,
                    OWN_BLOCKS);
    return pair;
}

static void pair_free(struct pair *pair)
{
    wf_wheel_fini(&pair->wheel);
    wf_depot_fini(&pair->depot);
    free(pair);
}

static uint64_t window_of(const struct pair *pair, uint32_t i)
{
    return wf_wheel_window(&pair->wheel, pair->held[i].key.time);
}

static void file(struct pair *pair, int64_t time, uint64_t random)
{
    struct test_event ev = make_event(time, pair->names++);

    ev.dst = (blocks[random % OWN_BLOCKS] << BLOCK_SHIFT) + (uint32_t)(random >> 8) % 2;
    pair->held[pair->n++] = ev;
    wf_wheel_file(&pair->wheel, wf_wheel_window(&pair->wheel, time), as_event(&ev));
}

/* Removes one event from the oracle; false if it is not there, or was not due. */
static bool strike(struct pair *pair, const struct wf_event *ev)
{
    for (uint32_t i = 0; i < pair->n; i++) {
        if (is_event(ev, &pair->held[i])) {
            bool due = window_of(pair, i) == pair->wheel.now;
            pair->held[i] = pair->held[--pair->n];
            return due;
        }
    }
    return false;
}

/* Takes the present window and compares: all its events, nothing else, each in its block. */
static bool take(struct pair *pair)
{
    bool any = wf_wheel_take(&pair->wheel);
    bool right = true;

    for (uint32_t b = 0; any && b < OWN_BLOCKS; b++) {
        struct wf_bag *bag = wf_wheel_bag(&pair->wheel, b);
        uint32_t n = 0;
        wf_bag_open(bag, &pair->pool);
        for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
            right = right && chunk->used > 0;
            for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
                const struct wf_event *ev = wf_chunk_event(chunk, at);
                right = right && ev->dst >> BLOCK_SHIFT == blocks[b] && strike(pair, ev);
                n++;
            }
        }
        right = right && n == bag->n;
        wf_bag_free(bag, &pair->pool);
    }
    for (uint32_t i = 0; i < pair->n; i++) {
        right = right && window_of(pair, i) > pair->wheel.now;
    }
    return right && !wf_wheel_take(&pair->wheel);
}

/* wf_wheel_next() against the least window held. */
static bool right_next(const struct pair *pair)
{
    uint64_t next = wf_wheel_next(&pair->wheel), least = WF_WHEEL_NEVER;

    for (uint32_t i = 0; i < pair->n; i++) {
        least = window_of(pair, i) < least ? window_of(pair, i) : least;
    }
    if (least == WF_WHEEL_NEVER || (least ^ pair->wheel.now) >> WF_WHEEL_BITS == 0) {
        return next == least;
    }
    return next <= least && next > pair->wheel.now;
}

static int64_t later(int64_t present, uint64_t random)
{
    uint64_t ahead = (random >> 1) >> (random % 64);
    uint64_t left = (uint64_t)(INT64_MAX - 1 - present);

    return present + (int64_t)(ahead < left ? ahead : left);
}

static void advance(struct pair *pair, uint64_t random)
{
    uint64_t next = wf_wheel_next(&pair->wheel);
    uint64_t window = next;

    if (random % 8 == 0) { /* another worker may have something earlier */
        window = pair->wheel.now + (random >> 8) % (next - pair->wheel.now + 1);
    }
    wf_wheel_advance(&pair->wheel, window);
    while (wf_wheel_window(&pair->wheel, pair->present) < window) {
        /* The first time of the window, by halving the distance. */
        int64_t low = pair->present, high = INT64_MAX;
        while (high - low > 1) {
            int64_t middle = low + (high - low) / 2;
            *(wf_wheel_window(&pair->wheel, middle) < window ? &low : &high) = middle;
        }
        pair->present = high;
    }
}

static void windows_give_back_what_was_filed(void)
{
    for (uint64_t stream = 0; stream < UINT64_C(4) * WIDTHS; stream++) {
        struct pair *pair = pair_new(widths[stream % WIDTHS], stream / WIDTHS % 2 != 0);
        for (uint64_t i = 0; i < 1500 || pair->n > 0; i++) {
            uint64_t random = wf_test_rand(SEED, 100 + stream, i);
            for (uint64_t k = random % 6; i < 1500 && k > 0 && pair->n < MOST; k--) {
                uint64_t other = wf_test_rand(SEED, random, k);
                file(pair, later(pair->present, other), other >> 16);
            }
            CHECK(right_next(pair));
            if (pair->n > 0) {
                advance(pair, random >> 8);
                CHECK(take(pair));
                CHECK(right_next(pair));
            }
        }
        CHECK_U64(wf_wheel_next(&pair->wheel), WF_WHEEL_NEVER);
        CHECK_U64(free_chunks(&pair->depot, &pair->pool, 1),
                  pair->depot.bytes / WF_CHUNK_BYTES);
        pair_free(pair);
    }
}

/* One event at each distance the levels are made for, on both sides of every border. */
static void every_level_is_reached_and_left(void)
{
    struct pair *pair = pair_new(1, false);
    uint32_t steps = 0;

    for (unsigned bit = 0; bit < 63; bit++) {
        file(pair, (INT64_C(1) << bit) - 1, bit);
        file(pair, INT64_C(1) << bit, bit + 1);
    }
    file(pair, INT64_MAX - 1, 0);
    for (unsigned level = 0; level < WF_WHEEL_LEVELS; level++) {
        CHECK((pair->wheel.used[level][0] | pair->wheel.used[level][1]) != 0);
    }
    for (; pair->n > 0; steps++) {
        CHECK(right_next(pair));
        wf_wheel_advance(&pair->wheel, wf_wheel_next(&pair->wheel));
        CHECK(take(pair));
    }
    CHECK(steps < 3000);
    pair_free(pair);
}

/* Files events for windows that are not near, all in the same bag. `bits` says by what they differ: 1 by their
 * window, 2 by their block, 4 by the lowest bit of their time; 8: they move to another level first;
 * 16: all are of one kind, without payload; 32: those of the later window come last, when all others have
 * been packed. */
static void move_packed(unsigned bits)
{
    enum { WIDTH = 1000, WINDOW = 3 * WF_WHEEL_SLOTS + 5 };
    /* Events without payload that fill a chunk. */
    const uint32_t full = WF_CHUNK_ROOM / sizeof(struct wf_event);
    const int64_t far = (bits & 8) != 0 ? WF_WHEEL_SLOTS * WF_WHEEL_SLOTS : 0;
    struct pair *pair = pair_new(WIDTH, true);

    for (uint32_t i = 0; i < MOST; i++) {
        pair->names = (bits & 16) != 0 ? UINT64_C(4) * 13 * i : i; /* see make_event() */
        uint32_t one_in = (bits & 4) != 0 ? 5 : 4; /* 4: those without a payload */
        uint64_t block = (bits & 2) != 0 && i % one_in == 0 ? 1 : 2;
        bool late = (bits & 32) != 0 ? i >= MOST / full * full : i % 3 == 0;
        int64_t window = WINDOW + far + ((bits & 1) != 0 && late ? WF_WHEEL_BAGS : 0);
        file(pair, window * WIDTH + 100 + ((bits & 4) != 0 ? i % 2 : 0), block);
    }
    while (pair->n > 0) {
        CHECK(right_next(pair));
        wf_wheel_advance(&pair->wheel, wf_wheel_next(&pair->wheel));
        CHECK(take(pair));
    }
    CHECK_U64(free_chunks(&pair->depot, &pair->pool, 1), pair->depot.bytes / WF_CHUNK_BYTES);
    pair_free(pair);
}

static void packed_events_move_to_their_own_windows_and_blocks(void)
{
    for (unsigned bits = 0; bits < 64; bits++) {
        move_packed(bits);
    }
}

int main(void)
{
    RUN(windows_are_monotonic_and_shorter_than_the_lookahead);
    RUN(a_picosecond_is_a_window_of_its_own);
    RUN(windows_give_back_what_was_filed);
    RUN(every_level_is_reached_and_left);
    RUN(packed_events_move_to_their_own_windows_and_blocks);
    return wf_test_done();
}
