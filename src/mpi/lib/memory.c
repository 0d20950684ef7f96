/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation. */
#include "mpi/lib/memory.h"

#include "mpi/lib/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIMIT = 5 }; /* docs/reference/exit-codes.md */

/* A rank crashes, which is reported with its place; before there are ranks the process just ends. */
static void *check(void *memory, size_t size)
{
    if (memory == NULL) {
        (void)fprintf(
            stderr, "weft: the MPI library has no memory for %zu more bytes; run fewer ranks\n",
            size);
        if (wl.port == NULL) {
            _exit(LIMIT);
        }
        abort();
    }
    return memory;
}

void *wl_malloc(size_t size)
{
    return check(malloc(size > 0 ? size : 1), size);
}

void *wl_calloc(size_t n, size_t size)
{
    return check(calloc(n > 0 ? n : 1, size), n * size);
}

void *wl_realloc(void *old, size_t n, size_t size)
{
    return check(reallocarray(old, n > 0 ? n : 1, size), n * size);
}
