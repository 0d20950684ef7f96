/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/fold.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* How many earlier equal items are compared with each new item. The period of a program is
 * mostly among the nearest, and a program without a period must not take quadratic time. */
enum { CANDIDATES_MAX = 64 };

enum { HEADS = 512 };

#define BASE UINT64_C(0x9ddfea08eb382d69)

void wf_native_fold_powers_init(struct wf_native_fold_powers *powers)
{
    powers->powers[0] = 1;
    for (uint32_t i = 1; i <= WF_NATIVE_FOLD_ITEMS_MAX; i++) {
        powers->powers[i] = powers->powers[i - 1] * BASE;
    }
}

void wf_native_fold_fini(struct wf_native_fold *fold)
{
    wf_buf_fini(&fold->bytes);
    free(fold->items);
    free(fold->heads);
    *fold = (struct wf_native_fold){.items = NULL};
}

uint32_t wf_native_fold_end(const struct wf_native_fold *fold, uint32_t i)
{
    return i + 1 < fold->n ? fold->items[i + 1].at : (uint32_t)fold->bytes.size;
}

size_t wf_native_fold_memory(const struct wf_native_fold *fold)
{
    return fold->bytes.capacity + fold->capacity * sizeof(*fold->items) +
           (fold->heads != NULL ? HEADS * sizeof(*fold->heads) : 0);
}

bool wf_native_fold_is_full(const struct wf_native_fold *fold)
{
    return fold->n >= WF_NATIVE_FOLD_ITEMS_MAX || fold->bytes.size >= WF_NATIVE_FOLD_BYTES_MAX;
}

static uint64_t prefix_after(const struct wf_native_fold_item *item)
{
    return item->prefix * BASE + item->hash;
}

/* Returns the hash of the items i to j - 1. */
static uint64_t run_hash(const struct wf_native_fold *fold,
                         const struct wf_native_fold_powers *powers, uint32_t i, uint32_t j)
{
    uint64_t end = j < fold->n ? fold->items[j].prefix : prefix_after(&fold->items[j - 1]);

    return end - fold->items[i].prefix * powers->powers[j - i];
}

/* ---- items ---- */

/* Adds the last item to the list of earlier items with the same hash. */
static void list_last(struct wf_native_fold *fold)
{
    struct wf_native_fold_item *item = &fold->items[fold->n - 1];
    uint16_t *head = &fold->heads[item->hash % HEADS];

    item->like_before = *head;
    *head = (uint16_t)fold->n;
}

static void unlist_last(struct wf_native_fold *fold)
{
    const struct wf_native_fold_item *item = &fold->items[fold->n - 1];

    fold->heads[item->hash % HEADS] = item->like_before;
}

/* Sets the members of the last item that depend on earlier items. */
static void link_last(struct wf_native_fold *fold)
{
    struct wf_native_fold_item *item = &fold->items[fold->n - 1];
    const struct wf_native_fold_item *before = fold->n == 1 ? NULL : item - 1;

    item->prefix = before == NULL ? 0 : prefix_after(before);
    item->loop_before = before == NULL      ? 0
                        : before->depth > 0 ? (uint16_t)(fold->n - 1)
                                            : before->loop_before;
    list_last(fold);
}

static void append(struct wf_native_fold *fold, struct wf_native_fold_item item)
{
    if (fold->n == fold->capacity) {
        fold->capacity = fold->capacity < 16 ? 16 : fold->capacity * 2;
        fold->items = wf_xrealloc(fold->items, fold->capacity, sizeof(*fold->items));
    }
    if (fold->heads == NULL) {
        fold->heads = wf_xcalloc(HEADS, sizeof(*fold->heads));
    }
    fold->items[fold->n++] = item;
    link_last(fold);
}

/* Removes all items but the first `n`. */
static void cut_to(struct wf_native_fold *fold, uint32_t n)
{
    while (fold->n > n) {
        unlist_last(fold);
        fold->n--;
    }
}

static void append_op(struct wf_buf *bytes, enum wf_op_kind kind,
                      const struct wf_op_parts *parts)
{
    const struct wf_op_layout *layout = parts->layout;
    size_t n = 1 + layout->n_fields;

    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        n += 1 + (size_t)parts->lengths[i];
    }
    unsigned char *at = wf_buf_extend(bytes, n * WF_VARINT_MAX);
    *at++ = (unsigned char)kind;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        at = wf_varint_write(at, parts->values[i]);
    }
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        at = parts->arrays[i] != NULL ? wf_native_encode_array(parts, i, at)
                                      : wf_varint_write(at, 0);
    }
    bytes->size = (size_t)(at - bytes->data);
}

/* ---- loops ---- */

static uint64_t loop_hash(uint64_t body_hash, uint64_t count)
{
    return wf_rng_mix(body_hash + count * WF_RNG_GOLDEN + 1);
}

/* Sets the number of rounds of the last item, which is a loop. */
static void write_count(struct wf_native_fold *fold, uint64_t count)
{
    struct wf_native_fold_item *loop = &fold->items[fold->n - 1];

    (void)wf_fixed_write(fold->bytes.data + loop->at + 1, count, 8);
    unlist_last(fold);
    loop->hash = loop_hash(loop->body_hash, count);
    list_last(fold);
}

static uint64_t read_count(const struct wf_native_fold *fold, uint32_t i)
{
    const unsigned char *at = fold->bytes.data + fold->items[i].at + 1;

    return wf_fixed_read(&at, 8);
}

