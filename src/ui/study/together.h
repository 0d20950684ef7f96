/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Scenarios that are simulated in parallel, such as the points of a curve or a study, or all at once if
 * their executor is made for that (run/execute/run.h). */

#include "base/points.h"
#include "base/status.h"

#include <stdint.h>

struct wf_scenario;
struct wf_value;

struct wf_study_batch {
    size_t n;
    size_t done; /* others, which count as done for the progress */
    const struct wf_points_host *host;
    uint64_t memory;                /* budget in bytes of those that run in parallel; 0: none */
    const struct wf_scenario *like; /* tells how to execute all of them; null: the first one */
    /* Whether this process runs the i-th: others share the work. Null: it runs all. At most `share` of those
     * that run at once; 0: all. */
    bool (*claim)(void *arg, size_t i);
    size_t share;
    /* The i-th scenario, which the batch frees; null, and an error, if there is none. */
    struct wf_scenario *(*scenario)(void *arg, size_t i, struct wf_err *err);
    /* The outcome of the i-th, err->status, and perhaps a document, which the function takes over.
     * Called by several threads. */
    void (*ended)(void *arg, size_t i, struct wf_value *doc, const struct wf_err *err);
    void *arg;
};

/* Returns false if the user ended it early. */
bool wf_study_batch_run(const struct wf_study_batch *batch);
