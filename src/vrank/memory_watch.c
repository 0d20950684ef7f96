/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/memory_watch.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A look takes as long as some hundreds of switches between ranks. */
enum { STEPS_PER_LOOK = 1 << 16, PARTS = 32 };

bool wf_vrank_memory_read(struct wf_vrank_memory *room)
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
    room->all = wf_clock_memory();
    room->left = at != NULL ? strtoull(at + sizeof(label) - 1, NULL, 10) * 1024 : 0;
    return at != NULL && room->all > 0;
}

bool wf_vrank_memory_short(uint32_t steps, struct wf_vrank_memory *room)
{
    static _Thread_local uint32_t counted;

    counted += steps;
    if (counted < STEPS_PER_LOOK) {
        return false;
    }
    counted = 0;
    return wf_vrank_memory_read(room) && room->left < room->all / PARTS;
}
