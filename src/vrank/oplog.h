/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_OPLOG_H
#define WF_VRANK_OPLOG_H

/*
 * What a running rank has said that it does and the simulation has not dealt with yet: ops,
 * numbered from the program's first one. Collectives that have not returned can be looked up
 * again by their number.
 */

#include "ops/op.h"

#include <stddef.h>

struct wf_vrank_logged_op; /* an op with its arrays behind it */

struct wf_vrank_oplog {
    struct wf_vrank_logged_op **ops; /* ops[head + i] has the number first + i, i < n */
    uint64_t first;
    uint32_t head, n, room;
    struct wf_vrank_logged_op *kept; /* nonblocking collectives that were dropped, linked */
};

void wf_vrank_oplog_fini(struct wf_vrank_oplog *log);

/* Adds an op; its arrays are copied. */
void wf_vrank_oplog_add(struct wf_vrank_oplog *log, const struct wf_op *op);
/* The op with this number; null if it is gone or has not been added. */
const struct wf_op *wf_vrank_oplog_get(const struct wf_vrank_oplog *log, uint64_t number);
/* Forgets the ops before this number, but not nonblocking collectives... */
void wf_vrank_oplog_drop(struct wf_vrank_oplog *log, uint64_t number);
/* ...until their request is complete. */
void wf_vrank_oplog_complete(struct wf_vrank_oplog *log, uint32_t request);

static inline uint64_t wf_vrank_oplog_end(const struct wf_vrank_oplog *log)
{
    return log->first + log->n;
}

#endif
