/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* An event of an OTF2 archive, without the library's types. */

#include <stdint.h>

/* One row per kind: the enumerator, and its name in listings. */
#define WF_OTF2_EVENT_MAP(X)                              \
    X(ENTER, "ENTER")                                     \
    X(LEAVE, "LEAVE")                                     \
    X(PROGRAM_BEGIN, "PROGRAM_BEGIN")                     \
    X(PROGRAM_END, "PROGRAM_END")                         \
    X(ON_OFF, "MEASUREMENT_ON_OFF")                       \
    X(FLUSH, "BUFFER_FLUSH")                              \
    X(SEND, "MPI_SEND")                                   \
    X(ISEND, "MPI_ISEND")                                 \
    X(ISEND_COMPLETE, "MPI_ISEND_COMPLETE")               \
    X(IRECV_REQUEST, "MPI_IRECV_REQUEST")                 \
    X(RECV, "MPI_RECV")                                   \
    X(IRECV, "MPI_IRECV")                                 \
    X(REQUEST_TEST, "MPI_REQUEST_TEST")                   \
    X(REQUEST_CANCELLED, "MPI_REQUEST_CANCELLED")         \
    X(COLL_BEGIN, "MPI_COLLECTIVE_BEGIN")                 \
    X(COLL_END, "COLL_END")                               \
    X(ICOLL_REQUEST, "NON_BLOCKING_COLLECTIVE_REQUEST")   \
    X(ICOLL_COMPLETE, "NON_BLOCKING_COLLECTIVE_COMPLETE") \
    X(METRIC, "METRIC")                                   \
    X(RMA_PUT, "RMA_PUT")                                 \
    X(RMA_GET, "RMA_GET")                                 \
    X(RMA_COMPLETE, "RMA_OP_COMPLETE")                    \
    X(OTHER, "others")

enum wf_otf2_kind {
#define X(name, text) WF_OTF2_##name,
    WF_OTF2_EVENT_MAP(X)
#undef X
        WF_OTF2_KINDS,
};

struct wf_otf2_event {
    enum wf_otf2_kind kind;
    uint64_t time;   /* ticks */
    uint64_t number; /* of the event in its location */
    uint32_t region; /* enter, leave; collectives: which, as OTF2 numbers them; on_off: 1, on;
                        metrics: the number of their class, WF_OTF2_NONE if none of it is used */
    uint32_t comm;
    uint32_t peer; /* a rank of the communicator; collectives: the root */
    uint32_t tag;
    uint64_t bytes;    /* collectives: sent; flush: its end */
    uint64_t received; /* collectives; metrics: the sum of those that are used, picoseconds */
    uint64_t request;  /* one-sided operations: the number that their completion has, too */
};
