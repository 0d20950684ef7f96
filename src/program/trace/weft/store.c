/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/store.h"

#include "base/array.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

enum { RANKS_TRIED = 4096 }; /* to free memory for one block */

void wf_native_store_init(struct wf_native_store *store, const struct wf_native_set *set,
                          void (*forget)(struct wf_native_store *store, uint32_t rank))
{
    store->set = *set;
    store->taken = wf_xcalloc(set->header.n_ranks, sizeof(*store->taken));
    store->forget = forget;
    (void)pthread_mutex_init(&store->lock, NULL);
}

void wf_native_store_fini(struct wf_native_store *store)
{
    while (store->tools != NULL) {
        struct wf_native_tools *tools = store->tools;
        store->tools = tools->next;
        wf_native_tools_fini(tools);
        free(tools);
    }
    free(store->taken);
    wf_native_set_close(&store->set);
    (void)pthread_mutex_destroy(&store->lock);
}

/* ---- failures ---- */

void wf_native_store_fail(struct wf_native_store *store, const struct wf_err *err)
{
    (void)pthread_mutex_lock(&store->lock);
    if (store->failure.status == WF_OK) {
        store->failure = *err;
    }
    (void)pthread_mutex_unlock(&store->lock);
}

void wf_native_store_bad(struct wf_native_store *store, const struct wf_native_block *at,
                         const char *what)
{
    struct wf_err err;

    (void)wf_err_set(&err, WF_EINVAL, "%.200s: block at byte %" PRIu64 ", rank %" PRIu32 ": %s",
                     store->set.files[at->file].path, at->offset, at->rank, what);
    wf_native_store_fail(store, &err);
}

enum wf_status wf_native_store_check(struct wf_native_store *store, struct wf_err *err)
{
    (void)pthread_mutex_lock(&store->lock);
    enum wf_status status = store->failure.status;
    if (status != WF_OK && err != NULL) {
        *err = store->failure;
    }
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

/* ---- blocks ---- */

const struct wf_native_block *wf_native_store_find(const struct wf_native_store *store,
                                                   size_t low, size_t high, uint32_t rank,
                                                   uint64_t op)
{
    const struct wf_native_block *blocks = store->set.blocks;

    WF_BISECT(low, high, middle,
              blocks[middle].rank < rank ||
                  (blocks[middle].rank == rank &&
                   blocks[middle].first_op + blocks[middle].n_ops <= op));
    return low < high && blocks[low].rank == rank ? &blocks[low] : NULL;
}

static struct wf_native_tools *take_tools(struct wf_native_store *store)
{
    (void)pthread_mutex_lock(&store->lock);
    struct wf_native_tools *tools = store->tools;
    if (tools != NULL) {
        store->tools = tools->next;
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (tools == NULL) {
        tools = wf_xcalloc(1, sizeof(*tools));
        tools->packer = wf_native_packer_new();
    }
    return tools;
}

static void give_tools(struct wf_native_store *store, struct wf_native_tools *tools)
{
    (void)pthread_mutex_lock(&store->lock);
    tools->next = store->tools;
    store->tools = tools;
    (void)pthread_mutex_unlock(&store->lock);
}

struct wf_native_tools *wf_native_store_read(struct wf_native_store *store,
                                             const struct wf_native_block *at)
{
    struct wf_native_tools *tools = take_tools(store);
    struct wf_native_frame frame;
    const char *fault = wf_native_read_frame(&store->set, at->file, at->offset, &frame, tools);

    if (fault == NULL && (frame.type != WF_FRAME_BLOCK || frame.rank != at->rank ||
                          frame.first_op != at->first_op || frame.n_ops != at->n_ops)) {
        fault = "it is not the block that was expected there";
    }
    if (fault != NULL) {
        wf_native_store_bad(store, at, fault);
        give_tools(store, tools);
        return NULL;
    }
    return tools;
}

void wf_native_store_decoded(struct wf_native_store *store, const struct wf_native_block *at,
                             struct wf_native_tools *tools, const char *fault, size_t memory)
{
    if (tools != NULL) {
        give_tools(store, tools);
    }
    if (fault != NULL) {
        wf_native_store_bad(store, at, fault);
    } else {
        (void)atomic_fetch_add_explicit(&store->memory, memory, memory_order_relaxed);
    }
}

void wf_native_store_make_room(struct wf_native_store *store)
{
    uint32_t n_ranks = store->set.header.n_ranks;
    uint32_t n = n_ranks < RANKS_TRIED ? n_ranks : RANKS_TRIED;

    for (uint32_t i = 0; i < n && wf_native_store_is_full(store); i++) {
        uint32_t hand =
            atomic_fetch_add_explicit(&store->hand, 1, memory_order_relaxed) % n_ranks;
        if (wf_native_store_take(store, hand)) {
            store->forget(store, hand);
            wf_native_store_give(store, hand);
        }
    }
}
