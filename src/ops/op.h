/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_OP_H
#define WF_OPS_OP_H

/*
 * The op model: what one rank of a program does next, whoever says so. Generators, trace
 * readers and running programs all speak it, and replay understands nothing else.
 *
 * Collectives are recorded as what the program called; which messages that means is decided
 * when they are simulated. Where the outcome of a call was a matter of timing (a wildcard
 * receive, Waitany, Test), an op holds what was asked and, if it was recorded, what came of it.
 */

#include "ops/op_kinds.h"
#include "ops/reduction.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WF_COMM_WORLD = 0, /* the communicator of all ranks */
    WF_ANY_TAG = -1,
    WF_COUNTERS_MAX = 4,
};
#define WF_ANY_SOURCE UINT32_C(0xffffffff)
#define WF_PROC_NULL \
    UINT32_C(0xfffffffe)                    /* a peer that nothing is sent to or received from \
                                             */
#define WF_REQUEST_MAX UINT32_C(0xffffff00) /* numbers of requests are below */

/*
 * Members that a kind does not list are ignored and may hold anything. Pointers belong to the
 * source and are valid until its next op of the same rank is asked for.
 *
 * Numbers of requests are the source's choice, best small ones used again. A request that is in
 * use must not be made again; one that is not in use counts as done when it is waited for. A
 * trace names none that was never made (ops/created.h); a generator may. A set of requests is
 * `requests[0..count-1]`, or if that is null the numbers `request` to `request + count - 1`.
 */
struct wf_op {
    enum wf_op_kind kind;
    uint32_t peer;    /* send, recv, probe, one-sided, sendrecv (the send): a rank of `comm` */
    int32_t tag;      /* likewise, not negative; markers and call: number of the name */
    uint32_t comm;    /* likewise, and collectives; comm: the parent */
    uint32_t request; /* what returns at once: its new number; wait, test, start, free: which */
    uint32_t count;   /* ...of a set */
    uint32_t root;    /* collectives with a root */
    uint32_t reduction; /* collectives that reduce, accumulate: enum wf_reduction */
    uint32_t new_comm;  /* comm: the communicator that is made */
    uint64_t bytes;     /* send, recv (room), one-sided; collectives: as coll/coll.h says;
                           region_begin: what the formula of the region calls n */
    int64_t duration;   /* compute: picoseconds, not negative */

    uint32_t recv_peer; /* sendrecv: the receive */
    int32_t recv_tag;
    uint64_t recv_bytes;

    /* What came of it, if that was `recorded`: the source and tag that a recv, irecv, sendrecv
     * or probe matched (of an irecv too, although it is known only later); of a test and iprobe
     * 0 (nothing) or 1; of waitany and testany the place in the set that was complete, or the
     * set's size if none was; of waitsome and testsome how many of `outcomes` there are, which
     * are places in the set. */
    bool recorded;
    uint32_t matched_peer;
    int32_t matched_tag;
    uint32_t outcome;

    const uint32_t *requests, *outcomes;
    const uint64_t *counts, *recv_counts;   /* collectives: as coll/coll.h says */
    const uint32_t *sources, *destinations; /* neighbour collectives: ranks of `comm` */
    uint32_t n_sources, n_destinations;

    uint32_t n_counters; /* compute: what was counted, in the order of the source's names */
    uint64_t counters[WF_COUNTERS_MAX];
};

struct wf_op_info {
    const char *name;
    enum wf_op_family family;
    uint8_t detail;
    bool returns_request;
};

/* What is known of a kind below WF_OP_KINDS. */
const struct wf_op_info *wf_op_info(enum wf_op_kind kind);

/* Whether the member `reduction` of this kind means something. */
bool wf_op_reduces(enum wf_op_kind kind);

/* The name of a kind; never null. */
const char *wf_op_name(enum wf_op_kind kind);

/* The kind of a call of MPI: MPI_Comm_dup is WF_OP_COMM_DUP. WF_OP_CALL if there is none. */
enum wf_op_kind wf_op_of_call(const char *name);

#endif
