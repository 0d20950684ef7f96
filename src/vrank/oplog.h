/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The ops that a running rank has produced and the simulation has not finished, numbered from
 * the program's first one. Nonblocking collectives can be looked up by their number until they
 * are complete. A zeroed log is empty.
 */

#include "ops/op.h"

#include <stddef.h>

struct wf_vrank_logged_op; /* an op, followed by its arrays */

struct wf_vrank_oplog {
    struct wf_vrank_logged_op **ops; /* ops[head + i] has the number first + i, i < n */
    uint64_t first;
    uint32_t head, n, capacity;
    struct wf_vrank_logged_op *kept; /* nonblocking collectives that were dropped; a list */
};

void wf_vrank_oplog_fini(struct wf_vrank_oplog *log);

/* Adds an op; its arrays are copied. */
void wf_vrank_oplog_add(struct wf_vrank_oplog *log, const struct wf_op *op);
/* The op with this number; null if it was freed or not added yet. */
const struct wf_op *wf_vrank_oplog_get(const struct wf_vrank_oplog *log, uint64_t number);
/* Frees the ops before this number, but keeps nonblocking collectives... */
void wf_vrank_oplog_drop(struct wf_vrank_oplog *log, uint64_t number);
/* ...until their request is complete: frees them. */
void wf_vrank_oplog_complete(struct wf_vrank_oplog *log, uint32_t request);

static inline uint64_t wf_vrank_oplog_end(const struct wf_vrank_oplog *log)
{
    return log->first + log->n;
}
