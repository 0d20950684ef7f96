/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/chunk.h"

#include "base/guard.h"
#include "base/mem.h"
#include "engine/tuning.h"

#include <stdlib.h>
#include <sys/mman.h>

struct wf_slab {
    struct wf_slab *next;
    void *memory;
};

void wf_depot_init(struct wf_depot *depot)
{
    *depot = (struct wf_depot){.pack_from = WF_TUNE_PACK_RUNS};
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
        depot->pack_from > WF_TUNE_PACK_EVENTS ? depot->pack_from - WF_TUNE_PACK_EVENTS : 0;

    depot->pack_from -=
        bytes < spare / WF_TUNE_PACK_WEIGHT ? WF_TUNE_PACK_WEIGHT * bytes : spare;
}

void wf_pool_init(struct wf_pool *pool, struct wf_depot *depot, uint32_t stride)
{
    *pool = (struct wf_pool){.depot = depot, .stride = stride};
}

static void *slab_memory(size_t bytes)
{
    size_t align = bytes < WF_TUNE_SLAB ? WF_CACHE_LINE : WF_TUNE_SLAB;
    void *memory = NULL;

    if (posix_memalign(&memory, align, bytes) != 0) {
        memory = wf_xaligned(bytes); /* reports the failure */
    } else {
        wf_guard_block(memory);
    }
    if (bytes == WF_TUNE_SLAB) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    }
    return memory;
}

static void add_slab(struct wf_pool *pool)
{
    struct wf_depot *depot = pool->depot;
    size_t bytes =
        depot->bytes < 16 * (size_t)WF_TUNE_SLAB_FIRST ? WF_TUNE_SLAB_FIRST : WF_TUNE_SLAB;
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

    wf_lock(&depot->lock);
    if (depot->n_chunks == 0) {
        add_slab(pool);
    }
    /* Events without payloads are small already. */
    pool->packs = depot->bytes > depot->pack_from && pool->stride > sizeof(struct wf_event);
    for (size_t i = 0; i < WF_TUNE_POOL_BATCH && depot->n_chunks > 0; i++) {
        struct wf_chunk *chunk = depot->spare;
        depot->spare = chunk->next;
        depot->n_chunks--;
        chunk->next = pool->free;
        pool->free = chunk;
        pool->n_free++;
    }
    wf_unlock(&depot->lock);
}

void wf_pool_give_back(struct wf_pool *pool)
{
    struct wf_depot *depot = pool->depot;

    wf_lock(&depot->lock);
    for (size_t i = 0; i < 2 * (size_t)WF_TUNE_POOL_BATCH; i++) {
        struct wf_chunk *chunk = pool->free;
        pool->free = chunk->next;
        pool->n_free--;
        chunk->next = depot->spare;
        depot->spare = chunk;
        depot->n_chunks++;
    }
    wf_unlock(&depot->lock);
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
