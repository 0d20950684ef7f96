/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_STACKS_H
#define WF_VRANK_STACKS_H

/*
 * Stacks of one size for many ranks, in one stretch of address space: a rank costs the pages it
 * touches. Below each stack is a guard where the system can afford it, so that running over the
 * end is noticed at once.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_vrank_stacks {
    unsigned char *base;
    size_t size; /* of each, the guard included */
    uint32_t n;
    bool guarded;
    bool light; /* guards are made by wf_vrank_stacks_use() */
};

/* WF_ENOMEM-like failures are WF_EINVAL with what there is too little of. */
WF_NODISCARD
enum wf_status wf_vrank_stacks_init(struct wf_vrank_stacks *stacks, uint32_t n, size_t size,
                                    struct wf_err *err);
void wf_vrank_stacks_fini(struct wf_vrank_stacks *stacks);

/* Before a stack is used. */
void wf_vrank_stacks_use(const struct wf_vrank_stacks *stacks, uint32_t i);

/* Where stack i begins, from above. Tops are staggered: at multiples of a large power of two
 * they would all fight for the same lines of the cache. */
void *wf_vrank_stacks_top(const struct wf_vrank_stacks *stacks, uint32_t i);
/* What there is below the top. */
size_t wf_vrank_stacks_room(const struct wf_vrank_stacks *stacks, uint32_t i);

/* The stack in whose guard or space an address lies; n if in none. */
uint32_t wf_vrank_stacks_find(const struct wf_vrank_stacks *stacks, const void *address,
                              bool *in_guard);

/* Whether a rank that stopped here has used more than its stack: what a guard would have told
 * earlier. */
bool wf_vrank_stacks_overflowed(const struct wf_vrank_stacks *stacks, uint32_t i,
                                const void *stopped);

/* Gives the memory of a stack that is no longer in use back to the system. */
void wf_vrank_stacks_drop(const struct wf_vrank_stacks *stacks, uint32_t i);

#endif
