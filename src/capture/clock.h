/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_CLOCK_H
#define WF_CAPTURE_CLOCK_H

/*
 * Time between calls, cheaply.
 *
 * The wall clock is the processor's counter where the kernel itself trusts it. The CPU time of
 * a thread is a system call that may cost a microsecond, several times what a recorded call may
 * cost in all. So it is read only where it can differ from the wall clock: nobody is taken off
 * its processor, and back on it, within WF_CLOCK_LONG nanoseconds or hardly so. A thread keeps
 * the difference of its CPU time to the wall clock, which a stretch (computing, or a call) that
 * is shorter leaves as it was, and reads the CPU time anew behind one that is longer.
 */

#include <stdbool.h>
#include <stdint.h>

enum { WF_CLOCK_LONG = 50000 };

struct wf_cap_clock {
    uint64_t left;  /* wall clock when the last call was left; 0: never */
    int64_t offset; /* CPU time minus wall clock, as far as known */
};

/* Finds the rate of the counter; takes up to 2 ms. */
void wf_cap_clock_init(void);

/* Nanoseconds of the wall clock, from some beginning. */
uint64_t wf_cap_clock_now(void);

/* The same in the kernel's words: CLOCK_MONOTONIC. */
uint64_t wf_cap_clock_monotonic(void);

/* Nanoseconds of computing since the thread left its last call, `now` being when it entered the
 * next: CPU time, or wall time. */
int64_t wf_cap_clock_gap(struct wf_cap_clock *clock, uint64_t now, bool cpu);

/* The thread leaves a call that it entered at `entered`. Returns the time. */
uint64_t wf_cap_clock_leave(struct wf_cap_clock *clock, uint64_t entered, bool cpu);

#endif
