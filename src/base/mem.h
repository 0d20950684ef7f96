/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Allocation for set-up code. Running out of memory ends the call of the library (base/guard.h), or
 * the program with a message, because no simulation can go on without memory. A size that comes from a file or a user must be checked
 * against a limit first, so that bad input is an error and does not exhaust the machine.
 *
 * Event handlers do not allocate, and capture/ never calls these functions. All blocks are
 * released with free().
 */

enum { WF_CACHE_LINE = 64 };

__attribute__((malloc, alloc_size(1), returns_nonnull)) void *wf_xmalloc(size_t size);
/* Zeroed; untouched pages of a large block cost no memory. */
__attribute__((malloc, alloc_size(1, 2), returns_nonnull)) void *wf_xcalloc(size_t count,
                                                                            size_t size);
/* Likewise, with huge pages if possible: for arrays with random access. */
__attribute__((malloc, alloc_size(1, 2), returns_nonnull)) void *wf_xcalloc_huge(size_t count,
                                                                                 size_t size);
__attribute__((alloc_size(2, 3), returns_nonnull)) void *wf_xrealloc(void *old, size_t count,
                                                                     size_t size);
/* Aligned to a cache line; not zeroed. Types with alignas() need this one or the next: the other
 * functions align to 16 bytes. */
__attribute__((malloc, alloc_size(1), returns_nonnull)) void *wf_xaligned(size_t size);
/* Not zeroed, aligned to a huge page and backed by huge pages if possible: for large slabs, in
 * which the system then clears and maps 512 pages at once. */
__attribute__((malloc, alloc_size(1), returns_nonnull)) void *wf_xaligned_huge(size_t size);
/* Aligned to a cache line, and zeroed. */
__attribute__((malloc, alloc_size(1), returns_nonnull)) void *wf_xaligned_zero(size_t size);
__attribute__((malloc, returns_nonnull)) char *wf_xstrdup(const char *text);

/* The same address without const: for free(), and for a struct whose pointers are also used for
 * writing. */
static inline void *wf_unconst(const void *p)
{
    union {
        const void *seen;
        void *plain;
    } both = {p};

    return both.plain;
}
