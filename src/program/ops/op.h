/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The op model: an op is the next thing that one rank of a program does. Generators, trace
 * readers and running programs produce ops, and replay executes them.
 *
 * A collective is one op, the call of the program; the simulation decides which messages it
 * sends. Where the outcome of a call depends on timing (a wildcard receive, Waitany, Test), an
 * op holds what was asked for and, if it was recorded, the outcome.
 */

#include "program/ops/op_kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WF_COMM_WORLD = 0, /* the communicator of all ranks */
    WF_ANY_TAG = -1,
    WF_COUNTERS_MAX = 4,
};
#define WF_ANY_SOURCE  UINT32_C(0xffffffff)
#define WF_PROC_NULL   UINT32_C(0xfffffffe) /* a peer that gets and sends nothing */
#define WF_REQUEST_MAX UINT32_C(0xffffff00) /* request numbers are below */

/*
 * Comments name the families (program/ops/op_kinds.h) that use a member. Other members are ignored and
 * may hold anything. Pointers belong to the source and are valid until the next op of the same
 * rank is asked for.
 *
 * A source chooses request numbers; small numbers that are used again are best. A request must
 * not be created while it is in use. Waiting for a request that is not in use takes no time. A
 * trace names no request that was never created (program/ops/created.h); a generator may. A set of
 * requests is `requests[0..count-1]` or, if that is null, the numbers from `request` to
 * `request + count - 1`.
 */
struct wf_op {
    enum wf_op_kind kind;
    uint32_t peer; /* send, recv, probe, one-sided, sendrecv (the send): a rank of `comm` */
    int32_t tag;   /* likewise, not negative; markers, call, files: number of the name */
    uint32_t comm; /* likewise, and collectives; comm: the parent */
    uint32_t
        request; /* nonblocking, persistent: the new number; wait, test, start, free: which */
    uint32_t count;     /* ...of a set */
    uint32_t root;      /* collectives with a root */
    uint32_t reduction; /* collectives that reduce, accumulate: enum wf_reduction */
    uint32_t new_comm;  /* comm: the communicator that is made */
    uint32_t site;      /* compute: identifies the line of the program that ends it, or 0 */
    uint64_t bytes; /* send, recv (capacity), one-sided; collectives: as model/coll/coll.h says;
                           region_begin: n in the formula of the region */
    union {
        int64_t duration; /* compute: picoseconds, not negative */
        uint64_t offset;  /* file_read, file_write: where in the file */
    };

    uint32_t recv_peer; /* sendrecv: the receive */
    int32_t recv_tag;
    uint64_t recv_bytes;

    /* The outcome, if it was `recorded`.
     * recv, irecv, sendrecv, probe: the source and tag of the message that was matched.
     * test, iprobe: 0 (nothing) or 1.
     * waitany, testany: the place in the set of what was complete, or the size of the set.
     * waitsome, testsome: the number of `outcomes`, which are places in the set. */
    bool recorded;
    uint32_t matched_peer;
    int32_t matched_tag;
    uint32_t outcome;

    /* Collectives, of a running program only (program/ops/live.h): the program learns by itself if ranks
     * call it with different sizes; the simulation goes on. Other sources say that for all their
     * ops (program/ops/source.h). */
    bool any_sizes;

    const uint32_t *requests, *outcomes;
    const uint64_t *counts, *recv_counts;   /* collectives: as model/coll/coll.h says */
    const uint32_t *sources, *destinations; /* neighbour collectives: ranks of `comm` */
    uint32_t n_sources, n_destinations;

    uint32_t n_counters;   /* compute: hardware counters, in the order of the source's names */
    uint32_t disturbances; /* compute: what the operating system did meanwhile, as
                              program/ops/disturbance.h packs it; 0: nothing, or not known */
    uint64_t counters[WF_COUNTERS_MAX];
};

struct wf_op_info {
    const char *name;
    enum wf_op_family family;
    uint8_t detail;
    bool returns_request;
};

/* The properties of a kind, which is below WF_OP_KINDS. */
const struct wf_op_info *wf_op_info(enum wf_op_kind kind);

/* Whether ops of this kind use the member `reduction`. */
bool wf_op_reduces(enum wf_op_kind kind);

/* The name of a kind; never null. */
const char *wf_op_name(enum wf_op_kind kind);

/* The kind of a call of MPI: MPI_Comm_dup is WF_OP_COMM_DUP. WF_OP_CALL if there is none. */
enum wf_op_kind wf_op_of_call(const char *name);

/* The request at a place in the set of a wait, test or start; the request itself, if that is
 * no set. */
static inline uint32_t wf_op_request_at(const struct wf_op *op, uint32_t i)
{
    return wf_op_info(op->kind)->detail != 0 && op->requests != NULL ? op->requests[i]
                                                                     : op->request + i;
}
