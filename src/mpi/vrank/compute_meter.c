/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/compute_meter.h"

#include "base/os_watch.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>

/* The file descriptor of the counter of this thread's instructions in user mode; negative, with
 * errno set, if there is none. It stays open as long as the thread lives. */
static int counter(void)
{
    static _Thread_local int fd = -1;
    struct perf_event_attr attr;

    if (fd < 0) {
        memset(&attr, 0, sizeof(attr));
        attr.type = PERF_TYPE_HARDWARE;
        attr.size = sizeof(attr);
        attr.config = PERF_COUNT_HW_INSTRUCTIONS;
        attr.exclude_kernel = 1;
        attr.exclude_hv = 1;
        fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd;
}
#else
static int counter(void)
{
    errno = ENOSYS;
    return -1;
}
#endif

static int64_t count_instructions(void)
{
    uint64_t count = 0;

    return read(counter(), &count, sizeof(count)) == (ssize_t)sizeof(count) ? (int64_t)count
                                                                            : 0;
}

/* Processor time of this thread, in nanoseconds: a system call. */
static int64_t cpu_now(void)
{
    struct timespec now = {.tv_sec = 0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The last reading of both clocks in this thread. Nobody takes the processor away for less than SHORT_NS, so
 * that shorter spans, and what passed since a reading that is not older, are read from the clock that costs
 * no system call. */
enum { SHORT_NS = WF_OS_WATCH_NS };
static _Thread_local struct {
    int64_t wall, cpu; /* 0: never read */
} both;

static void read_both(int64_t wall)
{
    both.cpu = cpu_now();
    both.wall = wall;
}

int64_t wf_vrank_meter_now(const struct wf_vrank_meter *meter)
{
    if (meter->kind == WF_VRANK_METER_INSTRUCTIONS) {
        return count_instructions();
    }
    if (meter->kind == WF_VRANK_METER_NONE) {
        return 0;
    }
    int64_t wall = wf_os_watch_now();
    if (both.wall == 0 || wall - both.wall > SHORT_NS) {
        read_both(wall);
    }
    return wall;
}

/* How much of a span that began then the thread had a processor. */
static int64_t time_since(int64_t then)
{
    int64_t wall = wf_os_watch_now(), span = wall - then;

    if (span < SHORT_NS || both.wall == 0 || both.wall > then) {
        return span;
    }
    int64_t cpu = both.cpu + (then - both.wall);
    read_both(wall);
    return both.cpu - cpu < span ? both.cpu - cpu : span;
}

int64_t wf_vrank_meter_since(const struct wf_vrank_meter *meter, int64_t then)
{
    int64_t units = (meter->kind == WF_VRANK_METER_TIME ? time_since(then)
                                                        : wf_vrank_meter_now(meter) - then) -
                    meter->own;

    return units > 0 ? (int64_t)((double)units * meter->ps_per_unit) : 0;
}

/* The cost of a reading: the smallest difference between two readings. Larger ones are
 * noise. */
static int64_t measure_own(const struct wf_vrank_meter *meter)
{
    enum { TIMES = 64 };
    int64_t least = INT64_MAX;

    for (int i = 0; i < TIMES; i++) {
        int64_t then = wf_vrank_meter_now(meter), units = wf_vrank_meter_now(meter) - then;
        least = units < least ? units : least;
    }
    return least;
}

enum wf_status wf_vrank_meter_init(struct wf_vrank_meter *meter, enum wf_vrank_meter_kind kind,
                                   double rate, struct wf_err *err)
{
    *meter = (struct wf_vrank_meter){
        .kind = kind, .ps_per_unit = kind == WF_VRANK_METER_INSTRUCTIONS ? 1e12 / rate : 1e3};
    if (kind == WF_VRANK_METER_INSTRUCTIONS && counter() < 0) {
        return wf_err_set(err, WF_EINVAL,
                          "instructions cannot be counted here (%s); --compute measured, model "
                          "and none need no counters",
                          strerror(errno));
    }
    if (kind != WF_VRANK_METER_NONE) {
        meter->own = measure_own(meter);
    }
    return WF_OK;
}
