/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/overlay_slots.h"

#include <stdlib.h>
#include <sys/mman.h>

static bool reserve(struct wf_vrank_slots *slots)
{
    void *base = MAP_FAILED;

    for (size_t size = (size_t)1 << 45; base == MAP_FAILED && size > slots->window; size /= 2) {
        base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        slots->size = size;
    }
    slots->base = base != MAP_FAILED ? base : NULL;
    slots->size = base != MAP_FAILED ? slots->size : 0;
    return base != MAP_FAILED;
}

static uint32_t log2_of(size_t bytes)
{
    enum { PAGE_BITS = 12 };
    uint32_t log2 = PAGE_BITS;

    while (log2 + 1 < WF_VRANK_SLOT_SIZES && (size_t)1 << log2 < bytes) {
        log2++;
    }
    return log2;
}

void *wf_vrank_slot_take(struct wf_vrank_slots *slots, size_t bytes)
{
    uint32_t log2 = log2_of(bytes);
    size_t size = (size_t)1 << log2, piece = size < slots->window ? size : slots->window;

    if (slots->free[log2].n > 0) {
        return slots->base + slots->free[log2].at[--slots->free[log2].n];
    }
    if (size < bytes || (slots->base == NULL && !reserve(slots))) {
        return NULL;
    }
    size_t skew = (uintptr_t)slots->base & (size - 1), at = slots->used + skew;
    at = (at + size - 1) / size * size - skew;
    if (at > slots->size || slots->size - at < size) {
        return NULL;
    }
    for (size_t i = 0; i < size; i += piece) {
        if (mmap(slots->base + at + i, piece, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, slots->fd, 0) == MAP_FAILED) {
            return NULL;
        }
    }
    WF_PUSH(slots->list, slots->n, slots->capacity, (struct wf_vrank_slot){at, size});
    slots->used = at + size;
    return slots->base + at;
}

size_t wf_vrank_slot_size(const struct wf_vrank_slots *slots, const void *place)
{
    size_t at = (size_t)((const unsigned char *)place - slots->base);
    uint32_t low = 0;

    WF_BISECT(low, slots->n, middle, slots->list[middle].at < at);
    return low < slots->n && slots->list[low].at == at ? slots->list[low].bytes : 0;
}

void wf_vrank_slot_free(struct wf_vrank_slots *slots, void *place)
{
    size_t size = wf_vrank_slot_size(slots, place);
    struct wf_vrank_free_slots *list = &slots->free[log2_of(size)];

    if (size > 0) { /* else the program frees what it never got */
        (void)madvise(place, size, MADV_DONTNEED);
        WF_PUSH(list->at, list->n, list->capacity,
                (size_t)((unsigned char *)place - slots->base));
    }
}

void wf_vrank_slots_free(struct wf_vrank_slots *slots)
{
    if (slots->base != NULL) {
        (void)munmap(slots->base, slots->size);
    }
    for (uint32_t i = 0; i < WF_VRANK_SLOT_SIZES; i++) {
        free(slots->free[i].at);
    }
    free(slots->list);
}
