/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/stacks.h"

#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
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

void wf_vrank_stacks_use(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    if (stacks->light) {
        (void)madvise(stacks->base + i * stacks->size, page_size(), MADV_GUARD_INSTALL);
    }
}

enum wf_status wf_vrank_stacks_init(struct wf_vrank_stacks *stacks, uint32_t n, size_t size,
                                    struct wf_err *err)
{
    size_t page = page_size();
    size_t each = (size + page - 1) / page * page + page;

    if (each < size || (n > 0 && SIZE_MAX / n < each)) {
        return wf_err_set(err, WF_EINVAL, "stacks of %zu bytes for %u ranks are too large",
                          size, n);
    }
    void *base = mmap(NULL, n * each, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) {
        return wf_err_set(err, WF_EINVAL,
                          "no address space for the stacks of %u ranks, %zu bytes each: %s; "
                          "choose smaller ones with --stack",
                          n, size, strerror(errno));
    }
    /* With huge pages the first touch would use 2 MiB. */
    (void)madvise(base, n * each, MADV_NOHUGEPAGE);
    *stacks = (struct wf_vrank_stacks){.base = base, .size = each, .n = n};
    stacks->guarded = install_guards(stacks);
    return WF_OK;
}

void wf_vrank_stacks_fini(struct wf_vrank_stacks *stacks)
{
    if (stacks->base != NULL) {
        (void)munmap(stacks->base, stacks->n * stacks->size);
        stacks->base = NULL;
    }
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

void wf_vrank_stacks_drop(const struct wf_vrank_stacks *stacks, uint32_t i)
{
    unsigned char *base = stacks->base + i * stacks->size;
    size_t page = page_size();

    (void)madvise(base + page, stacks->size - page, MADV_DONTNEED);
}
