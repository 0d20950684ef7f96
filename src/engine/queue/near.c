/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/near.h"

#include "base/mem.h"
#include "engine/queue/chunk.h"
#include "engine/tuning.h"

#include <stdlib.h>

struct wf_near_slab {
    struct wf_near_slab *next;
    uint64_t events[]; /* aligned like them */
};

void wf_near_init(struct wf_near *near, uint32_t stride)
{
    *near = (struct wf_near){.stride = stride};
}

void wf_near_fini(struct wf_near *near)
{
    while (near->slabs != NULL) {
        struct wf_near_slab *slab = near->slabs;
        near->slabs = slab->next;
        free(slab);
    }
    free(near->heap);
}

void wf_near_grow(struct wf_near *near)
{
    uint32_t more = near->capacity < WF_TUNE_NEAR_SLAB ? WF_TUNE_NEAR_SLAB : near->capacity;
    struct wf_near_slab *slab = wf_xmalloc(sizeof(*slab) + (size_t)more * near->stride);

    slab->next = near->slabs;
    near->slabs = slab;
    near->heap = wf_xrealloc(near->heap, near->capacity + more, sizeof(struct wf_event *));
    for (uint32_t i = 0; i < more; i++) {
        near->heap[near->capacity + i] =
            (void *)((unsigned char *)slab->events + (size_t)i * near->stride);
    }
    near->capacity += more;
}

void wf_near_push(struct wf_near *near, const struct wf_event *ev)
{
    wf_event_copy(wf_near_claim(near), ev);
    wf_near_add(near);
}

void wf_near_drop(struct wf_near *near)
{
    struct wf_event **heap = near->heap, *free_event = heap[0], *last = heap[--near->n];
    uint32_t i = 0;

    for (uint32_t child = 1; child < near->n; child = 2 * i + 1) {
        if (child + 1 < near->n && wf_key_before(&heap[child + 1]->key, &heap[child]->key)) {
            child++;
        }
        if (!wf_key_before(&heap[child]->key, &last->key)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    heap[near->n] = free_event;
}

void wf_near_pop(struct wf_near *near, struct wf_event *to)
{
    wf_event_copy(to, near->heap[0]);
    wf_near_drop(near);
}
