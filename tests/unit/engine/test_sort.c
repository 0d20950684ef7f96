/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/sort.h"

#include "base/mem.h"
#include "harness/engine_events.h"

enum { SEED = 3, LARGEST = 5000 };

enum shape { RANDOM, TIES, SORTED, REVERSED, NEARLY, SHAPES };

static int64_t time_of(enum shape shape, uint64_t stream, uint64_t i, size_t n)
{
    uint64_t random = wf_test_rand(SEED, stream, i);

    switch (shape) {
    case RANDOM:
        return (int64_t)(random >> 1);
    case TIES:
        return (int64_t)(random % 3);
    case SORTED:
        return (int64_t)i;
    case REVERSED:
        return (int64_t)(n - i);
    case NEARLY:
    case SHAPES:
        break;
    }
    return (int64_t)(i + random % 4);
}

static int compare(const void *a, const void *b)
{
    const struct wf_event *x = *(struct wf_event *const *)a, *y = *(struct wf_event *const *)b;

    return wf_key_before(&y->key, &x->key) - wf_key_before(&x->key, &y->key);
}

static void sort_one(size_t n, enum shape shape, struct wf_sorter *sorter)
{
    struct test_event *store = wf_xcalloc(n, sizeof(*store));
    struct wf_event **expected = wf_xcalloc(n, sizeof(struct wf_event *));

    wf_sorter_reserve(sorter, n);
    for (size_t i = 0; i < n; i++) {
        store[i] = make_event(time_of(shape, n * SHAPES + shape, i, n), i);
        /* Names in no order, so that ties in time are not sorted already. */
        store[i].key.seq = wf_test_rand(SEED, n, i);
        sorter->events[i] = expected[i] = (void *)&store[i];
    }
    qsort(expected, n, sizeof(struct wf_event *), compare);
    wf_sort_by_key(sorter->events, n, sorter->scratch);
    bool same = memcmp(expected, sorter->events, n * sizeof(struct wf_event *)) == 0;
    free(store);
    free(expected);
    CHECK(same);
}

static void any_number_in_any_shape_comes_out_like_qsort(void)
{
    struct wf_sorter sorter = {.capacity = 0};

    for (size_t n = 1; n <= LARGEST; n = n < 200 ? n + 1 : n * 5 / 4) {
        for (enum shape shape = RANDOM; shape < SHAPES; shape++) {
            sort_one(n, shape, &sorter);
        }
    }
    wf_sort_by_key(sorter.events, 0, sorter.scratch);
    wf_sorter_fini(&sorter);
}

static void room_grows_and_is_kept(void)
{
    struct wf_sorter sorter = {.capacity = 0};

    for (size_t n = 1; n < 100000; n = 3 * n + 1) {
        wf_sorter_reserve(&sorter, n);
        CHECK(sorter.capacity >= n);
        memset(sorter.events, 1, n * sizeof(struct wf_event *));
        memset(sorter.scratch, 2, n * sizeof(struct wf_event *));
        struct wf_event **events = sorter.events;
        wf_sorter_reserve(&sorter, n / 2);
        CHECK(sorter.events == events);
    }
    wf_sorter_fini(&sorter);
    CHECK(sorter.events == NULL && sorter.scratch == NULL && sorter.capacity == 0);
}

int main(void)
{
    RUN(any_number_in_any_shape_comes_out_like_qsort);
    RUN(room_grows_and_is_kept);
    return wf_test_done();
}
