/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Requests, and receives with or without a request. A receive stays in its rank's list from
 * when it is posted until its data has been delivered, because which message it gets depends on
 * the receives before it (mpi/lib/p2p/message_queue.h).
 */

#include "mpi/lib/comm/communicator.h"
#include "mpi/lib/type/datatype.h"

struct wl_recv {
    struct wl_recv *next, *before;
    /* Which messages it takes. A wildcard is filled in when the simulation has matched it. */
    struct wl_stream stream;
    bool any_source, any_tag, matched;
    uint32_t number; /* of its request in ops; WF_REQUEST_MAX if it has none */
    MPI_Comm comm;   /* 0: a receive of the library itself */
    void *buffer;
    size_t count;
    const struct wl_type *type;
    bool lands;                /* senders may write to the buffer (message_loan.h) */
    struct wl_message *landed; /* whose data was, or is being, written there; or null */
    struct wl_message *taken;  /* from the queue, since a later receive is complete; or null */
    struct wl_caller posted;   /* the call that has posted it */
    /* Of checker/orders.h: its number among the receives of the rank; and of one of any source, or null. */
    uint32_t order;
    struct wl_order_decision *decision;
};

enum wl_request_kind {
    WL_REQUEST_SEND,
    WL_REQUEST_RECV,
    WL_REQUEST_COLL,
    WL_REQUEST_COMPOUND,    /* several of the simulation: request_compound.h */
    WL_REQUEST_GENERALIZED, /* the program completes it */
    WL_REQUEST_DONE,        /* complete from the start, with a status */
};

struct wl_request {
    enum wl_request_kind kind;
    uint32_t number; /* in ops */
    bool active;     /* of a persistent request: started; of others always */
    bool proc_null;  /* the other side is MPI_PROC_NULL, or the receive was cancelled */
    bool cancelled;
    bool concluded; /* MPI_Request_get_status() has completed it: only `status` is left */
    struct wl_caller posted; /* the call that has created it */
    struct wl_use *uses;     /* of --check: its buffers; null if it is not active */
    struct wl_recv recv;
    struct wl_message *loan; /* of a send whose message uses the program's buffer; or null */
    struct wl_persistent *persistent; /* or null; request_persistent.c */
    struct wl_compound *compound;     /* of a compound request; else null */
    MPI_Status status;                /* of a request that is complete from the start */
    /* Of a collective: delivers the data, and returns an error code. `own` is freed with the
     * request. */
    int (*deliver)(struct wl_rank *rank, void *own);
    void *own;
};

/* Communicator contexts of messages: what the program sends, and what the library itself sends
 * on the same communicator. */
#define WL_CONTEXT(comm)          (2 * (comm)->id)
#define WL_INTERNAL_CONTEXT(comm) (2 * (comm)->id + 1)

void wl_recv_post(struct wl_rank *rank, struct wl_recv *recv);
/* The simulation says that the receive is complete: takes its message, delivers the data, fills
 * in the status and removes the receive from the list. Returns MPI_SUCCESS or an error for the
 * program. */
int wl_recv_complete(struct wl_rank *rank, struct wl_recv *recv, MPI_Status *status);
/* Removes a receive that will never be complete. */
void wl_recv_cancel(struct wl_rank *rank, struct wl_recv *recv);
/* A receive with a wildcard has been matched. */
void wl_recv_set_match(struct wl_rank *rank, const struct wf_port_match *match);
/* How many posted receives get messages of the stream before one that is posted next. */
uint32_t wl_recv_count_before(const struct wl_rank *rank, const struct wl_stream *stream);
/* The posted receive that gets the message of the stream with `place` others before it; null if
 * there is none, or if one with a wildcard might get that message. */
struct wl_recv *wl_recv_at(const struct wl_rank *rank, const struct wl_stream *stream,
                           uint32_t place);
/* The rank ends: its receives are not completed any more. */
void wl_recvs_forget(struct wl_rank *rank);

/* An active request with a number of its own, and its handle. */
struct wl_request *wl_request_new(struct wl_rank *rank, enum wl_request_kind kind,
                                  MPI_Request *handle);
/* The request of a handle; the program ends if there is none. */
struct wl_request *wl_request_of(struct wl_rank *rank, MPI_Request handle);
/* Frees the request and its number; the handle becomes MPI_REQUEST_NULL. */
void wl_request_free(struct wl_rank *rank, MPI_Request *handle);
/* An inactive request, which MPI_Start() starts. */
struct wl_request *wl_persistent_new(struct wl_rank *rank, enum wl_request_kind kind,
                                     MPI_Request *handle);
void wl_persistent_free(struct wl_rank *rank, struct wl_request *request);

/* Generalized requests, which the program completes (MPI-3.1, 12.2). */
bool wl_grequest_is_complete(const struct wl_request *request);
/* Likewise, but other threads of the rank go on if it is not. */
bool wl_grequest_test(struct wl_rank *rank, const struct wl_request *request);
/* Asks the program for the status and lets it free its state. Returns the program's code. */
int wl_grequest_finish(struct wl_request *request);
int wl_grequest_cancel(const struct wl_request *request);

/* Both do nothing with MPI_STATUS_IGNORE. */
void wl_status_set_empty(MPI_Status *status);
void wl_status_set(MPI_Status *status, int source, int tag, size_t bytes);

static inline void wl_status_set_bytes(MPI_Status *status, uint64_t bytes)
{
    status->weft_bytes[0] = (unsigned)bytes;
    status->weft_bytes[1] = (unsigned)(bytes >> 32);
}

static inline uint64_t wl_status_bytes(const MPI_Status *status)
{
    return (uint64_t)status->weft_bytes[1] << 32 | status->weft_bytes[0];
}
