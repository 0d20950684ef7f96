/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Memory for events: chunks of one kilobyte, each with events side by side, which take no more
 * bytes than they need (wf_event_room()). A bag is a linked list of chunks; its events have no
 * order. Chunks come from the pool of a thread. Pools pass surplus chunks on through a depot, so
 * that a thread that mostly receives events feeds one that mostly sends them.
 */

#include "base/mem.h"
#include "engine/event.h"
#include "engine/tuning.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

enum { WF_CHUNK_BYTES = 1024, WF_CHUNK_ROOM = WF_CHUNK_BYTES - 16 };

struct wf_chunk {
    struct wf_chunk *next;
    union {
        uint32_t from; /* in mailboxes: the worker that sent it */
        struct {
            uint16_t n;                  /* events */
            uint8_t time_bits, dst_bits; /* low bits in which they differ from each other */
        } packed;
    };
    uint16_t used;  /* bytes */
    bool is_packed; /* engine/queue/pack.h; in wheels only */
    uint8_t bases;  /* packed: where the latest base begins, in units of 8 bytes; 0: nowhere */
    alignas(8) unsigned char bytes[WF_CHUNK_ROOM];
};

_Static_assert(sizeof(struct wf_chunk) == WF_CHUNK_BYTES,
               "events are aligned and fill a chunk");

struct wf_slab;

struct wf_depot {
    pthread_mutex_t lock;
    struct wf_chunk *spare; /* linked by `next` */
    size_t n_chunks;
    struct wf_slab *slabs; /* all memory, for release */
    size_t bytes;
    size_t pack_from; /* bags of wheels pack their events if `bytes` is more than this */
};

struct wf_pool {
    struct wf_depot *depot;
    struct wf_chunk *free;
    size_t n_free;
    uint32_t stride; /* bytes of the largest event */
    bool packs;      /* wheels pack their events from now on (engine/queue/pack.h) */
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

/* Counts bytes of states of processes, which lowers the packing threshold. To be called before there
 * are events. */
void wf_depot_count_states(struct wf_depot *depot, size_t bytes);

void wf_pool_init(struct wf_pool *pool, struct wf_depot *depot, uint32_t stride);
void wf_pool_refill(struct wf_pool *pool);
void wf_pool_give_back(struct wf_pool *pool);

static inline struct wf_chunk *wf_chunk_new(struct wf_pool *pool)
{
    if (pool->free == NULL) {
        wf_pool_refill(pool);
    }

    struct wf_chunk *chunk = pool->free;
    pool->free = chunk->next;
    pool->n_free--;
    chunk->used = 0;
    chunk->is_packed = false;
    return chunk;
}

static inline void wf_chunk_free(struct wf_pool *pool, struct wf_chunk *chunk)
{
    chunk->next = pool->free;
    pool->free = chunk;
    pool->n_free++;
    if (pool->n_free > 4 * (size_t)WF_TUNE_POOL_BATCH) {
        wf_pool_give_back(pool);
    }
}

static inline struct wf_event *wf_chunk_event(struct wf_chunk *chunk, uint32_t offset)
{
    return (struct wf_event *)(void *)(chunk->bytes + offset);
}

/* The offset of the event that follows the one at `offset`. */
static inline uint32_t wf_chunk_after(struct wf_chunk *chunk, uint32_t offset)
{
    return offset + (uint32_t)wf_event_room(wf_chunk_event(chunk, offset));
}

/* Copies an event's head and payload; both have room for wf_event_room(ev) bytes. */
static inline void wf_event_copy(struct wf_event *to, const struct wf_event *ev)
{
    memcpy(to, ev, sizeof(*ev));
    if (ev->size != 0) {
        wf_copy_words(to->payload, ev->payload, wf_event_room(ev) - sizeof(*ev));
    }
}

/* To be called while the chunk before this one, which may be null, is read: where an event begins
 * is known only after the one before it has been read, so the processor cannot fetch several at
 * once by itself. Must be inlined: the compiler sees no effect in a call and drops it. */
__attribute__((always_inline)) static inline void
wf_chunk_prefetch(const struct wf_chunk *chunk)
{
    for (size_t at = 0; at < WF_CHUNK_BYTES && chunk != NULL; at += 64) {
        __builtin_prefetch((const unsigned char *)chunk + at);
    }
}

/* Puts an empty chunk in front. */
void wf_bag_extend(struct wf_bag *bag, struct wf_pool *pool);

/* Adds an event of `room` bytes, which the caller writes, to a bag that has so many left. Prefetches
 * the cache line of a later event: a run writes to hundreds of bags alternately, and a store that misses
 * the cache stalls all later stores. (Saves 5 % of the time of `loggp` and of credits.) */
static inline struct wf_event *wf_bag_claim(struct wf_bag *bag, size_t room)
{
    struct wf_event *to = wf_chunk_event(bag->head, WF_CHUNK_ROOM - bag->left);

    bag->left -= (uint32_t)room;
    bag->n++;
    __builtin_prefetch((unsigned char *)to + room + WF_CACHE_LINE, 1);
    return to;
}

/* Returns where the event is now; valid until the bag is emptied. */
static inline struct wf_event *wf_bag_add(struct wf_bag *bag, struct wf_pool *pool,
                                          const struct wf_event *ev)
{
    size_t room = wf_event_room(ev);

    if (bag->left < room) {
        wf_bag_extend(bag, pool);
    }

    struct wf_event *to = wf_bag_claim(bag, room);
    wf_event_copy(to, ev);
    return to;
}

/* Makes `used` of every chunk valid. To be called before chunks are read. */
static inline void wf_bag_seal(struct wf_bag *bag)
{
    if (bag->head != NULL) {
        bag->head->used = (uint16_t)(WF_CHUNK_ROOM - bag->left);
    }
}

/* Empties the bag. */
void wf_bag_free(struct wf_bag *bag, struct wf_pool *pool);
