/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_COUNTERS_H
#define WF_CAPTURE_COUNTERS_H

/*
 * Hardware counters of the thread that initialised MPI, through perf_event. Reading them is a
 * system call in every recorded call; they are off unless asked for.
 */

#include <stdint.h>

/* Counts the events of a list "cycles,instructions". Returns how many there are, at most
 * WF_COUNTERS_MAX; what the machine does not have, or does not allow, is left out with a line
 * on stderr. */
uint32_t wf_cap_counters_open(const char *list);

const char *wf_cap_counters_name(uint32_t i);

/* What was counted since the last reading, and since wf_cap_counters_mark(). */
void wf_cap_counters_read(uint64_t *values);

/* What was counted up to here is nobody's. */
void wf_cap_counters_mark(void);

#endif
