/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Scenarios that are executed together: the points of a curve or of a study on a GPU, which is
 * fast only if it has much to do at once. The result of each is the same as if it ran alone.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct wf_scenario;
struct wf_sim_host;
struct wf_value;

/* A scenario and its outcome, as wf_sim_run() has it. The caller frees the document. */
struct wf_sim_item {
    const struct wf_scenario *scenario;
    struct wf_value *doc;
    struct wf_err err; /* err.status is the outcome */
};

/* Whether `n` scenarios like this one should be executed together. */
bool wf_sim_batch_suits(const struct wf_scenario *scenario, size_t n);

/* Executes all scenarios. `host->progress` reports the fraction of all of them. */
void wf_sim_batch_run(struct wf_sim_item *items, size_t n, const struct wf_sim_host *host);
