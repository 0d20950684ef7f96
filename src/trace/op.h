/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_OP_H
#define WF_TRACE_OP_H

/*
 * The op model: what one rank of a program does next, whoever says so. Generators, trace
 * readers and running programs all speak it, and replay understands nothing else.
 *
 * Collectives are recorded as what the program called; which messages that means is decided
 * when they are simulated.
 */

#include <stdint.h>

/* One row per kind: the enumerator and its name in listings. */
#define WF_OP_MAP(X)          \
    X(COMPUTE, "compute")     \
    X(SEND, "send")           \
    X(RECV, "recv")           \
    X(ISEND, "isend")         \
    X(IRECV, "irecv")         \
    X(WAIT, "wait")           \
    X(WAITALL, "waitall")     \
    X(BARRIER, "barrier")     \
    X(ALLREDUCE, "allreduce") \
    X(MARKER, "marker")       \
    X(FINALIZE, "finalize")

enum wf_op_kind {
#define X(name, text) WF_OP_##name,
    WF_OP_MAP(X)
#undef X
        WF_OP_KINDS,
};

/* The communicator of all ranks. */
enum { WF_COMM_WORLD = 0 };

/* Members that a kind does not list are ignored. */
struct wf_op {
    enum wf_op_kind kind;
    uint32_t peer;    /* send, recv, isend, irecv: a rank of `comm` */
    int32_t tag;      /* likewise, not negative; marker: its number */
    uint32_t comm;    /* likewise, and collectives */
    uint32_t request; /* isend, irecv: its new number; wait: which; waitall: the first of... */
    uint32_t count;   /* ...so many consecutive numbers, those not in use counting as done */
    uint64_t bytes;   /* send, recv, isend, irecv; allreduce: of each rank's contribution */
    int64_t duration; /* compute: picoseconds, not negative */
};

/* The name of a kind; never null. */
const char *wf_op_name(enum wf_op_kind kind);

#endif
