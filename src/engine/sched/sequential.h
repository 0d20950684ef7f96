/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The sequential scheduler, for part of a run. */

#include "engine/core/worker.h"

/* Executes events until the worker has committed `enough` of them, and the window of the last one is
 * complete. Returns true if the run is over. The worker's scheduler data is a struct wf_store. */
bool wf_store_run(struct wf_worker *worker, uint64_t enough);
