/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * For writers of formats that know less of MPI than weft: standard sends and receives in the
 * world, waits for single requests. What such a format cannot hold is counted in `losses`, which
 * may be null.
 */

#include "base/map.h"
#include "program/ops/source.h"
#include "program/trace/kit/completion.h"

/* A message in the world. */
struct wf_basic_message {
    uint32_t peer; /* or WF_ANY_SOURCE, WF_PROC_NULL */
    int32_t tag;   /* or WF_ANY_TAG */
    uint64_t bytes;
    bool receives;
};

/* The message of a send or receive, persistent or not; of a sendrecv, whose `group` is the
 * communicator too, the one that `receives` asks for. A wildcard receive becomes what it
 * matched, if that was recorded. */
struct wf_basic_message wf_basic_message(const struct wf_op *op, bool receives,
                                         const struct wf_group *group,
                                         struct wf_losses *losses);

/* Whether an op receives: a receive or a persistent one. */
bool wf_basic_receives(enum wf_op_kind kind);

/* The peer as formats write it: -1 is any. */
static inline int64_t wf_basic_peer(uint32_t peer)
{
    return peer == WF_ANY_SOURCE ? -1 : (int64_t)peer;
}

/* Counts an op that is left out: of any family that is not written. */
void wf_basic_left_out(enum wf_op_kind kind, struct wf_losses *losses);

/* The requests of one rank, by their numbers: records of `size` bytes that the writer defines.
 * A struct that is zeroed but for `size` is empty. */
struct wf_basic_requests {
    size_t size;
    struct wf_map places;
    unsigned char *items;
    size_t n, capacity;
};

void wf_basic_requests_fini(struct wf_basic_requests *requests);
/* The record of a number, or null; valid until the next is made. */
void *wf_basic_requests_find(const struct wf_basic_requests *requests, uint32_t number);
/* Likewise, zeroed, and added if it is new. */
void *wf_basic_requests_make(struct wf_basic_requests *requests, uint32_t number);
