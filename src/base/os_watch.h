/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Counts what the operating system does to this thread while it computes: involuntary context
 * switches, page faults, and time that the hypervisor takes away. Allocates no memory, so that
 * it can be loaded into foreign processes.
 *
 * Spans of less than 50 us are not counted, so that reading the counters costs at most a
 * hundredth of the time. Counters are read when a span begins, unless they were read less than
 * 50 us before, and when a counted span ends. Stolen time is counted in spans of 20 ms or more,
 * or of 200 times what it takes to read it.
 */

#include <stdint.h>

enum { WF_OS_WATCH_NS = 50000 };

struct wf_os_watch_counts {
    uint32_t switches, faults;
    int64_t stolen; /* nanoseconds that the hypervisor took */
    int64_t waited; /* nanoseconds without a processor, unless the thread gave it up itself */
};

/* The monotonic clock in nanoseconds. */
int64_t wf_os_watch_now(void);

/* A span of this thread begins now; `now` is of any clock that counts nanoseconds. */
void wf_os_watch_begin(int64_t now);

/* The span ends now, by the same clock and in the same thread, after `ns` nanoseconds. Returns
 * what happened. */
struct wf_os_watch_counts wf_os_watch_end(int64_t now, int64_t ns);
