/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/near.h"

#include "harness/engine_events.h"

enum { SEED = 4, STEPS = 20000, MOST = 300 };

/* The events that the heap should hold, unordered. */
struct oracle {
    struct test_event held[MOST];
    uint32_t n;
};

static uint32_t least(const struct oracle *oracle)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < oracle->n; i++) {
        if (wf_key_before(&oracle->held[i].key, &oracle->held[best].key)) {
            best = i;
        }
    }
    return best;
}

static void pops_come_in_order_among_pushes(void)
{
    static struct oracle oracle;
    struct wf_near near;
    struct test_event out;

    wf_near_init(&near, TEST_STRIDE);
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t random = wf_test_rand(SEED, 0, i);
        /* Fills and empties by turns. */
        bool push = random % 8 < (i / 1500 % 2 == 0 ? 5U : 3U);
        if (push && oracle.n < MOST) {
            struct test_event ev = make_event((int64_t)(random >> 8) % 50, i);
            oracle.held[oracle.n++] = ev;
            wf_near_push(&near, as_event(&ev));
        } else if (oracle.n > 0) {
            uint32_t first = least(&oracle);
            CHECK(is_event(wf_near_top(&near), &oracle.held[first]));
            wf_near_pop(&near, (void *)&out);
            CHECK(is_event((void *)&out, &oracle.held[first]));
            oracle.held[first] = oracle.held[--oracle.n];
        }
        CHECK_U64(near.n, oracle.n);
    }
    CHECK(near.capacity >= 256);
    wf_near_fini(&near);
}

static void every_place_holds_one_of_them(void)
{
    struct wf_near near;
    bool seen[100] = {false};

    wf_near_init(&near, TEST_STRIDE);
    for (uint64_t i = 0; i < 100; i++) {
        /* A multiple of 4 has no payload; all others carry their name. */
        struct test_event ev = make_event((int64_t)(wf_test_rand(SEED, 1, i) % 9), 4 * i + 1);
        wf_near_push(&near, as_event(&ev));
    }
    for (uint32_t i = 0; i < near.n; i++) {
        const struct wf_event *ev = wf_near_at(&near, i);
        CHECK(i == 0 || !wf_key_before(&ev->key, &wf_near_at(&near, (i - 1) / 2)->key));
        uint64_t number = ev->payload[0] / 4;
        CHECK(number < 100 && !seen[number]);
        seen[number] = true;
    }
    wf_near_fini(&near);
}

static void a_stride_is_enough_room_for_the_largest_payload(void)
{
    enum { STRIDE = sizeof(struct wf_event) + WF_PAYLOAD_MAX };
    struct wf_near near;
    uint64_t room[STRIDE / 8];
    struct wf_event *ev = (void *)room;

    wf_near_init(&near, STRIDE);
    for (uint32_t i = 0; i < 64; i++) {
        memset(room, (int)i, sizeof(room));
        ev->key.time = 64 - (int64_t)i;
        ev->size = WF_PAYLOAD_MAX;
        wf_near_push(&near, ev);
    }
    for (uint32_t i = 64; i-- > 0;) {
        wf_near_pop(&near, ev);
        CHECK(ev->key.time == 64 - (int64_t)i);
        CHECK_U64(ev->payload[0], i * UINT64_C(0x0101010101010101));
        CHECK_U64(ev->payload[WF_PAYLOAD_MAX / 8 - 1], i * UINT64_C(0x0101010101010101));
    }
    wf_near_fini(&near);
}

/* As the windows do: an event is executed in the heap, and schedules others there. */
static void the_least_event_stays_in_place_while_others_are_added(void)
{
    enum { CHILDREN = 100 };
    struct test_event first = make_event(1, 1), out;
    struct wf_near near;

    wf_near_init(&near, TEST_STRIDE);
    wf_near_push(&near, as_event(&first));
    const struct wf_event *running = wf_near_top(&near);
    for (uint64_t i = 0; i < CHILDREN; i++) {
        struct test_event ev =
            make_event(2 + (int64_t)(wf_test_rand(SEED, 2, i) % 9), 4 * i + 5);
        memcpy(wf_near_claim(&near), &ev, sizeof(ev));
        wf_near_add(&near);
        CHECK(wf_near_top(&near) == running && is_event(running, &first));
    }
    wf_near_drop(&near);
    CHECK(is_event(running, &first));
    for (int64_t last = 1; near.n > 0; last = out.key.time) {
        wf_near_pop(&near, (void *)&out);
        CHECK(out.key.time >= last);
    }
    wf_near_fini(&near);
}

int main(void)
{
    RUN(pops_come_in_order_among_pushes);
    RUN(every_place_holds_one_of_them);
    RUN(a_stride_is_enough_room_for_the_largest_payload);
    RUN(the_least_event_stays_in_place_while_others_are_added);
    return wf_test_done();
}
