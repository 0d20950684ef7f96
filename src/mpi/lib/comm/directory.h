/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What rank 0 keeps for all ranks: published names, open ports, who waits at a port, and spare ranks. A rank
 * asks it with a message and gets an answer back, in the order of simulated time.
 */

#include "mpi/lib/library.h"

enum wl_ask {
    WL_ASK_PUBLISH,
    WL_ASK_LOOKUP,
    WL_ASK_UNPUBLISH,
    WL_ASK_OPEN, /* the answer is the new port */
    WL_ASK_CLOSE,
    WL_ASK_ACCEPT,
    WL_ASK_CONNECT,  /* the same call asks again until it has met somebody */
    WL_ASK_WITHDRAW, /* the last time: if it has met nobody, it no longer waits */
    WL_ASK_SPARE,    /* for spare ranks, `port` of them: `met` is the first, or MPI_ERR_SPAWN */
    WL_ASK_GO,       /* it starts no other ranks any more; `waits` if others do. Otherwise `met`
                        is the first spare rank that nobody will start */
};

struct wl_question {
    enum wl_ask what;
    uint32_t rank, ticket; /* who asks; the ticket tells its calls apart */
    uint32_t port;
    /* Sent with questions about names only: */
    char service[MPI_MAX_INFO_VAL], name[MPI_MAX_PORT_NAME];
};

struct wl_answer {
    int code;     /* MPI_SUCCESS or an error class */
    bool waits;   /* the rank has met nobody yet */
    bool expects; /* the rank that it has met waits for a message */
    uint32_t met; /* whom it has met: a rank of the program */
    uint32_t port;
    char name[MPI_MAX_PORT_NAME]; /* sent with answers about names only */
};

/* Asks rank 0. The question's rank is set. */
void wl_directory_ask(struct wl_rank *rank, struct wl_question *question,
                      struct wl_answer *answer);

/* At rank 0: answers a question. Both need not be aligned. */
void wl_directory_reply(struct wl_rank *rank, const unsigned char *question,
                        unsigned char *answer);

void wl_directory_free(struct wl_rank *rank);
