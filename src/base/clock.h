/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_CLOCK_H
#define WF_BASE_CLOCK_H

/* The host's clocks; nothing they say may reach a result. */

#include <stdint.h>

double wf_clock_wall(void);       /* seconds, monotonic */
double wf_clock_cpu(void);        /* seconds of CPU time of this process, all threads */
int64_t wf_clock_coarse_ns(void); /* monotonic, to a few milliseconds, cheap */
/* Bytes of memory this program had at its largest, not counting what launched it. */
uint64_t wf_clock_peak_rss(void);
uint64_t wf_clock_memory(void); /* bytes of memory the machine has */

#endif
