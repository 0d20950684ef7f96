/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Counts what the operating system does to this thread while it computes: involuntary context
 * switches, page faults, and time that the hypervisor takes away. Allocates no memory, so that
 * it can be loaded into foreign processes.
 *
 * Spans of less than 50 us are not counted, so that reading the counters costs at most a
 * hundredth of the time. Counters are read when a span begins, unless they were read less than
 * 50 us (the stolen time: 20 ms) before, and when a counted span ends.
 */

#include <stdint.h>

struct wf_os_watch_counts {
    uint32_t switches, faults;
    int64_t stolen; /* nanoseconds */
};

/* A span of this thread begins. */
void wf_os_watch_begin(void);

/* The span ends, in the same thread, after so many nanoseconds. Returns what happened. */
struct wf_os_watch_counts wf_os_watch_end(int64_t ns);
