/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_COST_H
#define WF_CAPTURE_COST_H

/*
 * What the recording itself takes: it is in the time of the run and in no op. One call of
 * WF_COST_EVERY is measured, from its entry to the call and from its return to its end; writing
 * to the file, which is rare and long, is measured always. All but wf_cap_cost_is_due() is for a
 * thread that is alone.
 */

#include <stdbool.h>
#include <stdint.h>

enum { WF_COST_EVERY = 16 };

/* Whether the n-th call of a thread, from 0, is measured. The first is not like the others. */
static inline bool wf_cap_cost_is_due(uint32_t n)
{
    return n % WF_COST_EVERY == WF_COST_EVERY - 1;
}

/* A call was recorded. */
void wf_cap_cost_call(void);

/* ...and measured: `begin` is when it returned. */
void wf_cap_cost_measured(uint64_t entering_ns, uint64_t begin, uint64_t end);

/* The file was written to. */
void wf_cap_cost_wrote(uint64_t ns);

/* What all of that took so far, in nanoseconds; 0 if nothing was measured. */
uint64_t wf_cap_cost_total(void);

#endif
