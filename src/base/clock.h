/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Clocks and memory of the host. No simulated result may depend on them. */

#include <stddef.h>
#include <stdint.h>

double wf_clock_wall(void);       /* seconds, monotonic */
double wf_clock_cpu(void);        /* seconds of CPU time of this process, all threads */
int64_t wf_clock_coarse_ns(void); /* monotonic, accurate to a few milliseconds, cheap */
/* The largest resident memory of this program so far, in bytes. */
uint64_t wf_clock_peak_rss(void);
size_t wf_clock_cores(void);     /* that this process may use; at least 1 */
size_t wf_clock_all_cores(void); /* of the machine; at least 1 */
uint64_t wf_clock_memory(void);  /* memory of the machine, in bytes */
