/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/libc/spilled_memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Set before the program is loaded. malloc() has no argument that leads to it. */
static const struct wf_port_memory *spill;

void wl_spill(const struct wf_port_memory *given)
{
    spill = given;
}

static void *allocate(size_t bytes, size_t alignment, const void *caller)
{
    if (bytes >= spill->least && spill->wants(bytes, caller)) {
        void *place = spill->alloc(bytes, alignment, caller);
        errno = place == NULL ? ENOMEM : errno;
        return place;
    }
    return alignment > _Alignof(max_align_t) ? memalign(alignment, bytes) : malloc(bytes);
}

static void *spilled_malloc(size_t bytes)
{
    return allocate(bytes, 0, __builtin_return_address(0));
}

/* Blocks of the file read as zero; what shared ones have is undefined. */
static void *spilled_calloc(size_t n, size_t size)
{
    return size > 0 && n >= spill->least / size && n <= SIZE_MAX / size &&
                   spill->wants(n * size, __builtin_return_address(0))
               ? allocate(n * size, 0, __builtin_return_address(0))
               : calloc(n, size); /* NOLINT: the program's size, which may be 0 */
}

static void spilled_free(void *place)
{
    if (spill->holds(place)) {
        spill->free(place);
    } else {
        free(place);
    }
}

static size_t spilled_usable(void *place)
{
    return spill->holds(place) ? spill->usable(place) : malloc_usable_size(place);
}

static void *reallocate(void *old, size_t bytes, const void *caller)
{
    bool is_ours = old != NULL && spill->holds(old);

    if (!is_ours && (bytes < spill->least || !spill->wants(bytes, caller))) {
        return realloc(old, bytes); /* NOLINT: likewise */
    }
    if (old == NULL) {
        return allocate(bytes, 0, caller);
    }
    size_t before = spilled_usable(old);
    if (is_ours && bytes <= before && bytes > before / 2) {
        return old;
    }
    void *moved = bytes > 0 ? allocate(bytes, 0, caller) : NULL;
    if (moved != NULL) {
        memcpy(moved, old, before < bytes ? before : bytes);
    }
    if (moved != NULL || bytes == 0) {
        spilled_free(old);
    }
    return moved;
}

static void *spilled_realloc(void *old, size_t bytes)
{
    return reallocate(old, bytes, __builtin_return_address(0));
}

static void *spilled_reallocarray(void *old, size_t n, size_t size)
{
    if (size > 0 && n > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(old, n * size, __builtin_return_address(0));
}

static void *spilled_aligned_alloc(size_t alignment, size_t bytes)
{
    return allocate(bytes, alignment, __builtin_return_address(0));
}

static int spilled_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    if (bytes < spill->least || !spill->wants(bytes, __builtin_return_address(0)) ||
        alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return posix_memalign(out, alignment, bytes);
    }
    void *place = spill->alloc(bytes, alignment, __builtin_return_address(0));
    *out = place != NULL ? place : *out;
    return place != NULL ? 0 : ENOMEM;
}

const struct wl_replacement *wl_spill_replacement(const char *name)
{
    static const struct wl_replacement table[] = {
        {"malloc", (void (*)(void))spilled_malloc},
        {"calloc", (void (*)(void))spilled_calloc},
        {"realloc", (void (*)(void))spilled_realloc},
        {"reallocarray", (void (*)(void))spilled_reallocarray},
        {"free", (void (*)(void))spilled_free},
        {"cfree", (void (*)(void))spilled_free},
        {"aligned_alloc", (void (*)(void))spilled_aligned_alloc},
        {"memalign", (void (*)(void))spilled_aligned_alloc},
        {"posix_memalign", (void (*)(void))spilled_posix_memalign},
        {"malloc_usable_size", (void (*)(void))spilled_usable},
    };

    for (size_t i = 0; spill != NULL && i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}
