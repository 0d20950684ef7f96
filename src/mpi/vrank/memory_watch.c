/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/memory_watch.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reading takes as long as some hundreds of switches between ranks, so it is done rarely. */
enum { STEPS_PER_READ = 1 << 16, PARTS = 32 };

/* Returns false if the system does not report its memory. */
static bool read_memory(struct wf_vrank_memory *memory)
{
    static const char label[] = "MemAvailable:";
    char text[1024];
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    if (fd >= 0) {
        (void)close(fd);
    }
    if (n <= 0) {
        return false;
    }
    text[n] = '\0';
    const char *at = strstr(text, label);
    struct wf_memory_limit limit;
    memory->all = wf_clock_memory();
    memory->left = at != NULL ? strtoull(at + sizeof(label) - 1, NULL, 10) * 1024 : 0;
    if (wf_clock_memory_limit("", &limit)) {
        uint64_t left = limit.used < limit.bytes ? limit.bytes - limit.used : 0;
        memory->left = left < memory->left ? left : memory->left;
    }
    return at != NULL && memory->all > 0;
}

bool wf_vrank_memory_short(uint32_t steps, struct wf_vrank_memory *memory)
{
    static _Thread_local uint32_t counted;

    counted += steps;
    if (counted < STEPS_PER_READ) {
        return false;
    }
    counted = 0;
    return read_memory(memory) && memory->left < memory->all / PARTS;
}
