/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_MEMORY_H
#define WF_MPILIB_MEMORY_H

/* Memory of the library; a program that asks for more than there is ends here, with a word. */

#include <stddef.h>

__attribute__((malloc, alloc_size(1), returns_nonnull)) void *wl_malloc(size_t size);
__attribute__((malloc, alloc_size(1, 2), returns_nonnull)) void *wl_calloc(size_t n,
                                                                           size_t size);
__attribute__((alloc_size(2, 3), returns_nonnull)) void *wl_realloc(void *old, size_t n,
                                                                    size_t size);

#endif
