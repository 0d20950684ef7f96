/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The ops that a running rank has produced and the simulation has not finished, numbered from
 * the program's first one. Nonblocking collectives can be looked up by their number until they
 * are complete. A zeroed log is empty.
 */

#include "program/ops/op.h"

#include <stddef.h>

struct wf_vrank_logged_op; /* an op, followed by its arrays */
struct wf_vrank_kept_op;

enum { WF_VRANK_OPLOG_FEW = 3 };

/* An op that is not in the log, but where its rank has it. */
struct wf_vrank_lent_op {
    uint64_t bytes; /* as of a logged op, but a number that none has */
    const struct wf_op *op;
};

struct wf_vrank_oplog {
    /* Element head + i has the number first + i, i < n. Up to a few are here, which is enough
     * for each of a million ranks. */
    union {
        struct wf_vrank_logged_op *few[WF_VRANK_OPLOG_FEW];
        struct wf_vrank_logged_op **many; /* if capacity > 0 */
    };
    uint64_t first;
    uint32_t head, n, capacity;
    bool whole; /* ops are stored with all their members, for wf_vrank_oplog_get() */
    struct wf_vrank_kept_op *kept; /* nonblocking collectives that were dropped; a list */
};

void wf_vrank_oplog_fini(struct wf_vrank_oplog *log);

/* Adds an op; its arrays are copied. */
void wf_vrank_oplog_add(struct wf_vrank_oplog *log, const struct wf_op *op);
/* The same without copying it if it has no arrays: for a rank that waits. Op and `lent` must stay as
 * they are until the op is dropped. */
void wf_vrank_oplog_lend(struct wf_vrank_oplog *log, const struct wf_op *op,
                         struct wf_vrank_lent_op *lent);
/* Copies the op with this number; its arrays stay in the log. False if it was freed or not added
 * yet. */
bool wf_vrank_oplog_read(const struct wf_vrank_oplog *log, uint64_t number, struct wf_op *op);
/* Of a log of whole ops: that op itself; or null. */
struct wf_op *wf_vrank_oplog_get(const struct wf_vrank_oplog *log, uint64_t number);
/* Frees the ops before this number, but keeps nonblocking collectives... */
void wf_vrank_oplog_drop(struct wf_vrank_oplog *log, uint64_t number);
/* ...until their request is complete: frees them. */
void wf_vrank_oplog_complete(struct wf_vrank_oplog *log, uint32_t request);

static inline uint64_t wf_vrank_oplog_end(const struct wf_vrank_oplog *log)
{
    return log->first + log->n;
}
