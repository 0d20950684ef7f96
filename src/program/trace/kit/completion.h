/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The requests that a wait or test completes, for writers of formats that have only waits for
 * single requests. */

#include "program/ops/op.h"
#include "program/trace/kit/losses.h"

typedef void (*wf_completion_fn)(void *arg, uint32_t request);

/* Calls `complete` for each request that a wait or test found complete. If that is not
 * recorded, a wait completes the first request and a test none, which counts as a loss. Returns
 * false for a test that found nothing. */
bool wf_completion_visit(const struct wf_op *op, wf_completion_fn complete, void *arg,
                         struct wf_losses *losses);
