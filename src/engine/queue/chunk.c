/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/chunk.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Slabs have the size of huge pages, which save most of the address translation for the
 * wide, random accesses of a large run. Small runs start with small slabs. */
enum { SLAB_FIRST = 64 * 1024, SLAB_MAX = 2 * 1024 * 1024 };

/* Packing takes a quarter of the time of a simulation of packets, so only large runs pack their
 * events: those in which twice the bytes of states plus the bytes of events exceed PACK_RUNS_FROM,
 * and the bytes of events exceed PACK_EVENTS_FROM. States have the larger weight because memory
 * is short in runs with millions of processes. Runs with few processes and much traffic have
 * enough memory, and should be fast. */
enum {
    PACK_RUNS_FROM = 384 * 1024 * 1024,
    PACK_EVENTS_FROM = 16 * 1024 * 1024,
    WEIGHT_OF_STATES = 2
};

struct wf_slab {
    struct wf_slab *next;
    void *memory;
};

void wf_depot_init(struct wf_depot *depot)
{
    *depot = (struct wf_depot){.pack_from = PACK_RUNS_FROM};
    (void)pthread_mutex_init(&depot->lock, NULL);
}

void wf_depot_fini(struct wf_depot *depot)
{
    struct wf_slab *slab = depot->slabs;

    while (slab != NULL) {
        struct wf_slab *next = slab->next;
        free(slab->memory);
        free(slab);
        slab = next;
    }
    (void)pthread_mutex_destroy(&depot->lock);
}

void wf_depot_count_states(struct wf_depot *depot, size_t bytes)
{
    size_t spare =
        depot->pack_from > PACK_EVENTS_FROM ? depot->pack_from - PACK_EVENTS_FROM : 0;

    depot->pack_from -= bytes < spare / WEIGHT_OF_STATES ? WEIGHT_OF_STATES * bytes : spare;
}

void wf_pool_init(struct wf_pool *pool, struct wf_depot *depot, uint32_t stride)
{
    *pool = (struct wf_pool){.depot = depot, .stride = stride};
}

static void *slab_memory(size_t bytes)
{
    size_t align = bytes < SLAB_MAX ? WF_CACHE_LINE : SLAB_MAX;
    void *memory = NULL;

    if (posix_memalign(&memory, align, bytes) != 0) {
        memory = wf_xaligned(bytes); /* reports the failure */
    }
    if (bytes == SLAB_MAX) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    }
    return memory;
}

static void add_slab(struct wf_pool *pool)
{
    struct wf_depot *depot = pool->depot;
    size_t bytes = depot->bytes < 16 * (size_t)SLAB_FIRST ? SLAB_FIRST : SLAB_MAX;
    struct wf_slab *slab = wf_xmalloc(sizeof(*slab));

    slab->memory = slab_memory(bytes);
    slab->next = depot->slabs;
    depot->slabs = slab;
    depot->bytes += bytes;
    for (size_t at = 0; at + WF_CHUNK_BYTES <= bytes; at += WF_CHUNK_BYTES) {
        struct wf_chunk *chunk = (void *)((unsigned char *)slab->memory + at);
        chunk->next = pool->free;
        pool->free = chunk;
        pool->n_free++;
    }
}

void wf_pool_refill(struct wf_pool *pool)
{
    struct wf_depot *depot = pool->depot;

    (void)pthread_mutex_lock(&depot->lock);
    if (depot->n_chunks == 0) {
        add_slab(pool);
    }
    /* Events without payloads are small already. */
    pool->packs = depot->bytes > depot->pack_from && pool->stride > sizeof(struct wf_event);
    for (size_t i = 0; i < WF_POOL_BATCH && depot->n_chunks > 0; i++) {
        struct wf_chunk *chunk = depot->spare;
        depot->spare = chunk->next;
        depot->n_chunks--;
        chunk->next = pool->free;
        pool->free = chunk;
        pool->n_free++;
    }
    (void)pthread_mutex_unlock(&depot->lock);
}

void wf_pool_give_back(struct wf_pool *pool)
{
    struct wf_depot *depot = pool->depot;

    (void)pthread_mutex_lock(&depot->lock);
    for (size_t i = 0; i < 2 * (size_t)WF_POOL_BATCH; i++) {
        struct wf_chunk *chunk = pool->free;
        pool->free = chunk->next;
        pool->n_free--;
        chunk->next = depot->spare;
        depot->spare = chunk;
        depot->n_chunks++;
    }
    (void)pthread_mutex_unlock(&depot->lock);
}

void wf_bag_extend(struct wf_bag *bag, struct wf_pool *pool)
{
    struct wf_chunk *fresh = wf_chunk_new(pool);

    wf_bag_seal(bag);
    fresh->next = bag->head;
    bag->head = fresh;
    bag->left = WF_CHUNK_ROOM;
}

void wf_bag_free(struct wf_bag *bag, struct wf_pool *pool)
{
    while (bag->head != NULL) {
        struct wf_chunk *chunk = bag->head;
        bag->head = chunk->next;
        wf_chunk_free(pool, chunk);
    }
    *bag = (struct wf_bag){.head = NULL};
}
