/* SPDX-License-Identifier: Apache-2.0 */
/* The processors that a program finds: libraries create a thread for each of them. */
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/library.h"

#include <errno.h>
#include <string.h>

static int processors(void)
{
    uint32_t cores = wl.port != NULL ? wl.port->cores : 0;

    return cores > 0 ? (int)cores : 1;
}

int wl_libc_get_nprocs(void)
{
    return processors();
}

int wl_libc_get_nprocs_conf(void)
{
    return processors();
}

long wl_libc_sysconf(int name)
{
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? processors()
                                                                        : sysconf(name);
}

int wl_libc_sched_getaffinity(pid_t process, size_t bytes, void *set)
{
    enum { BITS = 8 };
    unsigned char *bits = set;
    size_t n = (size_t)processors();

    (void)process;
    if (n > bytes * BITS) {
        errno = EINVAL;
        return -1;
    }
    memset(bits, 0, bytes);
    for (size_t i = 0; i < n; i++) {
        bits[i / BITS] |= (unsigned char)(1U << i % BITS);
    }
    return 0;
}
