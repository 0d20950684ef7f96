/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How long the recording itself takes. This time is part of the run and of no op. One call in
 * WF_COST_EVERY is timed, from its entry to the real call and from the return to the end.
 * Writing to the file is rare and long, and is always timed. Except for wf_cap_cost_is_due(),
 * the calling thread is alone.
 */

#include <stdbool.h>
#include <stdint.h>

enum { WF_COST_EVERY = 16 };

/* Whether call number n of a thread, from 0, is timed. The first call is not typical. */
static inline bool wf_cap_cost_is_due(uint32_t n)
{
    return n % WF_COST_EVERY == WF_COST_EVERY - 1;
}

/* Counts a recorded call. */
void wf_cap_cost_call(void);

/* Adds the times of a call: before the real call, and from `begin`, its return, to `end`. */
void wf_cap_cost_measured(uint64_t entering_ns, uint64_t begin, uint64_t end);

/* Adds the time of a write to the file. */
void wf_cap_cost_wrote(uint64_t ns);

/* The estimate for all calls so far, in nanoseconds; 0 if no call was timed. */
uint64_t wf_cap_cost_total(void);