/* If the items after loop i repeat its body, removes them and adds a round to the loop. */
static bool extend_loop(struct wf_native_fold *fold, const struct wf_native_fold_powers *powers,
                        uint32_t i)
{
    struct wf_native_fold_item *loop = &fold->items[i];
    uint32_t tail = i + 1;

    if (run_hash(fold, powers, tail, fold->n) != loop->body_hash) {
        return false;
    }

    uint32_t begin = fold->items[tail].at;
    uint32_t body = loop->at + WF_NATIVE_FOLD_HEAD_BYTES;
    size_t length = fold->bytes.size - begin;
    if (length != begin - body ||
        memcmp(fold->bytes.data + begin, fold->bytes.data + body, length) != 0) {
        return false;
    }
    uint64_t count = read_count(fold, i);
    loop->n_ops += loop->n_ops / count;
    fold->bytes.size = begin;
    cut_to(fold, tail);
    write_count(fold, count + 1);
    return true;
}

/* Looks at the nearest loops only: no other loop is followed by as few items as its body. */
static bool extend_some_loop(struct wf_native_fold *fold,
                             const struct wf_native_fold_powers *powers)
{
    uint32_t next = fold->items[fold->n - 1].loop_before;

    for (uint32_t looked_at = 0; next > 0 && looked_at < CANDIDATES_MAX; looked_at++) {
        uint32_t i = next - 1;
        if (fold->items[i].n_items == fold->n - next && extend_loop(fold, powers, i)) {
            return true;
        }
        next = fold->items[i].loop_before;
    }
    return false;
}

/* Replaces the last 2 * p items, which are the same p items twice, by a loop. */
static void make_loop(struct wf_native_fold *fold, const struct wf_native_fold_powers *powers,
                      uint32_t p)
{
    uint32_t first = fold->n - 2 * p;
    uint32_t begin = fold->items[first].at;
    uint32_t length = fold->items[first + p].at - begin;
    struct wf_native_fold_item loop = {.at = begin, .n_items = p};

    loop.body_hash = run_hash(fold, powers, first, first + p);
    for (uint32_t i = first; i < first + p; i++) {
        loop.n_ops += fold->items[i].n_ops;
        loop.depth = fold->items[i].depth > loop.depth ? fold->items[i].depth : loop.depth;
    }
    loop.depth++;

    /* Drops the second copy, and moves the first to make space for the head of the loop. */
    fold->bytes.size = (size_t)begin + length;
    (void)wf_buf_extend(&fold->bytes, WF_NATIVE_FOLD_HEAD_BYTES);
    unsigned char *at = fold->bytes.data + begin;
    memmove(at + WF_NATIVE_FOLD_HEAD_BYTES, at, length);
    *at++ = WF_NATIVE_LOOP;
    at = wf_fixed_write(at, 2, 8);
    at = wf_fixed_write(at, loop.n_ops, 8);
    (void)wf_fixed_write(at, length, 4);

    loop.n_ops *= 2;
    loop.hash = loop_hash(loop.body_hash, 2);
    cut_to(fold, first);
    append(fold, loop);
}

static bool are_twice(const struct wf_native_fold *fold,
                      const struct wf_native_fold_powers *powers, uint32_t p)
{
    uint32_t n = fold->n;

    if (run_hash(fold, powers, n - 2 * p, n - p) != run_hash(fold, powers, n - p, n)) {
        return false;
    }
    uint32_t a = fold->items[n - 2 * p].at, b = fold->items[n - p].at;
    for (uint32_t i = n - p; i < n; i++) {
        if (fold->items[i].depth >= WF_NATIVE_LOOPS_MAX) {
            return false;
        }
    }
    return fold->bytes.size - b == b - a &&
           memcmp(fold->bytes.data + a, fold->bytes.data + b, b - a) == 0;
}

static bool make_some_loop(struct wf_native_fold *fold,
                           const struct wf_native_fold_powers *powers)
{
    const struct wf_native_fold_item *last = &fold->items[fold->n - 1];
    uint32_t at = last->like_before;

    for (uint32_t looked_at = 0; at > 0 && looked_at < CANDIDATES_MAX; looked_at++) {
        const struct wf_native_fold_item *item = &fold->items[at - 1];
        uint32_t p = fold->n - at;
        if (2 * p > fold->n) {
            break;
        }
        if (item->hash == last->hash && are_twice(fold, powers, p)) {
            make_loop(fold, powers, p);
            return true;
        }
        at = item->like_before;
    }
    return false;
}

void wf_native_fold_add(struct wf_native_fold *fold, const struct wf_native_fold_powers *powers,
                        enum wf_op_kind kind, const struct wf_op_parts *parts)
{
    struct wf_native_fold_item item = {.n_ops = 1, .at = (uint32_t)fold->bytes.size};

    append_op(&fold->bytes, kind, parts);
    if (powers == NULL) {
        return;
    }
    item.hash = XXH3_64bits(fold->bytes.data + item.at, fold->bytes.size - item.at);
    append(fold, item);
    while (fold->n > 1 && (extend_some_loop(fold, powers) || make_some_loop(fold, powers))) {
    }
}

void wf_native_fold_drop(struct wf_native_fold *fold, uint32_t n)
{
    uint32_t begin = n < fold->n ? fold->items[n].at : (uint32_t)fold->bytes.size;
    uint32_t left = fold->n - n;

    if (fold->items == NULL) {
        fold->bytes.size = 0;
    }
    if (n == 0) {
        return;
    }
    memmove(fold->bytes.data, fold->bytes.data + begin, fold->bytes.size - begin);
    fold->bytes.size -= begin;
    if (left > 0) {
        memmove(fold->items, fold->items + n, (size_t)left * sizeof(*fold->items));
    }
    memset(fold->heads, 0, HEADS * sizeof(*fold->heads));
    for (fold->n = 1; fold->n <= left; fold->n++) {
        fold->items[fold->n - 1].at -= begin;
        link_last(fold);
    }
    fold->n = left;
}
