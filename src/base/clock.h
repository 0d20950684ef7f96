/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Clocks and memory of the host. No simulated result may depend on them. */

#include <stdint.h>

double wf_clock_wall(void);       /* seconds, monotonic */
double wf_clock_cpu(void);        /* seconds of CPU time of this process, all threads */
int64_t wf_clock_coarse_ns(void); /* monotonic, accurate to a few milliseconds, cheap */
/* The largest resident memory of this program so far, in bytes. */
uint64_t wf_clock_peak_rss(void);
uint64_t wf_clock_memory(void); /* memory of the machine, in bytes */
