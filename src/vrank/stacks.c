/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/stacks.h"

#include "base/mem.h"
#include "vrank/spill.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13: guards that are no mappings */
#endif

enum {
    /* mprotect() splits a mapping in two, and a process may have 65,530 mappings. */
    GUARDS_BY_PROTECTION = 16384,
    STAGGER_LINES = 61,
    LINE = 64,
};

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Installs guards; returns whether the stacks have them. Light guards are installed when a
 * stack is first used: they are not mappings, but need page tables. */
static bool install_guards(struct wf_vrank_stacks *stacks)
{
    size_t page = page_size();

    stacks->light = madvise(stacks->base, page, MADV_GUARD_INSTALL) == 0;
    if (!stacks->light && stacks->n > GUARDS_BY_PROTECTION) {
        return false;
    }
    for (uint32_t i = 0; i < stacks->n && !stacks->light; i++) {
        if (mprotect(stacks->base + i * stacks->size, page, PROT_NONE) != 0) {
            return false;
        }
    }
    return true;
}

enum wf_status wf_vrank_stacks_init(struct wf_vrank_stacks *stacks, uint32_t n, size_t size,
                                    struct wf_vrank_spill *spill, struct wf_err *err)
{
    size_t page = page_size();
    size_t each = (size + page - 1) / page * page + page;

    if (each < size || (n > 0 && SIZE_MAX / n < each)) {
        return wf_err_set(err, WF_EINVAL, "stacks of %zu bytes for %u ranks are too large",
                          size, n);
    }
    void *base = spill != NULL
                     ? wf_vrank_spill_room(spill, n * each)
                     : mmap(NULL, n * each, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED || base == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "no address space for the stacks of %u ranks, %zu bytes each: %s; "
                          "choose smaller ones with --stack",
                          n, size, strerror(errno));
    }
    /* With huge pages the first touch would use 2 MiB. */
    (void)madvise(base, n * each, MADV_NOHUGEPAGE);
    *stacks =
        (struct wf_vrank_stacks){.base = base, .size = each, .n = n, .spilled = spill != NULL};
    stacks->guarded = install_guards(stacks);
    return WF_OK;
}

void wf_vrank_stacks_fini(struct wf_vrank_stacks *stacks)
{
    if (stacks->base != NULL && !stacks->spilled) {
        (void)munmap(stacks->base, stacks->n * stacks->size);
    }
    stacks->base = NULL;
    free(stacks->cold);
    stacks->cold = NULL;
}

static size_t stagger(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    size_t most = stacks->size / 8 / LINE;

    return i % (most < STAGGER_LINES ? most + 1 : STAGGER_LINES) * LINE;
}

void *wf_vrank_stacks_top(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    return stacks->base + (i + (size_t)1) * stacks->size - stagger(stacks, i);
}

size_t wf_vrank_stacks_size(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    return stacks->size - page_size() - stagger(stacks, i);
}

uint32_t wf_vrank_stacks_find(const struct wf_vrank_stacks *stacks, const void *address,
                              bool *in_guard)
{
    uintptr_t base = (uintptr_t)stacks->base, at = (uintptr_t)address;

    if (at < base || (at - base) / stacks->size >= stacks->n) {
        return stacks->n;
    }
    *in_guard = (at - base) % stacks->size < page_size();
    return (uint32_t)((at - base) / stacks->size);
}

bool wf_vrank_stacks_overflowed(const struct wf_vrank_stacks *stacks, uint32_t i,
                                const void *stopped)
{
    const unsigned char *base = stacks->base + i * stacks->size;

    return (const unsigned char *)stopped < base + page_size();
}

/* ---- taking and giving back ---- */

static void lock(struct wf_vrank_stacks *stacks)
{
    while (atomic_flag_test_and_set_explicit(&stacks->busy, memory_order_acquire)) {
        (void)sched_yield();
    }
}

static void unlock(struct wf_vrank_stacks *stacks)
{
    atomic_flag_clear_explicit(&stacks->busy, memory_order_release);
}

uint32_t wf_vrank_stacks_take(struct wf_vrank_stacks *stacks)
{
    bool is_new = false;
    uint32_t i;

    lock(stacks);
    if (stacks->n_warm > 0) {
        i = stacks->warm[--stacks->n_warm];
    } else if (stacks->n_cold > 0) {
        i = stacks->cold[--stacks->n_cold];
    } else {
        i = stacks->n_begun++;
        is_new = true;
    }
    unlock(stacks);
    assert(i < stacks->n);
    if (is_new && stacks->light) {
        (void)madvise(stacks->base + i * stacks->size, page_size(), MADV_GUARD_INSTALL);
    }
    return i;
}

/* Makes the memory read as zero. Pages are kept if there are only a few: that is cheaper than
 * returning them to the system, which interrupts all threads of the process, and getting others.
 * Returns whether any are kept. */
static bool clear(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    enum { KEPT = 4, AT_ONCE = 512 };
    unsigned char residency[AT_ONCE];
    size_t page = page_size(), n = stacks->size / page - 1, first = n, n_kept = 0;
    unsigned char *base = stacks->base + i * stacks->size + page;

    if (stacks->spilled) { /* pages on the disk do not count as resident */
        (void)madvise(base, n * page, MADV_REMOVE);
        return false;
    }
    while (first > 0 && n_kept <= KEPT) {
        size_t part = first < AT_ONCE ? first : AT_ONCE;
        first -= part;
        if (mincore(base + first * page, part * page, residency) != 0) {
            n_kept = KEPT + 1;
        }
        for (size_t k = part; k > 0 && n_kept <= KEPT; k--) {
            if (residency[k - 1] & 1) {
                n_kept++;
                memset(base + (first + k - 1) * page, 0, page);
            }
        }
    }
    if (n_kept > KEPT) {
        (void)madvise(base, n * page, MADV_DONTNEED);
    }
    return n_kept <= KEPT;
}

void wf_vrank_stacks_give(struct wf_vrank_stacks *stacks, uint32_t i)
{
    bool warm = clear(stacks, i);

    lock(stacks);
    if (warm && stacks->n_warm < WF_VRANK_STACKS_WARM) {
        stacks->warm[stacks->n_warm++] = i;
        unlock(stacks);
        return;
    }
    unlock(stacks);
    if (warm) {
        (void)madvise(stacks->base + i * stacks->size + page_size(), stacks->size - page_size(),
                      MADV_DONTNEED);
    }
    lock(stacks);
    if (stacks->n_cold == stacks->max_cold) {
        stacks->max_cold = stacks->max_cold > 0 ? 2 * stacks->max_cold : 64;
        stacks->cold = wf_xrealloc(stacks->cold, stacks->max_cold, sizeof(uint32_t));
    }
    stacks->cold[stacks->n_cold++] = i;
    unlock(stacks);
}
