/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The time between calls, cheaply.
 *
 * The wall clock is the time-stamp counter of the processor, if the kernel trusts it. Reading
 * the CPU time of a thread is a system call that may cost a microsecond, several times what
 * recording a call may cost. So it is read only where CPU time can differ from wall time: a
 * thread hardly ever leaves its processor and returns within WF_CLOCK_LONG nanoseconds. A
 * thread keeps the difference between its CPU time and the wall clock, and reads the CPU time
 * again only after computing or a call that took longer.
 */

#include <stdbool.h>
#include <stdint.h>

enum { WF_CLOCK_LONG = 50000 };

struct wf_cap_clock {
    uint64_t left;  /* wall clock when the last call was left; 0: never */
    int64_t offset; /* CPU time minus wall clock, as far as known */
};

/* Measures the rate of the counter; takes up to 2 ms. */
void wf_cap_clock_init(void);

/* The wall clock in nanoseconds, since any moment. */
uint64_t wf_cap_clock_now(void);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t wf_cap_clock_monotonic(void);

/* Nanoseconds of computing, CPU time or wall time, since the thread left its last call. `now`
 * is when it entered the next call. */
int64_t wf_cap_clock_gap(struct wf_cap_clock *clock, uint64_t now, bool cpu);

/* The thread leaves a call that it entered at `entered`. Returns the time. */
uint64_t wf_cap_clock_leave(struct wf_cap_clock *clock, uint64_t entered, bool cpu);
