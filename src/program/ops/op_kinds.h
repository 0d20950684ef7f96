/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The kinds of ops, their families, and the operations of reductions: for program/ops/op.h. */

#include <stdint.h>

/* Ops of a family are treated alike. */
enum wf_op_family {
    WF_FAMILY_COMPUTE, /* detail 1: sleeps, which no processor makes faster or slower */
    WF_FAMILY_SEND,    /* detail: enum wf_send_mode */
    WF_FAMILY_RECV,
    WF_FAMILY_SENDRECV,
    WF_FAMILY_PROBE,
    WF_FAMILY_PERSISTENT, /* creates a request that is started later; detail: mode, or recv */
    WF_FAMILY_START,
    WF_FAMILY_FREE,       /* a request that no op waits for */
    WF_FAMILY_WAIT,       /* detail: enum wf_wait_for */
    WF_FAMILY_TEST,       /* likewise */
    WF_FAMILY_COLLECTIVE, /* detail: enum wf_coll_kind (model/coll/coll.h) */
    WF_FAMILY_COMM,       /* creates a communicator: a collective of its parent */
    WF_FAMILY_ONESIDED,   /* put, get, accumulate */
    WF_FAMILY_EPOCH,      /* synchronises a window; detail 0: all its ranks, 1: completes what
                             the rank itself began (flush, unlock, complete) */
    WF_FAMILY_MARKER,
    WF_FAMILY_CALL, /* any other call; the compute op before it holds its time */
    WF_FAMILY_FILE, /* detail: enum wf_file_what */
};

enum wf_send_mode { WF_SEND_STANDARD, WF_SEND_SYNCHRONOUS, WF_SEND_BUFFERED, WF_SEND_READY };
enum { WF_PERSISTENT_RECV = 4 }; /* after the modes */
enum wf_file_what { WF_FILE_OPEN, WF_FILE_READ, WF_FILE_WRITE, WF_FILE_SYNC, WF_FILE_CLOSE };
enum wf_wait_for { WF_WAIT_ONE, WF_WAIT_ALL, WF_WAIT_ANY, WF_WAIT_SOME };

/* One row per kind: the enumerator, the name in listings (MPI's without MPI_, in lower case),
 * the family, the detail, and whether the call returns at once with a request. The numbers are
 * in trace files, so add rows at the end only. Details of collectives are numbers of enum
 * wf_coll_kind. */
