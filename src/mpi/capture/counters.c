/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/counters.h"

#include "program/ops/op.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} events[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"task_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
};

static struct {
    int fd[WF_COUNTERS_MAX];
    const char *names[WF_COUNTERS_MAX];
    uint64_t before[WF_COUNTERS_MAX];
    uint32_t n;
} counters;

static int open_event(size_t i)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = events[i].type;
    attr.config = events[i].config;
    attr.exclude_kernel = events[i].type == PERF_TYPE_HARDWARE;
    attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (strlen(events[i].name) != length || strncmp(events[i].name, name, length) != 0) {
            continue;
        }
        int fd = counters.n < WF_COUNTERS_MAX ? open_event(i) : -1;
        if (fd < 0) {
            (void)fprintf(stderr, "weft: capture: the counter %s is not available: %s\n",
                          events[i].name,
                          counters.n < WF_COUNTERS_MAX ? strerror(errno) : "too many");
            return;
        }
        counters.fd[counters.n] = fd;
        counters.names[counters.n++] = events[i].name;
        return;
    }
    (void)fprintf(stderr, "weft: capture: there is no counter '%.*s'\n", (int)length, name);
}

uint32_t wf_cap_counters_open(const char *list)
{
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        if (length > 0) {
            add(list, length);
        }
        list += length + (list[length] == ',' ? 1 : 0);
    }
    return counters.n;
}

const char *wf_cap_counters_name(uint32_t i)
{
    return counters.names[i];
}

void wf_cap_counters_read(uint64_t *values)
{
    for (uint32_t i = 0; i < counters.n; i++) {
        uint64_t value = counters.before[i];
        if (read(counters.fd[i], &value, sizeof(value)) != (ssize_t)sizeof(value)) {
            value = counters.before[i];
        }
        values[i] = value - counters.before[i];
        counters.before[i] = value;
    }
}

void wf_cap_counters_mark(void)
{
    uint64_t values[WF_COUNTERS_MAX];

    if (counters.n > 0) {
        wf_cap_counters_read(values);
    }
}
