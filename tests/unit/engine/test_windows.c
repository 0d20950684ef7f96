/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a block come out by process and key, however many there are and however their keys
 * agree. */
#include "engine/sched/windows.h"

#include "base/mem.h"
#include "harness/engine_events.h"

enum { SEED = 11, BLOCK_SHIFT = 4, PROCESSES = 1 << BLOCK_SHIFT, MOST = 600 };

/* One block of one worker, without a scheduler. */
struct bed {
    struct wf_engine engine;
    struct wf_worker worker;
    struct wf_block block;
    struct wf_bag *bags[1];
    uint32_t number; /* of the block, for the engine and for the worker */
    struct wf_windows windows;
    struct test_event events[MOST];
};

static struct bed *bed_new(int64_t lookahead, uint32_t stride)
{
    struct bed *bed = wf_xaligned(sizeof(*bed));

    memset(bed, 0, sizeof(*bed));
    bed->block = (struct wf_block){.count = PROCESSES};
    bed->engine.lookahead = lookahead;
    bed->engine.stride = stride;
    bed->engine.map.shift = BLOCK_SHIFT;
    bed->engine.blocks = &bed->block;
    bed->engine.local_block = &bed->number;
    bed->worker.engine = &bed->engine;
    bed->worker.blocks = &bed->number;
    bed->worker.n_blocks = 1;
    bed->worker.ctx.bags = bed->bags;
    wf_depot_init(&bed->engine.depot);
    wf_pool_init(&bed->worker.pool, &bed->engine.depot, stride);
    wf_windows_init(&bed->windows, &bed->worker);
    return bed;
}

static void bed_free(struct bed *bed)
{
    wf_windows_fini(&bed->windows);
    wf_depot_fini(&bed->engine.depot);
    free(bed);
}

static int compare(const void *a, const void *b)
{
    const struct test_event *x = a, *y = b;

    if (x->dst != y->dst) {
        return x->dst < y->dst ? -1 : 1;
    }
    return wf_key_before(&y->key, &x->key) - wf_key_before(&x->key, &y->key);
}

/* An event in the first window; times, deltas and sources often agree, names never. */
static struct test_event random_event(uint64_t stream, uint64_t name, int64_t lookahead,
                                      bool bare)
{
    uint64_t random = wf_test_rand(SEED, stream, name);
    int64_t times = random % 2 == 0 ? lookahead - 1 : lookahead < 4 ? 1 : 3;
    struct test_event ev = make_event((int64_t)(random >> 8) % (times > 0 ? times : 1), name);

    ev.key.delta = random % 8 == 0 ? (uint32_t)(random >> 3) % 3 : 0;
    ev.key.src = random % 16 == 1 ? UINT32_MAX : (uint32_t)(random >> 5) % 4;
    ev.key.seq = wf_test_rand(SEED, stream, MOST + name);
    ev.dst = (uint32_t)(random >> 20) % PROCESSES;
    if (stream % 5 == 4) { /* one process has most of them */
        ev.dst = random % 4 == 0 ? ev.dst : 3;
    }
    ev.size = bare ? 0 : ev.size;
    return ev;
}

static bool comes_out_in_order(uint64_t stream, uint32_t n, int64_t lookahead, bool bare)
{
    struct bed *bed = bed_new(lookahead, bare ? sizeof(struct wf_event) : TEST_STRIDE);
    bool right = true;

    for (uint32_t i = 0; i < n; i++) {
        bed->events[i] = random_event(stream, i, lookahead, bare);
        wf_windows_send(&bed->windows, as_event(&bed->events[i]));
    }
    qsort(bed->events, n, sizeof(bed->events[0]), compare);
    right = wf_wheel_take(&bed->windows.wheel) &&
            wf_windows_sort_block(&bed->windows, &bed->worker, 0) == n;
    for (uint32_t i = 0; right && i < n; i++) {
        right = is_event(bed->windows.sorter.entries[i].ev, &bed->events[i]);
    }
    wf_bag_free(wf_wheel_bag(&bed->windows.wheel, 0), &bed->worker.pool);
    bed_free(bed);
    return right;
}

static void any_number_of_events_is_sorted(void)
{
    static const int64_t lookaheads[] = {
        1, 2, 1000, 100000, INT64_C(1) << 28, INT64_C(1) << 40};
    uint64_t stream = 0;

    for (uint32_t n = 1; n <= MOST; n = n < 80 ? n + 1 : n * 9 / 8) {
        for (size_t i = 0; i < sizeof(lookaheads) / sizeof(lookaheads[0]); i++) {
            CHECK(comes_out_in_order(stream++, n, lookaheads[i], false));
            CHECK(comes_out_in_order(stream++, n, lookaheads[i], true));
        }
    }
}

int main(void)
{
    RUN(any_number_of_events_is_sorted);
    return wf_test_done();
}
