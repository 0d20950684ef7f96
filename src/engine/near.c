/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/near.h"

#include "base/mem.h"
#include "engine/chunk.h"

#include <stdlib.h>

void wf_near_init(struct wf_near *near, uint32_t stride)
{
    *near = (struct wf_near){.stride = stride};
}

void wf_near_fini(struct wf_near *near)
{
    free(near->slots);
    free(near->heap);
}

static struct wf_event *slot(const struct wf_near *near, uint32_t i)
{
    return (void *)(near->slots + (size_t)near->heap[i] * near->stride);
}

static void grow(struct wf_near *near)
{
    uint32_t capacity = near->capacity == 0 ? 16 : 2 * near->capacity;

    near->slots = wf_xrealloc(near->slots, capacity, near->stride);
    near->heap = wf_xrealloc(near->heap, capacity, sizeof(*near->heap));
    for (uint32_t i = near->capacity; i < capacity; i++) {
        near->heap[i] = i;
    }
    near->capacity = capacity;
}

static void swap(struct wf_near *near, uint32_t a, uint32_t b)
{
    uint32_t t = near->heap[a];

    near->heap[a] = near->heap[b];
    near->heap[b] = t;
}

static bool before(const struct wf_near *near, uint32_t a, uint32_t b)
{
    return wf_key_before(&slot(near, a)->key, &slot(near, b)->key);
}

void wf_near_push(struct wf_near *near, const struct wf_event *ev)
{
    if (near->n == near->capacity) {
        grow(near);
    }

    uint32_t i = near->n++;
    wf_event_copy(slot(near, i), ev);
    for (; i > 0 && before(near, i, (i - 1) / 2); i = (i - 1) / 2) {
        swap(near, i, (i - 1) / 2);
    }
}

void wf_near_pop(struct wf_near *near, struct wf_event *to)
{
    wf_event_copy(to, slot(near, 0));
    near->n--;
    swap(near, 0, near->n);
    for (uint32_t i = 0;;) {
        uint32_t child = 2 * i + 1;
        if (child >= near->n) {
            return;
        }
        if (child + 1 < near->n && before(near, child + 1, child)) {
            child++;
        }
        if (!before(near, child, i)) {
            return;
        }
        swap(near, i, child);
        i = child;
    }
}
