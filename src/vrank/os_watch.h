/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Counts what the operating system does to this thread while a rank computes: involuntary
 * context switches, page faults, and time that the hypervisor takes away.
 *
 * Spans of less than 50 us are not counted, so that reading the counters costs at most a
 * hundredth of the time. Counters are read when a span begins, unless they were read less than
 * 50 us (the stolen time: 20 ms) before, and when a counted span ends.
 */

#include <stdint.h>

/* A span of this thread begins. */
void wf_vrank_os_begin(void);

/* The span ends, in the same thread, after `ps` picoseconds of processor time. Returns what
 * happened, as ops/disturbance.h packs it. */
uint32_t wf_vrank_os_end(int64_t ps);
