/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include "base/guard.h"
#include "base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_MIN = 4 << 20, HUGE_PAGE = 2 << 20 };

static WF_NORETURN void out_of_memory(size_t size)
{
    if (size == SIZE_MAX) {
        wf_give_up(WF_ELIMIT, "out of memory");
    }
    wf_give_up(WF_ELIMIT, "out of memory allocating %zu bytes", size);
}

static void *checked(void *p, size_t size)
{
    if (p == NULL) {
        out_of_memory(size);
    }
    wf_guard_block(p);
    return p;
}

void *wf_xmalloc(size_t size)
{
    return checked(malloc(size == 0 ? 1 : size), size);
}

void *wf_xcalloc(size_t count, size_t size)
{
    size_t n = count == 0 || size == 0 ? 1 : count;

    return checked(calloc(n, size == 0 ? 1 : size), count * size);
}

void *wf_xcalloc_huge(size_t count, size_t size)
{
    unsigned char *p = wf_xcalloc(count, size);
    size_t page = 4096, ahead = (page - (uintptr_t)p % page) % page;

    /* A block this large has pages of its own. A failure is ignored: this is advice. */
    if (count * size >= HUGE_MIN) {
        (void)madvise(p + ahead, (count * size - ahead) / page * page, MADV_HUGEPAGE);
    }
    return p;
}

void *wf_xrealloc(void *old, size_t count, size_t size)
{
    uintptr_t before = (uintptr_t)old;

    if (size != 0 && count > SIZE_MAX / size) {
        out_of_memory(SIZE_MAX);
    }
    void *p = realloc(old, count * size == 0 ? 1 : count * size);
    if (p == NULL) {
        out_of_memory(count * size);
    }
    wf_guard_moved(before, p);
    return p;
}

void *wf_xaligned(size_t size)
{
    size_t rounded = (size + WF_CACHE_LINE - 1) / WF_CACHE_LINE * WF_CACHE_LINE;

    return checked(aligned_alloc(WF_CACHE_LINE, rounded == 0 ? WF_CACHE_LINE : rounded), size);
}

void *wf_xaligned_huge(size_t size)
{
    void *p = NULL;

    if (posix_memalign(&p, HUGE_PAGE, size) != 0) {
        return wf_xaligned(size);
    }
    (void)madvise(p, size, MADV_HUGEPAGE); /* advice: a failure is ignored */
    return checked(p, size);
}

void *wf_xaligned_zero(size_t size)
{
    return memset(wf_xaligned(size), 0, size);
}

char *wf_xstrdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = wf_xmalloc(size);

    memcpy(copy, text, size);
    return copy;
}
