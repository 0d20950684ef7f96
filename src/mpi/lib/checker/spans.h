/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Ranges of memory in a treap by their first byte, in which each node also has the highest end of
 * its subtree: finding a range that overlaps another one takes a number of steps that grows with the
 * logarithm of their number. A tree is a pointer to its root, null if it is empty; the spans belong
 * to the caller.
 */

#include "mpi/lib/checker/checker.h"

struct wl_span {
    struct wl_span *left, *right;
    uint64_t priority;
    uintptr_t begin, end;
    uintptr_t highest_end; /* of its subtree */
    struct wl_buffer_use what;
    struct wl_caller caller;
};

/* The tree with the span; its priority is drawn from *random. */
struct wl_span *wl_spans_with(struct wl_span *root, struct wl_span *span, uint64_t *random);
struct wl_span *wl_spans_without(struct wl_span *root, const struct wl_span *span);

/* The memory of a buffer, from its first byte in use to its last. */
struct wl_span wl_span_of(const struct wl_rank *rank, const struct wl_buffer_use *what);
static inline bool wl_use_is_empty(const struct wl_buffer_use *what)
{
    return what->count == 0 || what->type == NULL || what->type->size == 0;
}
