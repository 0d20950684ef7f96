/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that fails: loaded before the C library (LD_PRELOAD), allocation number RIGGED_AT of the process
 * finds no memory; with RIGGED_ON set, nor does any after it. At the end the number of allocations is
 * written to the file RIGGED_COUNT names, if it is set. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long count;
static long at = -1;
static bool goes_on;

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("RIGGED_AT");

    at = number != NULL ? strtol(number, NULL, 10) : -1;
    goes_on = getenv("RIGGED_ON") != NULL;
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("RIGGED_COUNT");
    int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;

    if (fd >= 0) {
        (void)dprintf(fd, "%ld\n", atomic_load(&count));
        (void)close(fd);
    }
}

static bool fails(void)
{
    long number = atomic_fetch_add(&count, 1);

    if (at < 0 || number < at || (number > at && !goes_on)) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *found = fails() ? NULL : __libc_memalign(alignment, size);

    if (found != NULL) {
        *out = found;
    }
    return found != NULL ? 0 : ENOMEM;
}
