/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Finds loops in the ops of one rank while they are written.
 *
 * A window holds the latest ops as items. An item is an op, or a loop: a count and a body of
 * items. When the last items of the window equal the items before them, or the body of a loop
 * before them, they become part of a loop. That loop is then the last item, so nested loops are
 * found from the inside. Only ops that are equal in every member become a loop.
 *
 * An item is the bytes from its `at` to the `at` of the next item. An op is its kind in a byte,
 * its values, and for each array 0, or its length + 1 and its elements, all as variable-length
 * numbers (base/varint.h). A loop is a head and the items of its body.
 */

#include "base/buf.h"
#include "program/trace/weft/encode.h"

enum {
    WF_NATIVE_FOLD_ITEMS_MAX = 4096,
    WF_NATIVE_FOLD_BYTES_MAX = 1 << 16,
    WF_NATIVE_FOLD_HEAD_BYTES =
        21 /* of a loop: that byte; count, ops of the body: 8 bytes each;
                               length of the body: 4 bytes */
};

struct wf_native_fold_item {
    uint64_t hash;
    uint64_t prefix; /* of all items before this one */
    uint64_t n_ops;
    uint32_t at;   /* in the bytes */
    uint8_t depth; /* 0: an op */
    /* Of loops. */
    uint32_t n_items; /* of the body */
    uint64_t body_hash;
    /* 1 + the place of the last loop before this item, and of the last item before it in the
     * same list of heads; 0 if there is none. */
    uint16_t loop_before, like_before;
};

struct wf_native_fold {
    struct wf_buf bytes;
    struct wf_native_fold_item *items;
    uint16_t *heads; /* by low bits of the hash: 1 + the last such item, or 0 */
    uint32_t n, capacity;
};

/* Powers for hashes of runs of items; the same for all ranks. */
struct wf_native_fold_powers {
    uint64_t powers[WF_NATIVE_FOLD_ITEMS_MAX + 1];
};
void wf_native_fold_powers_init(struct wf_native_fold_powers *powers);

void wf_native_fold_fini(struct wf_native_fold *fold);

/* Adds an op at the end, and makes or extends loops. Without powers it is only added to the bytes: the window
 * has no items then. */
void wf_native_fold_add(struct wf_native_fold *fold, const struct wf_native_fold_powers *powers,
                        enum wf_op_kind kind, const struct wf_op_parts *parts);

/* Whether the window is full: then drop items before adding the next op. */
bool wf_native_fold_is_full(const struct wf_native_fold *fold);

/* Forgets the first `n` items; all ops, if there are no items. */
void wf_native_fold_drop(struct wf_native_fold *fold, uint32_t n);

/* Where item i ends. */
uint32_t wf_native_fold_end(const struct wf_native_fold *fold, uint32_t i);

/* The memory of the window in bytes. */
size_t wf_native_fold_memory(const struct wf_native_fold *fold);
