/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The stacks of ranks, all of one size, in one range of address space. A rank uses memory for
 * the pages it touches. If the system allows, there is a guard page below each stack, so that
 * an overflow is noticed at once.
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
    bool light; /* guards are installed by wf_vrank_stacks_use() */
};

/* WF_EINVAL if there is not enough address space. */
WF_NODISCARD
enum wf_status wf_vrank_stacks_init(struct wf_vrank_stacks *stacks, uint32_t n, size_t size,
                                    struct wf_err *err);
void wf_vrank_stacks_fini(struct wf_vrank_stacks *stacks);

/* Called before a stack is used. */
void wf_vrank_stacks_use(const struct wf_vrank_stacks *stacks, uint32_t i);

/* The top of stack i. Tops are staggered: at multiples of a large power of two they would
 * compete for the same cache lines. */
void *wf_vrank_stacks_top(const struct wf_vrank_stacks *stacks, uint32_t i);
/* The bytes below the top. */
size_t wf_vrank_stacks_size(const struct wf_vrank_stacks *stacks, uint32_t i);

/* The stack that an address belongs to; n if none. Sets *in_guard if it is in the guard. */
uint32_t wf_vrank_stacks_find(const struct wf_vrank_stacks *stacks, const void *address,
                              bool *in_guard);

/* Whether a rank that stopped here has overflowed its stack. For stacks without guards. */
bool wf_vrank_stacks_overflowed(const struct wf_vrank_stacks *stacks, uint32_t i,
                                const void *stopped);

/* Returns the memory of a stack that is no longer used to the system. */
void wf_vrank_stacks_drop(const struct wf_vrank_stacks *stacks, uint32_t i);
