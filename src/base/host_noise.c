/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host_noise.h"

#include "base/array.h"

#include <stdio.h>
#include <time.h>

enum { PIECES = 128, PIECE_STEPS = 16384, WORDS = 4096, LIMIT_NS = 100000000 };

static const double MATTERS_PERCENT = 5, WAITED_PERCENT = 10;

static int64_t read_clock(clockid_t which)
{
    struct timespec now = {.tv_sec = 0};

    (void)clock_gettime(which, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A dependent chain of arithmetic on memory of 32 KiB: sees the processor and its caches. */
static uint64_t do_piece(uint64_t *words, uint64_t value)
{
    for (uint32_t i = 0; i < PIECE_STEPS; i++) {
        value = value * UINT64_C(6364136223846793005) + words[value >> 52];
        words[i % WORDS] = value;
    }
    return value;
}

static int order(const void *a, const void *b)
{
    return WF_ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

static double beyond(int64_t time, int64_t median)
{
    return median > 0 ? 100 * (double)(time - median) / (double)median : 0;
}

struct wf_host_noise_spread wf_host_noise_spread(int64_t *times, size_t n, int64_t *median)
{
    WF_SORT(times, n, order);
    *median = times[(n - 1) / 2];
    return (struct wf_host_noise_spread){beyond(times[(n - 1) * 9 / 10], *median),
                                         beyond(times[n - 1], *median)};
}

struct wf_host_noise wf_host_noise_measure(void)
{
    static _Thread_local uint64_t words[WORDS];
    int64_t cpu[PIECES], wall[PIECES], median;
    volatile uint64_t value = do_piece(words, 1); /* warms the caches */
    int64_t began = read_clock(CLOCK_MONOTONIC);
    int64_t cpu_began = read_clock(CLOCK_THREAD_CPUTIME_ID);
    size_t n = 0;

    while (n < PIECES && (n == 0 || read_clock(CLOCK_MONOTONIC) - began < LIMIT_NS)) {
        int64_t wall_before = read_clock(CLOCK_MONOTONIC);
        int64_t cpu_before = read_clock(CLOCK_THREAD_CPUTIME_ID);
        value = do_piece(words, value);
        cpu[n] = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
        wall[n] = read_clock(CLOCK_MONOTONIC) - wall_before;
        n++;
    }
    int64_t passed = read_clock(CLOCK_MONOTONIC) - began;
    int64_t ran = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_began;
    struct wf_host_noise noise = {.wall = wf_host_noise_spread(wall, n, &median)};
    noise.cpu = wf_host_noise_spread(cpu, n, &noise.median_ns);
    noise.waited = passed > ran ? 100 * (double)(passed - ran) / (double)passed : 0;
    return noise;
}

bool wf_host_noise_warning(const struct wf_host_noise *noise, bool cpu, char *text)
{
    double percent = cpu ? noise->cpu.percent : noise->wall.percent;

    if (noise->waited >= WAITED_PERCENT) {
        (void)snprintf(text, WF_HOST_NOISE_TEXT_MAX,
                       "this host is busy: work waited for a processor for %.0f %% of the "
                       "time, so measured compute times will not repeat",
                       noise->waited);
        return true;
    }
    if (percent >= MATTERS_PERCENT) {
        (void)snprintf(text, WF_HOST_NOISE_TEXT_MAX,
                       "this host is noisy: one time in ten, equal work takes %.0f %% longer "
                       "or more, so measured compute times will not repeat",
                       percent);
        return true;
    }
    return false;
}
