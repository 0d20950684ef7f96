/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The stacks of ranks, all of one size, in one range of address space. A rank uses memory for
 * the pages it touches. If the system allows, there is a guard page below each stack, so that
 * an overflow is noticed at once. A rank that begins gets the stack of one that has ended, if
 * there is one: ranks that end without waiting for others share a few stacks.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_vrank_stack_pool;

struct wf_vrank_stacks {
    unsigned char *base;
    size_t size; /* of each, the guard included */
    uint32_t n;
    bool guarded;
    bool spilled;                       /* the memory is in a file */
    bool light;                         /* guards are installed by wf_vrank_stacks_take() */
    struct wf_vrank_stack_pool *unused; /* their memory reads as zero */
};

struct wf_vrank_spill;

/* In a file if `spill` is not null. WF_EINVAL if there is not enough address space. */
enum wf_status wf_vrank_stacks_init(struct wf_vrank_stacks *stacks, uint32_t n, size_t size,
                                    struct wf_vrank_spill *spill, struct wf_err *err);
void wf_vrank_stacks_fini(struct wf_vrank_stacks *stacks);

/* A stack that is not in use; at most n are in use at a time. Its memory reads as zero, as that of
 * a new thread: what a program finds there must not depend on which rank had it. By any thread. */
uint32_t wf_vrank_stacks_take(struct wf_vrank_stacks *stacks);
/* The stack is not used any longer. By any thread. */
void wf_vrank_stacks_give(struct wf_vrank_stacks *stacks, uint32_t i);

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
