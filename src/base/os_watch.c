/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os_watch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

enum { STEAL_NS = 20000000, STEAL_PARTS = 200 };

/* Readings of this thread's counters. */
struct counts {
    int64_t switches, faults;
    int64_t given_up; /* voluntary switches */
    int64_t cpu_ns;
};

static _Thread_local struct {
    struct counts counts;
    int64_t counted_at; /* nanoseconds of the caller's clock; 0: never */
    int64_t stolen;     /* nanoseconds, of the processor it was on... */
    int64_t stolen_at;
    int64_t steal_every; /* nanoseconds between readings */
    int cpu;
    int stat; /* file descriptor of /proc/stat plus one; 0: not open, -1: there is none */
} watch;

int64_t wf_os_watch_now(void)
{
    struct timespec now = {.tv_sec = 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef RUSAGE_THREAD
static struct counts read_counts(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0) {
        return (struct counts){.switches = 0};
    }
    return (struct counts){
        .switches = usage.ru_nivcsw,
        .faults = (int64_t)usage.ru_minflt + usage.ru_majflt,
        .given_up = usage.ru_nvcsw,
        .cpu_ns = ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
                  ((int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000};
}
#else
static struct counts read_counts(void)
{
    return (struct counts){.switches = 0};
}
#endif

/* ---- time that the hypervisor took away ---- */

#ifdef __linux__
/* The column `steal` of the line that begins with "cpu<number> "; 0 if it is not there. */
static int64_t steal_of(const char *text, int cpu)
{
    enum { COLUMN = 8 };
    char name[24];
    long ticks = 0;

    (void)snprintf(name, sizeof(name), "\ncpu%d ", cpu);
    const char *at = strstr(text, name);
    if (at == NULL) {
        return 0;
    }
    at += strlen(name);
    for (int i = 0; i < COLUMN; i++) {
        char *end = NULL;
        ticks = strtol(at, &end, 10);
        if (end == at) {
            return 0;
        }
        at = end;
    }
    long per_second = sysconf(_SC_CLK_TCK);
    return per_second > 0 ? (int64_t)ticks * (1000000000 / per_second) : 0;
}

static int64_t read_stolen(int cpu)
{
    enum { TEXT_MAX = 1 << 15 };
    static _Thread_local char text[TEXT_MAX];

    if (watch.stat == 0) {
        int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
        watch.stat = fd >= 0 ? fd + 1 : -1;
    }
    ssize_t n = watch.stat > 0 ? pread(watch.stat - 1, text, TEXT_MAX - 1, 0) : 0;
    text[n > 0 ? n : 0] = '\0';
    return steal_of(text, cpu);
}

static int this_cpu(void)
{
    return sched_getcpu();
}
#else
static int64_t read_stolen(int cpu)
{
    return 0;
}

static int this_cpu(void)
{
    return 0;
}
#endif

/* ---- spans ---- */

void wf_os_watch_begin(int64_t now)
{
    if (watch.counted_at == 0 || now - watch.counted_at > WF_OS_WATCH_NS) {
        watch.counts = read_counts();
        watch.counted_at = now;
    }
    if (watch.stolen_at == 0 || now - watch.stolen_at > watch.steal_every) {
        int64_t before = wf_os_watch_now();
        watch.cpu = this_cpu();
        watch.stolen = read_stolen(watch.cpu);
        watch.stolen_at = now;
        /* Where there are many processors, reading takes milliseconds. */
        int64_t every = STEAL_PARTS * (wf_os_watch_now() - before);
        watch.steal_every = every > STEAL_NS ? every : STEAL_NS;
    }
}

/* Nanoseconds that the hypervisor took since the last reading; 0 if the thread has moved. */
static int64_t stolen_since(int64_t now)
{
    int cpu = this_cpu();
    int64_t stolen = read_stolen(cpu), before = watch.stolen;
    bool moved = cpu != watch.cpu;

    watch.cpu = cpu;
    watch.stolen = stolen;
    watch.stolen_at = now;
    return moved || stolen <= before ? 0 : stolen - before;
}

static uint32_t difference(int64_t now, int64_t before)
{
    int64_t n = now - before;

    return n <= 0 ? 0 : n < UINT16_MAX ? (uint32_t)n : UINT16_MAX;
}

/* Time without a processor since the last reading. A thread that gave up its processor waited
 * for something of its own. */
static int64_t waited_since(const struct counts *counts, int64_t now)
{
    int64_t waited = now - watch.counted_at - (counts->cpu_ns - watch.counts.cpu_ns);

    return counts->given_up != watch.counts.given_up || waited < 0 ? 0 : waited;
}

struct wf_os_watch_counts wf_os_watch_end(int64_t now, int64_t ns)
{
    if (ns < WF_OS_WATCH_NS || watch.counted_at == 0) {
        return (struct wf_os_watch_counts){.stolen = 0};
    }
    const struct counts counts = read_counts();
    const struct wf_os_watch_counts found = {
        .switches = difference(counts.switches, watch.counts.switches),
        .faults = difference(counts.faults, watch.counts.faults),
        .stolen = ns >= watch.steal_every ? stolen_since(now) : 0,
        .waited = waited_since(&counts, now)};

    watch.counts = counts;
    watch.counted_at = now;
    return found;
}
