/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/warp/antis.h"

#include "base/mem.h"
#include "harness/engine_events.h"

enum { SEED = 7, KINDS = 600, STEPS = 80000 };

/* Event number i of KINDS: few distinct keys, several contents for each key. */
static struct test_event event_of(uint64_t i)
{
    struct test_event ev = make_event((int64_t)(i / 12 % 5), i / 12);

    ev.key.seq = i / 24;
    ev.kind = (uint16_t)(i % 2);
    ev.size = (uint16_t)(8 * (i % 3));
    ev.payload[0] = i / 6 % 2;
    ev.payload[1] = i / 12;
    return ev;
}

static bool same_bytes(const struct test_event *a, const struct test_event *b)
{
    return a->size == b->size && memcmp(a, b, wf_event_bytes(as_event(a))) == 0;
}

/* Equal events get the same number, the smallest of theirs. */
static void number_kinds(uint32_t *number)
{
    for (uint32_t i = 0; i < KINDS; i++) {
        struct test_event a = event_of(i);
        number[i] = i;
        for (uint32_t j = 0; j < i; j++) {
            struct test_event b = event_of(j);
            if (same_bytes(&a, &b)) {
                number[i] = j;
                break;
            }
        }
    }
}

static void a_multiset_of_whole_events(void)
{
    static uint32_t number[KINDS], count[KINDS];
    struct wf_antis antis;
    uint32_t n = 0;

    number_kinds(number);
    wf_antis_init(&antis, TEST_STRIDE);
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t random = wf_test_rand(SEED, 0, i);
        struct test_event ev = event_of((random >> 8) % KINDS);
        uint32_t kind = number[(random >> 8) % KINDS];
        /* Long times of growth and of shrinking. */
        if (random % 16 < (i / 8000 % 2 == 0 ? 10U : 6U)) {
            wf_antis_add(&antis, as_event(&ev));
            count[kind]++;
            n++;
        } else {
            bool there = wf_antis_take(&antis, as_event(&ev));
            CHECK(there == (count[kind] > 0));
            count[kind] -= there;
            n -= there;
        }
        CHECK_U64(antis.n, n);
    }
    for (uint32_t i = 0; i < KINDS; i++) {
        struct test_event ev = event_of(i);
        for (; count[number[i]] > 0; count[number[i]]--) {
            CHECK(wf_antis_take(&antis, as_event(&ev)));
        }
        CHECK(!wf_antis_take(&antis, as_event(&ev)));
    }
    CHECK_U64(antis.n, 0);
    wf_antis_fini(&antis);
}

static void the_same_key_with_another_content_is_another_event(void)
{
    struct test_event a = make_event(5, 1), b = a, c = a, d = a, e = a;
    struct wf_antis antis;

    b.payload[1]++;
    c.kind++;
    d.dst++;
    e.size = 8;
    wf_antis_init(&antis, TEST_STRIDE);
    CHECK(!wf_antis_take(&antis, as_event(&a)));
    wf_antis_add(&antis, as_event(&a));
    CHECK(!wf_antis_take(&antis, as_event(&b)));
    CHECK(!wf_antis_take(&antis, as_event(&c)));
    CHECK(!wf_antis_take(&antis, as_event(&d)));
    CHECK(!wf_antis_take(&antis, as_event(&e)));
    wf_antis_add(&antis, as_event(&b));
    CHECK(wf_antis_take(&antis, as_event(&b)));
    CHECK(!wf_antis_take(&antis, as_event(&b)));
    CHECK(wf_antis_take(&antis, as_event(&a)));
    CHECK(!wf_antis_take(&antis, as_event(&a)));
    wf_antis_fini(&antis);
}

/* Bytes after the end of the payload are ignored. */
static void bytes_beyond_the_payload_do_not_count(void)
{
    struct test_event a = make_event(5, 1), b;
    struct wf_antis antis;

    a.size = 8;
    b = a;
    b.payload[1]++;
    wf_antis_init(&antis, TEST_STRIDE);
    wf_antis_add(&antis, as_event(&a));
    CHECK(wf_antis_take(&antis, as_event(&b)));
    wf_antis_fini(&antis);
}

static void many_with_different_keys(void)
{
    enum { MANY = 30000 };
    struct wf_antis antis;

    wf_antis_init(&antis, TEST_STRIDE);
    for (uint64_t i = 0; i < MANY; i++) {
        struct test_event ev = make_event((int64_t)i, i);
        wf_antis_add(&antis, as_event(&ev));
    }
    for (uint64_t i = 0; i < MANY; i++) {
        struct test_event ev = make_event((int64_t)(i * 7 % MANY), i * 7 % MANY);
        CHECK(wf_antis_take(&antis, as_event(&ev)));
        CHECK(!wf_antis_take(&antis, as_event(&ev)));
    }
    wf_antis_fini(&antis);
}

int main(void)
{
    RUN(a_multiset_of_whole_events);
    RUN(the_same_key_with_another_content_is_another_event);
    RUN(bytes_beyond_the_payload_do_not_count);
    RUN(many_with_different_keys);
    return wf_test_done();
}
