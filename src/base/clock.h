/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Clocks and memory of the host. No simulated result may depend on them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double wf_clock_wall(void);       /* seconds, monotonic */
double wf_clock_cpu(void);        /* seconds of CPU time of this process, all threads */
int64_t wf_clock_coarse_ns(void); /* monotonic, accurate to a few milliseconds, cheap */
/* The largest resident memory of this program so far, in bytes. */
uint64_t wf_clock_peak_rss(void);
size_t wf_clock_cores(void);     /* that this process may use; at least 1 */
size_t wf_clock_all_cores(void); /* of the machine; at least 1 */
/* Memory that this process may use, in bytes: of the machine, or less if a control group (a container, a
 * batch system) or a limit of the process allows less. 0 if the system does not report it. */
uint64_t wf_clock_memory(void);

/* The tightest limit of a control group of this process, of either version of the interface. `root` is
 * where the files of the system are, "" but in tests. False if there is none. */
struct wf_memory_limit {
    uint64_t bytes;
    uint64_t used; /* without files that the system can drop */
};
bool wf_clock_memory_limit(const char *root, struct wf_memory_limit *limit);
