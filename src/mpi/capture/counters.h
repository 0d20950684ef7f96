/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Hardware counters of the thread that initialised MPI, through perf_event. Reading them adds a
 * system call to every recorded call, so they are off by default.
 */

#include <stdint.h>

/* Opens the counters of a list such as "cycles,instructions". Returns how many there are, at
 * most WF_COUNTERS_MAX. A counter that the machine does not have, or does not allow, is left
 * out with a line on stderr. */
uint32_t wf_cap_counters_open(const char *list);

const char *wf_cap_counters_name(uint32_t i);

/* The counts since the last reading or wf_cap_counters_mark(). */
void wf_cap_counters_read(uint64_t *values);

/* Drops the counts up to now. */
void wf_cap_counters_mark(void);
