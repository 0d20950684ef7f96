/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Arrays that grow.
 *
 * WF_GROW(items, n, capacity) makes sure that `items` has an element number `n`. `items` is a
 * pointer, null at first; `capacity` is an lvalue of any integer type, 0 at first. Both change
 * when the array grows, by half or more, so that adding elements one by one takes linear time
 * altogether. New elements are not initialised; WF_GROW_ZERO() sets them to zero. The caller
 * releases the array with free().
 *
 *     WF_GROW(list->items, list->n, list->capacity);
 *     list->items[list->n++] = item;
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_GROW(items, n, capacity)      WF_GROW_(items, n, capacity, false)
#define WF_GROW_ZERO(items, n, capacity) WF_GROW_(items, n, capacity, true)

/* Adds an element: WF_PUSH(list->items, list->n, list->capacity, item). The value may refer to the
 * array, which has grown by then. */
#define WF_PUSH(items, n, capacity, ...) \
    do {                                 \
        WF_GROW(items, n, capacity);     \
        (items)[(n)] = __VA_ARGS__;      \
        (n)++;                           \
    } while (0)

#define WF_GROW_(items, n, capacity, zero)                                                    \
    do {                                                                                      \
        if ((uint64_t)(n) >= (uint64_t)(capacity)) {                                          \
            const size_t wf_more_ = wf_array_more((n), (capacity));                           \
            (items) = wf_array_grow((items), (capacity), wf_more_, sizeof(*(items)), (zero)); \
            (capacity) = (__typeof__(capacity))wf_more_;                                      \
            wf_array_check(wf_more_, (uint64_t)(capacity));                                   \
        }                                                                                     \
    } while (0)

/* The order of two numbers, for qsort() and bsearch(): -1, 0 or 1. Weights of 4, 2 and 1 order
 * by several members, of which the first that differs decides:
 *
 *     return 2 * WF_ORDER(x->rank, y->rank) + WF_ORDER(x->time, y->time);
 */
#define WF_ORDER(a, b) (((a) > (b) ? 1 : 0) - ((a) < (b) ? 1 : 0))

/* Sorts `n` elements; `items` may be null if there are none. */
#define WF_SORT(items, n, compare) wf_array_sort((items), (n), sizeof(*(items)), (compare))

/* Binary search among sorted elements. WF_BISECT() moves `low`, a variable, to the first index for
 * which `is_before`, an expression of the index `middle`, is false; to `high` if there is none:
 *
 *     uint32_t low = 0;
 *     WF_BISECT(low, list->n, middle, list->items[middle].key < key);
 *
 * WF_BISECT_LAST() moves `low` to the last index below `high` for which `is_within` is true, as it
 * must be for `low`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): `middle` is a name that the macro declares. */
#define WF_BISECT(low, high, middle, is_before)                         \
    do {                                                                \
        __typeof__(low) high_ = (high);                                 \
        while ((low) < high_) {                                         \
            const __typeof__(low) middle = (low) + (high_ - (low)) / 2; \
            if (is_before) {                                            \
                (low) = middle + 1;                                     \
            } else {                                                    \
                high_ = middle;                                         \
            }                                                           \
        }                                                               \
    } while (0)
#define WF_BISECT_LAST(low, high, middle, is_within) \
    do {                                             \
        __typeof__(low) next_ = (low) + 1;           \
        WF_BISECT(next_, high, middle, is_within);   \
        (low) = next_ - 1;                           \
    } while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

void wf_array_sort(void *items, size_t n, size_t size,
                   int (*compare)(const void *, const void *));

/* The parts of WF_GROW(): the next capacity, the longer array, and a check that the type of
 * the capacity can hold the number. */
size_t wf_array_more(uint64_t n, size_t capacity);
__attribute__((returns_nonnull)) void *wf_array_grow(void *items, size_t capacity, size_t more,
                                                     size_t size, bool zero);
void wf_array_check(size_t wanted, uint64_t capacity);
