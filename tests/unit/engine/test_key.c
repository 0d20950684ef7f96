/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/key.h"

#include "harness/wf_test.h"

enum { CASES = 20000, SEED = 2 };

/* Few distinct values per field, so that ties are common. */
static struct wf_key random_key(uint64_t i, uint64_t which)
{
    return (struct wf_key){
        .time = (int64_t)(wf_test_rand(SEED, i, 4 * which) % 3),
        .delta = (uint32_t)(wf_test_rand(SEED, i, 4 * which + 1) % 3),
        .src = (uint32_t)(wf_test_rand(SEED, i, 4 * which + 2) % 3),
        .seq = wf_test_rand(SEED, i, 4 * which + 3) % 3,
    };
}

static bool same(const struct wf_key *a, const struct wf_key *b)
{
    return a->time == b->time && a->delta == b->delta && a->src == b->src && a->seq == b->seq;
}

static void the_order_is_strict_and_total(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        struct wf_key a = random_key(i, 0), b = random_key(i, 1), c = random_key(i, 2);
        CHECK(wf_key_before(&a, &b) + wf_key_before(&b, &a) + same(&a, &b) == 1);
        CHECK(!(wf_key_before(&a, &b) && wf_key_before(&b, &c)) || wf_key_before(&a, &c));
    }
}

static void the_fields_count_in_their_order(void)
{
    static const struct wf_key ascending[] = {
        {0, 0, 0, UINT64_MAX}, {0, 0, 1, 0}, {0, 0, UINT32_MAX, 5}, {0, 1, 0, 0},
        {0, UINT32_MAX, 9, 9}, {1, 0, 0, 0}, {1, 0, 0, 1},          {INT64_MAX, 0, 0, 0},
    };

    for (size_t i = 1; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
        CHECK(wf_key_before(&ascending[i - 1], &ascending[i]));
    }
}

static void a_child_follows_its_parent_even_without_delay(void)
{
    for (uint64_t i = 0; i < CASES; i++) {
        struct wf_key now = random_key(i, 0);
        int64_t delay = (int64_t)(wf_test_rand(SEED, i, 50) % 2);
        struct wf_key child = wf_key_child(&now, delay, (uint32_t)(i % 3), i % 3);
        CHECK(wf_key_before(&now, &child));
    }
}

static void a_delay_starts_generations_anew(void)
{
    struct wf_key now = {.time = 70, .delta = 4, .src = 1, .seq = 9};
    struct wf_key at_once = wf_key_child(&now, 0, 2, 30);
    struct wf_key later = wf_key_child(&now, 5, 2, 31);

    CHECK(same(&at_once, &(struct wf_key){.time = 70, .delta = 5, .src = 2, .seq = 30}));
    CHECK(same(&later, &(struct wf_key){.time = 75, .delta = 0, .src = 2, .seq = 31}));
}

int main(void)
{
    RUN(the_order_is_strict_and_total);
    RUN(the_fields_count_in_their_order);
    RUN(a_child_follows_its_parent_even_without_delay);
    RUN(a_delay_starts_generations_anew);
    return wf_test_done();
}
