/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Memory for events: chunks of one kilobyte, each with events of one stride side by side. A bag
 * is a linked list of chunks; its events have no order. Chunks come from the pool of a thread.
 * Pools exchange surplus chunks through a depot, so that a thread that mostly receives events
 * feeds one that mostly sends them.
 */

#include "engine/event.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { WF_CHUNK_BYTES = 1024, WF_CHUNK_ROOM = WF_CHUNK_BYTES - 16 };

struct wf_chunk {
    struct wf_chunk *next;
    uint32_t used; /* bytes */
    uint32_t from; /* the worker that sent it; used in mailboxes only */
    unsigned char bytes[WF_CHUNK_ROOM];
};

struct wf_slab;

struct wf_depot {
    pthread_mutex_t lock;
    struct wf_chunk *spare; /* linked by `next` */
    size_t n_chunks;
    struct wf_slab *slabs; /* all memory, for release */
    size_t bytes;
};

struct wf_pool {
    struct wf_depot *depot;
    struct wf_chunk *free;
    size_t n_free;
    uint32_t stride;
};

/* The fill level of the first chunk is kept here, so that adding an event does not touch the
 * head of the chunk. wf_bag_seal() writes it there. It counts down, so that an empty bag, which
 * is all zero, looks like one whose first chunk is full. */
struct wf_bag {
    struct wf_chunk *head;
    uint32_t left; /* free bytes of the first chunk */
    uint32_t n;    /* events */
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

/* Puts an empty chunk in front. */
void wf_bag_extend(struct wf_bag *bag, struct wf_pool *pool);

/* Adds an event, which the caller writes, to a bag that has room for it. */
static inline struct wf_event *wf_bag_claim(struct wf_bag *bag, uint32_t stride)
{
    struct wf_event *to = wf_chunk_event(bag->head, WF_CHUNK_ROOM - bag->left);

    bag->left -= stride;
    bag->n++;
    return to;
}

/* Returns where the event is now; valid until the bag is emptied. */
static inline struct wf_event *wf_bag_add(struct wf_bag *bag, struct wf_pool *pool,
                                          const struct wf_event *ev)
{
    if (bag->left < pool->stride) {
        wf_bag_extend(bag, pool);
    }

    struct wf_event *to = wf_bag_claim(bag, pool->stride);
    wf_event_copy(to, ev);
    return to;
}

/* Makes `used` of every chunk valid. To be called before chunks are read. */
static inline void wf_bag_seal(struct wf_bag *bag)
{
    if (bag->head != NULL) {
        bag->head->used = WF_CHUNK_ROOM - bag->left;
    }
}

/* Takes the event that was added last; false if the bag is empty. */
bool wf_bag_pop(struct wf_bag *bag, struct wf_pool *pool, struct wf_event *to);

/* Empties the bag. */
void wf_bag_free(struct wf_bag *bag, struct wf_pool *pool);
