/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPI_MATCH_H
#define WF_MPI_MATCH_H

/*
 * Matching of messages and receives, by (context, source, tag), in order.
 *
 * Contexts keep apart what must never meet: each communicator has one for the program's
 * messages and one for those of its collectives.
 */

#include "mpi/rank.h"

/* A receive, or a message that waits for one: a cell of the engine. */
struct wf_receive {
    uint32_t next; /* cell, or 0 */
    uint32_t request;
    uint32_t src; /* rank */
    int32_t tag;
    uint32_t context;
    uint32_t reserved;
    uint64_t bytes;
    int64_t at; /* arrival of the last byte */
};

struct wf_match_key {
    uint32_t src;
    int32_t tag;
    uint32_t context;
};

static inline uint32_t wf_match_context(uint32_t comm, bool collective)
{
    return 2 * comm + (collective ? 1 : 0);
}

/* Posts a receive. It may find its message waiting. */
void wf_match_post(struct wf_ctx *ctx, struct wf_rank *rank, const struct wf_match_key *key,
                   uint64_t bytes, uint32_t request);

/* Takes in a message. True if a receive was posted for it; *request is then its number. */
bool wf_match_arrive(struct wf_ctx *ctx, struct wf_rank *rank, const struct wf_match_key *key,
                     uint64_t bytes, int64_t at, uint32_t *request);

/* How many receives with numbers first .. first+count-1 have no message yet. */
uint32_t wf_match_missing(struct wf_ctx *ctx, const struct wf_rank *rank, uint32_t first,
                          uint32_t count);

/* Removes the receives with these numbers that have their message, one a call, in the order of
 * arrival: true and *at, or false when there are no more. */
bool wf_match_take(struct wf_ctx *ctx, struct wf_rank *rank, uint32_t first, uint32_t count,
                   int64_t *at);

/* The first posted receive with one of these numbers; null if there is none. */
const struct wf_receive *wf_match_first_missing(struct wf_ctx *ctx, const struct wf_rank *rank,
                                                uint32_t first, uint32_t count);

#endif
