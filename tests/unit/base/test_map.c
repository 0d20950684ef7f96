/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "harness/wf_test.h"

enum { KEYS = 512, STEPS = 200000, SEED = 7 };

static void a_new_map_is_empty(void)
{
    struct wf_map map = {.n = 0};
    size_t at = 0;

    CHECK(wf_map_get(&map, 0) == NULL && wf_map_get(&map, 7) == NULL);
    CHECK(!wf_map_remove(&map, 0));
    CHECK(wf_map_next(&map, &at) == NULL);
    CHECK_U64(map.n, 0);
    wf_map_fini(&map);
}

/* Keys that differ in few bits, including 0 and the largest key. */
static uint64_t key_of(uint64_t i)
{
    return i < 64 ? i << 58 : i < 128 ? UINT64_MAX - (i - 64) : (i - 128) << 20;
}

/* Random calls; an array knows what the map should hold. */
static void the_map_agrees_with_an_array(void)
{
    static uint64_t expected[KEYS]; /* 0: not there */
    struct wf_map map = {.n = 0};
    size_t n = 0;

    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t i = wf_test_rand(SEED, 0, step) % KEYS, key = key_of(i);
        bool grows = step / (STEPS / 4) % 2 == 0;

        i = key == 0 ? 0 : i; /* two numbers have the key 0 */
        if (wf_test_rand(SEED, 1, step) % 4 < (grows ? 3 : 1)) {
            uint64_t *value = wf_map_put(&map, key);
            CHECK_U64(*value, expected[i]);
            n += *value == 0;
            *value = expected[i] = step + 1;
        } else {
            CHECK(wf_map_remove(&map, key) == (expected[i] != 0));
            n -= expected[i] != 0;
            expected[i] = 0;
        }
        uint64_t other = wf_test_rand(SEED, 2, step) % 128;
        const uint64_t *value = wf_map_get(&map, key_of(other));
        CHECK_U64(value != NULL ? *value : 0, expected[other]);
        CHECK_U64(map.n, n);
    }

    const struct wf_map_entry *entry;
    size_t seen = 0;
    for (size_t at = 0; (entry = wf_map_next(&map, &at)) != NULL; seen++) {
        CHECK(*wf_map_get(&map, entry->key) == entry->value);
    }
    CHECK_U64(seen, n);
    wf_map_fini(&map);
}

static void a_map_is_cleared(void)
{
    struct wf_map map = {.n = 0};

    for (uint64_t n = 0; n < 300; n += n < 4 ? 1 : 61) {
        for (uint64_t key = 0; key < n; key++) {
            *wf_map_put(&map, key) = key + 1;
        }
        wf_map_clear(&map);
        CHECK_U64(map.n, 0);
        for (uint64_t key = 0; key < n; key++) {
            CHECK(wf_map_get(&map, key) == NULL);
        }
        CHECK_U64(*wf_map_put(&map, 0), 0);
        wf_map_clear(&map);
    }
    wf_map_fini(&map);
}

int main(void)
{
    RUN(a_new_map_is_empty);
    RUN(a_map_is_cleared);
    RUN(the_map_agrees_with_an_array);
    return wf_test_done();
}
