/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Requests of the program that are several requests of the simulation: MPI_Isendrecv(), and
 * partitioned communication. The request is complete when all its subrequests are, of its last
 * stage. Waits and tests ask the simulation for the open subrequests of the current stage.
 */

#include "mpi/lib/p2p/request.h"

struct wl_subrequest {
    uint32_t number; /* in ops */
    bool posted;     /* of a partitioned send: since MPI_Start() */
    bool open;       /* posted, and not complete */
    bool receives;
    struct wl_recv recv; /* linked into the list of its rank: the subrequest must not move */
    MPI_Status status;
};

struct wl_compound {
    struct wl_subrequest *subs; /* of the current stage */
    uint32_t n;
    uint32_t n_open;
    uint32_t n_missing; /* that the program has still to post, with MPI_Pready() */
    int code;           /* the first error */
    /* Null, or: begins the next stage. False if there is none. */
    bool (*advance)(struct wl_rank *rank, struct wl_request *request);
    /* Null, or: all is complete. Delivers the data and sets the status of the request. */
    void (*finish)(struct wl_rank *rank, struct wl_request *request);
    /* Null, or: of a persistent request; MPI_Start(), and what is freed with the request. */
    void (*start)(struct wl_rank *rank, struct wl_request *request);
    void (*release)(struct wl_rank *rank, struct wl_request *request);
};

/* Posts a message or a receive of the library as a subrequest. */
void wl_sub_post(struct wl_rank *rank, struct wl_request *request, struct wl_subrequest *sub,
                 struct wf_op *op);

/* The simulation has completed subrequest `number` of the request. Returns whether the whole
 * request is complete; then only wl_compound_finish() is left to do. */
bool wl_compound_settle(struct wl_rank *rank, struct wl_request *request, uint32_t number);

/* Waits for the current stage, or tests it. True if the request is complete. */
bool wl_compound_wait(struct wl_rank *rank, struct wl_request *request);
bool wl_compound_test(struct wl_rank *rank, struct wl_request *request);
/* Of a request in a stage before the last one: likewise, until it is in the last. */
bool wl_compound_reach_last(struct wl_rank *rank, struct wl_request *request, bool waits);

/* The request is complete: fills in request->status. Returns its error code. */
int wl_compound_finish(struct wl_rank *rank, struct wl_request *request);
void wl_compound_free(struct wl_rank *rank, struct wl_request *request);
