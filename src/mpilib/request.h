/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_REQUEST_H
#define WF_MPILIB_REQUEST_H

/*
 * Requests, and receives with or without one. A receive stays in its rank's list from when it
 * is posted until its data has been delivered: which message it gets depends on those before
 * it (mpilib/port.h, mpilib/message_queue.h).
 */

#include "mpilib/communicator.h"
#include "mpilib/datatype.h"

struct wl_recv {
    struct wl_recv *next, *before;
    struct wl_stream stream; /* what is open of it is not known until it has met its message */
    bool open_source, open_tag, met;
    uint32_t number; /* of its request; WF_REQUEST_MAX if it has none */
    MPI_Comm comm;   /* 0: none of the program's */
    void *buffer;
    size_t count;
    const struct wl_type *type;
};

enum wl_request_kind {
    WL_REQUEST_SEND,
    WL_REQUEST_RECV,
    WL_REQUEST_COLL,
    WL_REQUEST_GENERAL, /* the program completes it */
    WL_REQUEST_DONE,    /* complete from the start, with a status */
};

struct wl_request {
    enum wl_request_kind kind;
    uint32_t number;         /* in ops */
    bool active;             /* of a persistent one: started; of others always */
    bool persistent, nobody; /* nobody: the other side is MPI_PROC_NULL */
    struct wl_recv recv;
    bool cancelled;
    struct wl_again *again; /* of a persistent one: what is started */
    MPI_Status status;      /* of one that is complete from the start */
    /* Of a collective: delivers its data and leaves; `own` is freed behind it. */
    void (*deliver)(struct wl_rank *rank, void *own);
    void *own;
};

/* What is outside of the world of ranks and tags: what the program sends on a communicator, and
 * what is sent on its behalf. */
#define WL_CONTEXT(comm)        (2 * (comm)->id)
#define WL_HIDDEN_CONTEXT(comm) (2 * (comm)->id + 1)

void wl_recv_post(struct wl_rank *rank, struct wl_recv *recv);
/* Takes the message of a complete receive, puts its data where it belongs and says what it was.
 * The receive is no longer posted. Returns MPI_SUCCESS or an error for the program. */
int wl_recv_consume(struct wl_rank *rank, struct wl_recv *recv, MPI_Status *status);
/* It will never be complete. */
void wl_recv_withdraw(struct wl_rank *rank, struct wl_recv *recv);
/* Notes what receives have met. */
void wl_recv_matched(struct wl_rank *rank, const struct wf_port_match *match);
/* How many posted receives come before a message that is in the box without a receive. */
uint32_t wl_recv_before(const struct wl_rank *rank, const struct wl_stream *stream);

struct wl_again; /* persistent.c */

/* Makes it go again. */
int wl_request_start(struct wl_rank *rank, struct wl_request *request);
void wl_again_free(struct wl_rank *rank, enum wl_request_kind kind, struct wl_again *again);
/* Gives up a request and its number. */
void wl_request_drop(struct wl_rank *rank, MPI_Request *handle);
/* The request of a handle that is in use, started or not; the program ends if there is none. */
struct wl_request *wl_request_of(struct wl_rank *rank, MPI_Request handle,
                                 const char *function);

/* A new request with a number of its own, and its handle. */
struct wl_request *wl_request_new(struct wl_rank *rank, enum wl_request_kind kind,
                                  MPI_Request *handle);

void wl_status_empty(MPI_Status *status);
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

#endif
