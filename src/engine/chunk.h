/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_CHUNK_H
#define WF_ENGINE_CHUNK_H

/*
 * Where events live: chunks of one kilobyte, each holding events of one stride side by side.
 * A bag is a linked list of chunks in no order. Chunks come from a thread's pool; pools trade
 * surplus through a depot, so that a thread that only receives does not hoard what a thread
 * that only sends must buy.
 */

#include "engine/event.h"

#include <pthread.h>
#include <string.h>

enum { WF_CHUNK_BYTES = 1024, WF_CHUNK_ROOM = WF_CHUNK_BYTES - 16 };

struct wf_chunk {
    struct wf_chunk *next;
    uint32_t used; /* bytes */
    uint32_t from; /* the worker that sent it; meaningful in mailboxes only */
    unsigned char bytes[WF_CHUNK_ROOM];
};

struct wf_slab;

struct wf_depot {
    pthread_mutex_t lock;
    struct wf_chunk *batches; /* linked by `next` in runs of WF_POOL_BATCH */
    size_t n_chunks;
    struct wf_slab *slabs; /* everything ever allocated, for release */
    size_t bytes;
};

struct wf_pool {
    struct wf_depot *depot;
    struct wf_chunk *free;
    size_t n_free;
    uint32_t stride;
};

struct wf_bag {
    struct wf_chunk *head;
};

void wf_depot_init(struct wf_depot *depot);
void wf_depot_fini(struct wf_depot *depot); /* releases all chunks of all its pools */

void wf_pool_init(struct wf_pool *pool, struct wf_depot *depot, uint32_t stride);
void wf_pool_refill(struct wf_pool *pool);
void wf_pool_give_back(struct wf_pool *pool);

enum { WF_POOL_BATCH = 512 };

static inline struct wf_chunk *wf_chunk_new(struct wf_pool *pool)
{
    if (pool->free == NULL) {
        wf_pool_refill(pool);
    }

    struct wf_chunk *chunk = pool->free;
    pool->free = chunk->next;
    pool->n_free--;
    chunk->used = 0;
    return chunk;
}

static inline void wf_chunk_free(struct wf_pool *pool, struct wf_chunk *chunk)
{
    chunk->next = pool->free;
    pool->free = chunk;
    pool->n_free++;
    if (pool->n_free > 4 * (size_t)WF_POOL_BATCH) {
        wf_pool_give_back(pool);
    }
}

static inline struct wf_event *wf_chunk_event(struct wf_chunk *chunk, uint32_t offset)
{
    return (struct wf_event *)(void *)(chunk->bytes + offset);
}

/* Copies an event's head and payload; `to` has room for a whole stride. */
static inline void wf_event_copy(struct wf_event *to, const struct wf_event *ev)
{
    memcpy(to, ev, sizeof(*ev));
    if (ev->size != 0) {
        memcpy(to->payload, ev->payload, ev->size);
    }
}

static inline void wf_bag_add(struct wf_bag *bag, struct wf_pool *pool,
                              const struct wf_event *ev)
{
    struct wf_chunk *chunk = bag->head;

    if (chunk == NULL || chunk->used + pool->stride > WF_CHUNK_ROOM) {
        struct wf_chunk *fresh = wf_chunk_new(pool);
        fresh->next = chunk;
        bag->head = chunk = fresh;
    }
    wf_event_copy(wf_chunk_event(chunk, chunk->used), ev);
    chunk->used += pool->stride;
}

/* Empties the bag. */
void wf_bag_free(struct wf_bag *bag, struct wf_pool *pool);
size_t wf_bag_count(const struct wf_bag *bag, uint32_t stride);

#endif
