/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_STATS_H
#define WF_ENGINE_STATS_H

#include <stdint.h>

struct wf_engine;
struct wf_run;

/* Adds up counters, digests and tallies of all workers; `n_processes` took part. Called by
 * every process; all get the same *run, and process 0 the merged tally. */
void wf_stats_collect(struct wf_engine *engine, uint32_t n_processes, struct wf_run *run);

#endif
