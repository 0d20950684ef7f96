/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include "base/mem.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

size_t wf_array_more(uint64_t n, size_t capacity)
{
    size_t more = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : 2 * capacity;

    return more > n ? more : (size_t)n + n / 2 + 1;
}

void *wf_array_grow(void *items, size_t capacity, size_t more, size_t size, bool zero)
{
    unsigned char *grown = wf_xrealloc(items, more, size);

    if (zero) {
        memset(grown + capacity * size, 0, (more - capacity) * size);
    }
    return grown;
}

void wf_array_check(size_t wanted, uint64_t capacity)
{
    if (wanted != capacity) {
        wf_panic("an array of %zu elements is too long for the type of its capacity", wanted);
    }
}

void wf_array_sort(void *items, size_t n, size_t size,
                   int (*compare)(const void *, const void *))
{
    if (n > 1) { /* qsort() wants an array even if it has nothing to sort */
        qsort(items, n, size, compare);
    }
}