#define WF_OP_MAP(X)                                                     \
    X(COMPUTE, "compute", COMPUTE, 0, 0)                                 \
    X(SEND, "send", SEND, 0, 0)                                          \
    X(SSEND, "ssend", SEND, 1, 0)                                        \
    X(BSEND, "bsend", SEND, 2, 0)                                        \
    X(RSEND, "rsend", SEND, 3, 0)                                        \
    X(ISEND, "isend", SEND, 0, 1)                                        \
    X(ISSEND, "issend", SEND, 1, 1)                                      \
    X(IBSEND, "ibsend", SEND, 2, 1)                                      \
    X(IRSEND, "irsend", SEND, 3, 1)                                      \
    X(RECV, "recv", RECV, 0, 0)                                          \
    X(IRECV, "irecv", RECV, 0, 1)                                        \
    X(SENDRECV, "sendrecv", SENDRECV, 0, 0)                              \
    X(PROBE, "probe", PROBE, 0, 0)                                       \
    X(IPROBE, "iprobe", PROBE, 0, 1)                                     \
    X(SEND_INIT, "send_init", PERSISTENT, 0, 0)                          \
    X(SSEND_INIT, "ssend_init", PERSISTENT, 1, 0)                        \
    X(BSEND_INIT, "bsend_init", PERSISTENT, 2, 0)                        \
    X(RSEND_INIT, "rsend_init", PERSISTENT, 3, 0)                        \
    X(RECV_INIT, "recv_init", PERSISTENT, 4, 0)                          \
    X(START, "start", START, 0, 0)                                       \
    X(STARTALL, "startall", START, 1, 0)                                 \
    X(REQUEST_FREE, "request_free", FREE, 0, 0)                          \
    X(WAIT, "wait", WAIT, 0, 0)                                          \
    X(WAITALL, "waitall", WAIT, 1, 0)                                    \
    X(WAITANY, "waitany", WAIT, 2, 0)                                    \
    X(WAITSOME, "waitsome", WAIT, 3, 0)                                  \
    X(TEST, "test", TEST, 0, 0)                                          \
    X(TESTALL, "testall", TEST, 1, 0)                                    \
    X(TESTANY, "testany", TEST, 2, 0)                                    \
    X(TESTSOME, "testsome", TEST, 3, 0)                                  \
    X(BARRIER, "barrier", COLLECTIVE, 0, 0)                              \
    X(BCAST, "bcast", COLLECTIVE, 1, 0)                                  \
    X(REDUCE, "reduce", COLLECTIVE, 2, 0)                                \
    X(ALLREDUCE, "allreduce", COLLECTIVE, 3, 0)                          \
    X(GATHER, "gather", COLLECTIVE, 4, 0)                                \
    X(GATHERV, "gatherv", COLLECTIVE, 5, 0)                              \
    X(SCATTER, "scatter", COLLECTIVE, 6, 0)                              \
    X(SCATTERV, "scatterv", COLLECTIVE, 7, 0)                            \
    X(ALLGATHER, "allgather", COLLECTIVE, 8, 0)                          \
    X(ALLGATHERV, "allgatherv", COLLECTIVE, 9, 0)                        \
    X(ALLTOALL, "alltoall", COLLECTIVE, 10, 0)                           \
    X(ALLTOALLV, "alltoallv", COLLECTIVE, 11, 0)                         \
    X(REDUCE_SCATTER, "reduce_scatter", COLLECTIVE, 12, 0)               \
    X(REDUCE_SCATTER_BLOCK, "reduce_scatter_block", COLLECTIVE, 13, 0)   \
    X(SCAN, "scan", COLLECTIVE, 14, 0)                                   \
    X(EXSCAN, "exscan", COLLECTIVE, 15, 0)                               \
    X(NEIGHBOR_ALLGATHER, "neighbor_allgather", COLLECTIVE, 16, 0)       \
    X(NEIGHBOR_ALLTOALL, "neighbor_alltoall", COLLECTIVE, 17, 0)         \
    X(ALLTOALLW, "alltoallw", COLLECTIVE, 11, 0)                         \
    X(NEIGHBOR_ALLGATHERV, "neighbor_allgatherv", COLLECTIVE, 16, 0)     \
    X(NEIGHBOR_ALLTOALLV, "neighbor_alltoallv", COLLECTIVE, 17, 0)       \
    X(NEIGHBOR_ALLTOALLW, "neighbor_alltoallw", COLLECTIVE, 17, 0)       \
    X(IBARRIER, "ibarrier", COLLECTIVE, 0, 1)                            \
    X(IBCAST, "ibcast", COLLECTIVE, 1, 1)                                \
    X(IREDUCE, "ireduce", COLLECTIVE, 2, 1)                              \
    X(IALLREDUCE, "iallreduce", COLLECTIVE, 3, 1)                        \
    X(IGATHER, "igather", COLLECTIVE, 4, 1)                              \
    X(IGATHERV, "igatherv", COLLECTIVE, 5, 1)                            \
    X(ISCATTER, "iscatter", COLLECTIVE, 6, 1)                            \
    X(ISCATTERV, "iscatterv", COLLECTIVE, 7, 1)                          \
    X(IALLGATHER, "iallgather", COLLECTIVE, 8, 1)                        \
    X(IALLGATHERV, "iallgatherv", COLLECTIVE, 9, 1)                      \
    X(IALLTOALL, "ialltoall", COLLECTIVE, 10, 1)                         \
    X(IALLTOALLV, "ialltoallv", COLLECTIVE, 11, 1)                       \
    X(IREDUCE_SCATTER, "ireduce_scatter", COLLECTIVE, 12, 1)             \
    X(IREDUCE_SCATTER_BLOCK, "ireduce_scatter_block", COLLECTIVE, 13, 1) \
    X(ISCAN, "iscan", COLLECTIVE, 14, 1)                                 \
    X(IEXSCAN, "iexscan", COLLECTIVE, 15, 1)                             \
    X(INEIGHBOR_ALLGATHER, "ineighbor_allgather", COLLECTIVE, 16, 1)     \
    X(INEIGHBOR_ALLTOALL, "ineighbor_alltoall", COLLECTIVE, 17, 1)       \
    X(IALLTOALLW, "ialltoallw", COLLECTIVE, 11, 1)                       \
    X(INEIGHBOR_ALLGATHERV, "ineighbor_allgatherv", COLLECTIVE, 16, 1)   \
    X(INEIGHBOR_ALLTOALLV, "ineighbor_alltoallv", COLLECTIVE, 17, 1)     \
    X(INEIGHBOR_ALLTOALLW, "ineighbor_alltoallw", COLLECTIVE, 17, 1)     \
    X(COMM_DUP, "comm_dup", COMM, 0, 0)                                  \
    X(COMM_SPLIT, "comm_split", COMM, 0, 0)                              \
    X(COMM_CREATE, "comm_create", COMM, 0, 0)                            \
    X(CART_CREATE, "cart_create", COMM, 0, 0)                            \
    X(GRAPH_CREATE, "graph_create", COMM, 0, 0)                          \
    X(COMM_FREE, "comm_free", CALL, 0, 0)                                \
    X(PUT, "put", ONESIDED, 0, 0)                                        \
    X(GET, "get", ONESIDED, 1, 0)                                        \
    X(ACCUMULATE, "accumulate", ONESIDED, 0, 0)                          \
    X(WIN_CREATE, "win_create", EPOCH, 0, 0)                             \
    X(WIN_FREE, "win_free", EPOCH, 0, 0)                                 \
    X(FENCE, "win_fence", EPOCH, 0, 0)                                   \
    X(REGION_BEGIN, "region_begin", MARKER, 0, 0)                        \
    X(REGION_END, "region_end", MARKER, 1, 0)                            \
    X(ITERATION_BEGIN, "iteration_begin", MARKER, 2, 0)                  \
    X(ITERATION_END, "iteration_end", MARKER, 3, 0)                      \
    X(CALL, "call", CALL, 0, 0)                                          \
    X(INIT, "init", CALL, 0, 0)                                          \
    X(FINALIZE, "finalize", CALL, 0, 0)                                  \
    X(WIN_FLUSH, "win_flush", EPOCH, 1, 0)                               \
    X(CANCEL, "cancel", FREE, 0, 0)                                      \
    X(SLEEP, "sleep", COMPUTE, 1, 0)                                     \
    X(FILE_OPEN, "file_open", FILE, 0, 0)                                \
    X(FILE_READ, "file_read", FILE, 1, 0)                                \
    X(FILE_WRITE, "file_write", FILE, 2, 0)                              \
    X(FILE_SYNC, "file_sync", FILE, 3, 0)                                \
    X(FILE_CLOSE, "file_close", FILE, 4, 0)

enum wf_op_kind {
#define X(name, text, family, detail, returns) WF_OP_##name,
    WF_OP_MAP(X)
#undef X
        WF_OP_KINDS,
};

/* The operation of a reduction. The numbers are in trace files. */
enum wf_reduction {
    WF_REDUCE_UNKNOWN, /* not recorded */
    WF_REDUCE_MAX,
    WF_REDUCE_MIN,
    WF_REDUCE_SUM,
    WF_REDUCE_PROD,
    WF_REDUCE_LAND,
    WF_REDUCE_BAND,
    WF_REDUCE_LOR,
    WF_REDUCE_BOR,
    WF_REDUCE_LXOR,
    WF_REDUCE_BXOR,
    WF_REDUCE_MINLOC,
    WF_REDUCE_MAXLOC,
    WF_REDUCE_REPLACE,
    WF_REDUCE_NO_OP,
    WF_REDUCE_USER, /* defined by the program */
    WF_REDUCTIONS,
};

/* The name of MPI without MPI_, in lower case; never null. */
const char *wf_reduction_name(uint32_t reduction);
