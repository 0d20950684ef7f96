/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

uint64_t wf_clock_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages < 0 || size < 0 ? 0 : (uint64_t)pages * (uint64_t)size;
}
