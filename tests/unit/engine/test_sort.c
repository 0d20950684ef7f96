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
    const struct wf_event *x = ((const struct wf_sort_entry *)a)->ev;
    const struct wf_event *y = ((const struct wf_sort_entry *)b)->ev;

    return wf_key_before(&y->key, &x->key) - wf_key_before(&x->key, &y->key);
}

/* Whether the entries at `from`, n of them, are sorted as qsort() does it. */
static bool sorts(struct wf_sorter *sorter, size_t n)
{
    struct wf_sort_entry *expected = wf_xcalloc(n, sizeof(*expected));

    memcpy(expected, sorter->scratch, n * sizeof(*expected));
    qsort(expected, n, sizeof(*expected), compare);
    wf_sort(sorter->entries, sorter->scratch, n);
    bool same = memcmp(expected, sorter->entries, n * sizeof(*expected)) == 0;
    free(expected);
    return same;
}

static bool shape_is_sorted(size_t n, enum shape shape, struct wf_sorter *sorter)
{
    struct test_event *store = wf_xcalloc(n, sizeof(*store));

    wf_sorter_reserve(sorter, n);
    for (size_t i = 0; i < n; i++) {
        store[i] = make_event(time_of(shape, n * SHAPES + shape, i, n), i);
        /* Names in no order, so that ties in time are not sorted already. */
        store[i].key.seq = wf_test_rand(SEED, n, i);
        sorter->scratch[i] =
            (struct wf_sort_entry){(uint64_t)store[i].key.time, (void *)&store[i]};
    }
    bool sorted = sorts(sorter, n);
    free(store);
    return sorted;
}

static void any_number_in_any_shape_comes_out_like_qsort(void)
{
    struct wf_sorter sorter = {.capacity = 0};

    for (size_t n = 1; n <= LARGEST; n = n < 200 ? n + 1 : n * 5 / 4) {
        for (enum shape shape = RANDOM; shape < SHAPES; shape++) {
            CHECK(shape_is_sorted(n, shape, &sorter));
        }
    }
    wf_sort(sorter.entries, sorter.scratch, 0);
    wf_sorter_fini(&sorter);
}

/* Every order of a few zeros and ones, which are also the times: ties are decided by the names. */
static void all_zeros_and_ones_are_sorted(void)
{
    struct wf_sorter sorter = {.capacity = 0};
    struct test_event store[WF_SORT_FEW];

    wf_sorter_reserve(&sorter, WF_SORT_FEW);
    for (uint32_t n = 1; n <= WF_SORT_FEW; n++) {
        bool all = true;
        for (uint32_t bits = 0; bits < UINT32_C(1) << n && all; bits++) {
            for (uint32_t i = 0; i < n; i++) {
                store[i] = make_event(bits >> i & 1, n - i);
                sorter.scratch[i] = (struct wf_sort_entry){bits >> i & 1, (void *)&store[i]};
            }
            all = sorts(&sorter, n);
        }
        CHECK(all);
    }
    wf_sorter_fini(&sorter);
}

static void room_grows_and_is_kept(void)
{
    struct wf_sorter sorter = {.capacity = 0};

    for (size_t n = 1; n < 100000; n = 3 * n + 1) {
        wf_sorter_reserve(&sorter, n);
        CHECK(sorter.capacity >= n);
        memset(sorter.entries, 1, n * sizeof(*sorter.entries));
        memset(sorter.scratch, 2, n * sizeof(*sorter.scratch));
        struct wf_sort_entry *entries = sorter.entries;
        wf_sorter_reserve(&sorter, n / 2);
        CHECK(sorter.entries == entries);
    }
    wf_sorter_fini(&sorter);
    CHECK(sorter.entries == NULL && sorter.scratch == NULL && sorter.capacity == 0);
}

int main(void)
{
    RUN(any_number_in_any_shape_comes_out_like_qsort);
    RUN(all_zeros_and_ones_are_sorted);
    RUN(room_grows_and_is_kept);
    return wf_test_done();
}
