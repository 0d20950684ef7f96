/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Memory of the library. None of these returns null: without memory the program ends with a
 * message. */

#include <stddef.h>

__attribute__((malloc, alloc_size(1), returns_nonnull)) void *wl_malloc(size_t size);
__attribute__((malloc, alloc_size(1, 2), returns_nonnull)) void *wl_calloc(size_t n,
                                                                           size_t size);
__attribute__((alloc_size(2, 3), returns_nonnull)) void *wl_realloc(void *old, size_t n,
                                                                    size_t size);

/* Makes room for element number n of an allocated array; `capacity` is how many it can hold. */
#define WL_GROW(items, n, capacity)                                            \
    do {                                                                       \
        if ((n) == (capacity)) {                                               \
            (capacity) = (capacity) == 0 ? 4 : 2 * (capacity);                 \
            (items) = wl_realloc(items, (size_t)(capacity), sizeof(*(items))); \
        }                                                                      \
    } while (0)
