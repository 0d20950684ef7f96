/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The files of a trace on several threads.
 *
 * Items, mostly the files of ranks, go to workers in the order of their numbers; a worker gets
 * items with rising numbers. A visit changes nothing but what belongs to its item or its worker,
 * so that the result does not depend on the number of workers once the caller has added up what
 * belongs to workers. Of several failures, that of the lowest item is reported.
 */

#include "base/status.h"

#include <stdint.h>

enum { WF_TRACE_WORKERS_MAX = 4 };

/* How many workers visit `n` items: one for each core that the process may use, at most
 * WF_TRACE_WORKERS_MAX and `n`, at least 1. */
uint32_t wf_trace_workers(uint32_t n);

/* Visits an item. `err` holds no failure before. */
typedef void wf_trace_visit(void *arg, uint32_t worker, uint32_t item, struct wf_err *err);

/* Visits the items 0 to n - 1 with so many workers, each on a thread. Does nothing if `err`
 * holds a failure. */
void wf_trace_visit_all(uint32_t n, uint32_t n_workers, wf_trace_visit *visit, void *arg,
                        struct wf_err *err);
