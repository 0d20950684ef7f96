/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The blocks of a native trace while it is read: what sources of ops and graphs of tasks share.
 *
 * Any number of threads reads blocks at once. Decoded blocks are kept up to a limit of memory.
 * If all that a trace may need exceeds the limit, the store `shares`: blocks of ranks that
 * nobody reads at the moment are forgotten, and a thread takes a rank before it uses the rank's
 * blocks. The first failure is kept for wf_native_store_check().
 */

#include "program/trace/weft/file.h"

#include <pthread.h>
#include <stdatomic.h>

struct wf_native_store {
    struct wf_native_set set;
    bool shares;
    uint64_t limit;
    atomic_ullong memory; /* bytes of all blocks that are decoded */
    atomic_uint hand;     /* the rank that forgets its blocks next, modulo their number */
    atomic_bool *taken;   /* of each rank */
    /* Releases the decoded blocks of a rank, which is taken. */
    void (*forget)(struct wf_native_store *store, uint32_t rank);
    pthread_mutex_t lock; /* of the rest */
    struct wf_native_tools *tools;
    struct wf_err failure;
};

/* Takes over the files. */
void wf_native_store_init(struct wf_native_store *store, const struct wf_native_set *set,
                          void (*forget)(struct wf_native_store *store, uint32_t rank));
void wf_native_store_fini(struct wf_native_store *store);

/* Notes a failure, unless there was one before. */
void wf_native_store_fail(struct wf_native_store *store, const struct wf_err *err);
/* Words what is wrong with a block, and notes it. */
void wf_native_store_bad(struct wf_native_store *store, const struct wf_native_block *at,
                         const char *what);
enum wf_status wf_native_store_check(struct wf_native_store *store, struct wf_err *err);

/* The block with op number `op` of the rank, which is among the blocks from number `low` to
 * before `high`; null if there is none. */
const struct wf_native_block *wf_native_store_find(const struct wf_native_store *store,
                                                   size_t low, size_t high, uint32_t rank,
                                                   uint64_t op);

/* Reads a block to `raw` of the tools; null, with the failure noted, if that is not possible.
 * The caller decodes it and says what is wrong with it (null: nothing) or how much memory the
 * decoded block takes; that gives the tools back, which are null if it read the block itself. */
struct wf_native_tools *wf_native_store_read(struct wf_native_store *store,
                                             const struct wf_native_block *at);
void wf_native_store_decoded(struct wf_native_store *store, const struct wf_native_block *at,
                             struct wf_native_tools *tools, const char *fault, size_t memory);

/* A rank that is taken is used by one thread only. */
static inline bool wf_native_store_take(struct wf_native_store *store, uint32_t rank)
{
    return !atomic_exchange_explicit(&store->taken[rank], true, memory_order_acquire);
}

static inline void wf_native_store_give(struct wf_native_store *store, uint32_t rank)
{
    atomic_store_explicit(&store->taken[rank], false, memory_order_release);
}

static inline void wf_native_store_released(struct wf_native_store *store, size_t memory)
{
    (void)atomic_fetch_sub_explicit(&store->memory, memory, memory_order_relaxed);
}

static inline bool wf_native_store_is_full(const struct wf_native_store *store)
{
    return store->shares &&
           atomic_load_explicit(&store->memory, memory_order_relaxed) > store->limit;
}

/* Forgets blocks of ranks that nobody has taken until there is memory, or enough was tried. */
void wf_native_store_make_room(struct wf_native_store *store);
