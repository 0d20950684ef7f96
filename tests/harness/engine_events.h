/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Events for tests of the engine's data structures. Each event has a number as its name, so
 * that a test can identify it. */

#include "engine/queue/chunk.h"
#include "harness/wf_test.h"

/* An event with its payload; unlike struct wf_event it can be an element of an array. */
struct test_event {
    struct wf_key key;
    uint32_t dst;
    uint16_t kind, size;
    uint64_t payload[2];
};

enum { TEST_STRIDE = sizeof(struct test_event) };

_Static_assert(sizeof(struct test_event) == sizeof(struct wf_event) + 16, "the same layout");

/* The event called `name`, which is part of its payload and makes its key unique. */
static inline struct test_event make_event(int64_t time, uint64_t name)
{
    return (struct test_event){
        .key = {.time = time,
                .delta = (uint32_t)(name % 3),
                .src = (uint32_t)(name * 7 % 5),
                .seq = name},
        .dst = (uint32_t)(name % 11),
        .kind = (uint16_t)(name % 13),
        .size = name % 4 == 0 ? 0 : 16,
        .payload = {name, ~name},
    };
}

static inline const struct wf_event *as_event(const struct test_event *ev)
{
    return (const void *)ev;
}

/* Whether two events are equal, ignoring padding. */
static inline bool is_event(const struct wf_event *ev, const struct test_event *expected)
{
    return memcmp(ev, expected, wf_event_bytes(as_event(expected))) == 0;
}

/* The number of free chunks in a depot and all its pools. */
static inline size_t free_chunks(const struct wf_depot *depot, const struct wf_pool *pools,
                                 size_t n)
{
    size_t sum = depot->n_chunks;

    for (size_t i = 0; i < n; i++) {
        sum += pools[i].n_free;
    }
    return sum;
}
