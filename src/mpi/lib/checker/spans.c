/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/checker/spans.h"

static bool is_before(const struct wl_span *one, const struct wl_span *other)
{
    return one->begin != other->begin ? one->begin < other->begin : one < other;
}

static void update(struct wl_span *span)
{
    span->highest_end = span->end;
    if (span->left != NULL && span->left->highest_end > span->highest_end) {
        span->highest_end = span->left->highest_end;
    }
    if (span->right != NULL && span->right->highest_end > span->highest_end) {
        span->highest_end = span->right->highest_end;
    }
}

/* Splits a tree into what is before the span and what is not. */
static void split(struct wl_span *root, const struct wl_span *at, struct wl_span **before,
                  struct wl_span **after) /* NOLINT(misc-no-recursion) */
{
    if (root == NULL) {
        *before = *after = NULL;
    } else if (is_before(root, at)) {
        split(root->right, at, &root->right, after);
        *before = root;
        update(root);
    } else {
        split(root->left, at, before, &root->left);
        *after = root;
        update(root);
    }
}

static struct wl_span *merge(struct wl_span *one,
                             struct wl_span *other) /* NOLINT(misc-no-recursion) */
{
    if (one == NULL || other == NULL) {
        return one != NULL ? one : other;
    }
    if (one->priority > other->priority) {
        one->right = merge(one->right, other);
        update(one);
        return one;
    }
    other->left = merge(one, other->left);
    update(other);
    return other;
}

/* Goes down to where the priority of the span is the highest, and splits only what is below. */
static struct wl_span *with(struct wl_span *root,
                            struct wl_span *span) /* NOLINT(misc-no-recursion) */
{
    if (root == NULL || span->priority > root->priority) {
        split(root, span, &span->left, &span->right);
        update(span);
        return span;
    }
    if (is_before(span, root)) {
        root->left = with(root->left, span);
    } else {
        root->right = with(root->right, span);
    }
    if (span->end > root->highest_end) {
        root->highest_end = span->end;
    }
    return root;
}

struct wl_span *wl_spans_with(struct wl_span *root, struct wl_span *span, uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407U;
    span->priority = *random;
    return with(root, span);
}

struct wl_span *wl_spans_without(struct wl_span *root,
                                 const struct wl_span *span) /* NOLINT(misc-no-recursion) */
{
    if (root == span) {
        return merge(root->left, root->right);
    }
    if (is_before(span, root)) {
        root->left = wl_spans_without(root->left, span);
    } else {
        root->right = wl_spans_without(root->right, span);
    }
    update(root);
    return root;
}

struct wl_span wl_span_of(const struct wl_rank *rank, const struct wl_buffer_use *what)
{
    const struct wl_type *type = what->type;
    uintptr_t begin = (uintptr_t)what->buffer + (uintptr_t)type->true_lb;
    MPI_Aint last = what->count > 0 ? (MPI_Aint)(what->count - 1) * type->extent : 0;

    if (last < 0) { /* elements go downwards */
        begin += (uintptr_t)last;
        last = -last;
    }
    return (struct wl_span){.begin = begin,
                            .end = begin + (uintptr_t)(last + type->true_extent),
                            .what = *what,
                            .caller = wl_caller_of(rank)};
}
