/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { CALIBRATE_NS = 2000000, SHIFT = 32 };

__extension__ typedef unsigned __int128 wide;

/* The processor's time counter: ns = ns0 + (ticks - ticks0) * rate >> SHIFT. A rate of 0 means
 * that there is no such counter. */
static struct {
    uint64_t ticks0, ns0, rate;
} counter;

static uint64_t read_clock(clockid_t which)
{
    struct timespec t;

    (void)clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t wf_cap_clock_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

#if defined(__x86_64__)

/* Returns whether the kernel trusts the counter: it has checked that the counters of all
 * processors agree and never stop. */
static bool is_trusted(void)
{
    char name[8] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    ssize_t n = read(fd, name, sizeof(name) - 1);
    (void)close(fd);
    return n >= 3 && memcmp(name, "tsc", 3) == 0;
}

static uint64_t read_counter(void)
{
    return __rdtsc();
}

#else

static bool is_trusted(void)
{
    return false;
}

static uint64_t read_counter(void)
{
    return 0;
}

#endif

void wf_cap_clock_init(void)
{
    if (!is_trusted()) {
        return;
    }
    uint64_t ns0 = wf_cap_clock_monotonic(), ticks0 = read_counter(), ns = 0, ticks = 0;
    do {
        ns = wf_cap_clock_monotonic();
        ticks = read_counter();
    } while (ns - ns0 < CALIBRATE_NS);
    if (ticks > ticks0) {
        counter.rate = (uint64_t)(((wide)(ns - ns0) << SHIFT) / (ticks - ticks0));
        counter.ns0 = ns0;
        counter.ticks0 = ticks0;
    }
}

uint64_t wf_cap_clock_now(void)
{
    if (counter.rate == 0) {
        return wf_cap_clock_monotonic();
    }
    return counter.ns0 +
           (uint64_t)(((wide)(read_counter() - counter.ticks0) * counter.rate) >> SHIFT);
}

static void read_offset(struct wf_cap_clock *clock, uint64_t now)
{
    clock->offset = (int64_t)(read_clock(CLOCK_THREAD_CPUTIME_ID) - now);
}

int64_t wf_cap_clock_gap(struct wf_cap_clock *clock, uint64_t now, bool cpu)
{
    if (clock->left == 0) {
        return 0;
    }
    int64_t wall = (int64_t)(now - clock->left);
    if (!cpu || wall < WF_CLOCK_LONG) {
        return wall < 0 ? 0 : wall;
    }
    int64_t before = (int64_t)clock->left + clock->offset;
    read_offset(clock, now);
    int64_t spent = (int64_t)now + clock->offset - before;
    return spent < 0 ? 0 : spent > wall ? wall : spent;
}

uint64_t wf_cap_clock_leave(struct wf_cap_clock *clock, uint64_t entered, bool cpu)
{
    bool first = clock->left == 0;

    clock->left = wf_cap_clock_now();
    if (cpu && (first || clock->left - entered >= WF_CLOCK_LONG)) {
        read_offset(clock, clock->left);
        /* The time to read the CPU clock must not count as computing. */
        clock->left = wf_cap_clock_now();
    }
    return clock->left;
}
