/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/stacks.h"

#include "mpi/vrank/spill.h"
#include "mpi/vrank/stack_pool.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
    stacks->unused = wf_vrank_stack_pool_new(n);
    return WF_OK;
}

void wf_vrank_stacks_fini(struct wf_vrank_stacks *stacks)
{
    if (stacks->base != NULL && !stacks->spilled) {
        (void)munmap(stacks->base, stacks->n * stacks->size);
    }
    stacks->base = NULL;
    wf_vrank_stack_pool_free(stacks->unused);
    stacks->unused = NULL;
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

/* The stack that this thread has cleared last, and which of its pages have memory. As long as the
 * thread has no page fault, these are all that it can have written to. */
enum { KEPT = 4 };
static _Thread_local struct {
    const struct wf_vrank_stacks *stacks; /* null: nothing is known */
    uint32_t number;
    long faults;
    uint32_t n_kept;
    unsigned char *kept[KEPT];
} cleared;

static long faults(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : -1;
}

uint32_t wf_vrank_stacks_take(struct wf_vrank_stacks *stacks)
{
    enum wf_vrank_stack_kind kind;
    uint32_t i = wf_vrank_stack_pool_take(stacks->unused, &kind);

    if (kind == WF_VRANK_STACK_FOREIGN) {
        cleared.stacks = NULL; /* another thread may have given it pages */
    } else if (kind == WF_VRANK_STACK_NEW && stacks->light) {
        (void)madvise(stacks->base + i * stacks->size, page_size(), MADV_GUARD_INSTALL);
    }
    return i;
}

/* Finds the pages that have memory, up to KEPT + 1 of them. */
static void find_pages(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    enum { AT_ONCE = 512 };
    unsigned char residency[AT_ONCE];
    size_t page = page_size(), first = stacks->size / page - 1;
    unsigned char *base = stacks->base + i * stacks->size + page;

    cleared.n_kept = 0;
    while (first > 0 && cleared.n_kept <= KEPT) {
        size_t part = first < AT_ONCE ? first : AT_ONCE;
        first -= part;
        if (mincore(base + first * page, part * page, residency) != 0) {
            cleared.n_kept = KEPT + 1;
        }
        for (size_t k = part; k > 0 && cleared.n_kept <= KEPT; k--) {
            if ((residency[k - 1] & 1) != 0 && cleared.n_kept++ < KEPT) {
                cleared.kept[cleared.n_kept - 1] = base + (first + k - 1) * page;
            }
        }
    }
}

static void drop_pages(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    size_t page = page_size();

    (void)madvise(stacks->base + i * stacks->size + page, stacks->size - page,
                  stacks->spilled ? MADV_REMOVE : MADV_DONTNEED);
}

/* Makes the memory read as zero. Pages are kept if there are only a few: that is cheaper than
 * returning them to the system, which interrupts all threads of the process, and getting others.
 * Returns whether they are kept. Of memory in a file the system does not tell what was written. */
static bool clear(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    long now = stacks->spilled ? -1 : faults();

    if (now < 0 || cleared.stacks != stacks || cleared.number != i || cleared.faults != now) {
        cleared.stacks = NULL;
        if (now >= 0) {
            find_pages(stacks, i);
        }
        if (now < 0 || cleared.n_kept > KEPT) {
            drop_pages(stacks, i);
            return false;
        }
        cleared.stacks = stacks;
        cleared.number = i;
        cleared.faults = now;
    }
    for (uint32_t k = 0; k < cleared.n_kept; k++) {
        memset(cleared.kept[k], 0, page_size());
    }
    return true;
}

void wf_vrank_stacks_give(struct wf_vrank_stacks *stacks, uint32_t i)
{
    bool warm = clear(stacks, i);

    if (warm && wf_vrank_stack_pool_give_warm(stacks->unused, i)) {
        return;
    }
    if (warm) {
        drop_pages(stacks, i);
        cleared.stacks = NULL;
    }
    wf_vrank_stack_pool_give_cold(stacks->unused, i);
}
