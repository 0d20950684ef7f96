/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_TIDY_H
#define WF_OPS_TIDY_H

/*
 * Waits for what there is of a set of requests: in a piece of a trace some were left out, and
 * generators name all that a rank may have, which those at a border have not. A trace names no
 * request that was never made (ops/created.h).
 */

#include "base/buf.h"
#include "ops/created.h"

/* Zeroed at a rank's beginning, but for the buffers. */
struct wf_tidy {
    struct wf_created made; /* in what is written */
    struct wf_buf requests, outcomes;
};

void wf_tidy_begin(struct wf_tidy *tidy); /* a rank */
void wf_tidy_fini(struct wf_tidy *tidy);

/* Changes an op so that it names no request that was not made; false if nothing of it is left.
 * Its arrays are valid until the next. */
bool wf_tidy_op(struct wf_tidy *tidy, struct wf_op *op);

#endif
