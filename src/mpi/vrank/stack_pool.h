/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The numbers of stacks that are not in use. Each thread has a hand of warm ones, whose pages have
 * memory and are likely in its cache: threads that begin and end ranks all the time do not write to
 * the same cache lines. All functions may be called by any thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_vrank_stack_pool;

/* Of the numbers below n. */
struct wf_vrank_stack_pool *wf_vrank_stack_pool_new(uint32_t n);
void wf_vrank_stack_pool_free(struct wf_vrank_stack_pool *pool);

enum wf_vrank_stack_kind {
    WF_VRANK_STACK_NEW,    /* never used before */
    WF_VRANK_STACK_COLD,   /* without pages */
    WF_VRANK_STACK_OWN,    /* warm, given by this thread */
    WF_VRANK_STACK_FOREIGN /* warm, given by another */
};

/* At most n are taken at a time. */
uint32_t wf_vrank_stack_pool_take(struct wf_vrank_stack_pool *pool,
                                  enum wf_vrank_stack_kind *kind);
/* Gives one back that has pages. False if the hand is full: then its pages are better dropped. */
bool wf_vrank_stack_pool_give_warm(struct wf_vrank_stack_pool *pool, uint32_t number);
/* Gives one back that has no pages. */
void wf_vrank_stack_pool_give_cold(struct wf_vrank_stack_pool *pool, uint32_t number);
