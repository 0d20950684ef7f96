/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PATH_TEXT_MAX = 4096 };

static double seconds(clockid_t clock)
{
    struct timespec ts;

    (void)clock_gettime(clock, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

double wf_clock_wall(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double wf_clock_cpu(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t wf_clock_coarse_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The peak memory of this program in KiB, 0 if the system does not report it. */
static uint64_t own_peak_kib(void)
{
    static const char label[] = "VmHWM:";
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && kib == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, label, sizeof(label) - 1) == 0) {
            kib = strtoull(line + sizeof(label) - 1, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kib;
}

uint64_t wf_clock_peak_rss(void)
{
    struct rusage usage;
    uint64_t kib = own_peak_kib();

    if (kib == 0) {
        /* Includes the memory of the launcher that became this program by exec(). */
        (void)getrusage(RUSAGE_SELF, &usage);
        kib = (uint64_t)usage.ru_maxrss;
    }
    return kib * 1024;
}

size_t wf_clock_cores(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        return (size_t)CPU_COUNT(&allowed);
    }
    return wf_clock_all_cores(); /* more than the set can hold */
}

size_t wf_clock_all_cores(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (size_t)online : 1;
}

/* ---- limits of control groups ---- */

/* The files of an interface: of version 2, and of the controller of version 1. */
static const struct interface {
    const char *line; /* of /proc/self/cgroup: what it has before the path */
    const char *folder, *limit, *used, *dropped;
} interfaces[] = {
    {"::", "", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

/* The number after `label` at the beginning of a line of a file of a group; false if there is none. */
static bool read_number(const char *group, const char *name, const char *label, uint64_t *out)
{
    char path[PATH_TEXT_MAX + 64], line[256];
    bool found = false;
    size_t length = strlen(label);

    (void)snprintf(path, sizeof(path), "%s/%s", group, name);
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        char *end = line;
        if (strncmp(line, label, length) == 0) {
            *out = strtoull(line + length, &end, 10);
            found = end > line + length;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* Looks at a group and at all above it: `path` is cut there. */
static void look_at_groups(char *path, size_t top, const struct interface *files,
                           struct wf_memory_limit *limit)
{
    struct wf_memory_limit one;
    uint64_t dropped = 0;

    for (;;) {
        if (read_number(path, files->limit, "", &one.bytes) &&
            read_number(path, files->used, "", &one.used) && one.bytes < limit->bytes) {
            (void)read_number(path, "memory.stat", files->dropped, &dropped);
            one.used -= dropped < one.used ? dropped : one.used;
            *limit = one;
        }
        char *slash = strrchr(path + top, '/');
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

bool wf_clock_memory_limit(const char *root, struct wf_memory_limit *limit)
{
    /* Version 1 has a limit near this where there is none. */
    const uint64_t none = UINT64_MAX / 4;
    char path[PATH_TEXT_MAX], line[PATH_TEXT_MAX / 2];

    *limit = (struct wf_memory_limit){.bytes = none};
    (void)snprintf(path, sizeof(path), "%.1000s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++) {
            const char *at = strstr(line, interfaces[i].line);
            if (at != NULL) {
                int top = snprintf(path, sizeof(path), "%.1000s/sys/fs/cgroup%s", root,
                                   interfaces[i].folder);
                (void)snprintf(path + top, sizeof(path) - (size_t)top, "%s",
                               at + strlen(interfaces[i].line));
                look_at_groups(path, (size_t)top, &interfaces[i], limit);
            }
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return limit->bytes < none;
}

uint64_t wf_clock_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages < 0 || size < 0 ? 0 : (uint64_t)pages * (uint64_t)size;
    struct wf_memory_limit limit;
    struct rlimit own;

    if (wf_clock_memory_limit("", &limit) && (bytes == 0 || limit.bytes < bytes)) {
        bytes = limit.bytes;
    }
    if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY &&
        own.rlim_cur < bytes) {
        bytes = own.rlim_cur;
    }
    return bytes;
}
