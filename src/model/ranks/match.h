/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Matches receives and messages by (communicator context, source, tag), in order.
 *
 * Messages and receives of different contexts never match. A receive may have a wildcard as
 * source or tag. A message goes to the first posted receive that fits; a receive gets the
 * first message that fits.
 *
 * Receives and messages are cells of the engine (model/ranks/request.h) that are linked here while
 * they wait. Queues are searched from their beginning. A queue that is searched far gets an index
 * (model/ranks/match_index.h), so that a match takes about the same time for any queue length. The
 * index lives in cells too, which must have at least WF_MATCH_CELL_SIZE bytes.
 */

#include "engine/model.h"

enum { WF_MATCH_CELL_SIZE = 64 };

#define WF_MATCH_ANY_SOURCE UINT32_C(0xffffffff)
#define WF_MATCH_ANY_TAG    INT32_C(-1)

struct wf_match_key {
    uint32_t context;
    uint32_t src;
    int32_t tag;
};

/* The beginning of a cell that can be matched. The queue sets the members after the key;
 * they are undefined once the cell has left the queue. */
struct wf_match_link {
    struct wf_match_key key;
    uint32_t next; /* cell in the queue; 0 at the end */
    uint32_t node; /* cell in the index, while the queue has one */
};

/* The receives without a message, or the messages without a receive. */
struct wf_match_queue {
    uint32_t head, tail; /* cells; 0 if it is empty */
    uint32_t index;      /* cell of the index, or 0 */
};

/* Part of a rank's state; all zero at the start. The caller has announced it (wf_touch()). */
struct wf_match {
    struct wf_match_queue posted, unexpected;
};

/* Posts the receive in `cell`, whose key is set. Returns the message that it matches, after
 * removing it from its queue; or 0, and the receive waits. */
uint32_t wf_match_post(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell);

/* A message arrives. Returns the receive that it matches, after removing it from its queue;
 * or 0. */
uint32_t wf_match_claim(struct wf_ctx *ctx, struct wf_match *match,
                        const struct wf_match_key *key);
/* A message that found no receive waits in `cell`. */
void wf_match_keep(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell);

/* The message that a receive with this key would match now, or 0. It stays in its queue,
 * which may get an index. */
uint32_t wf_match_peek(struct wf_ctx *ctx, struct wf_match *match,
                       const struct wf_match_key *key);

/* The number of cells in a queue. Walks along it. */
uint32_t wf_match_length(struct wf_ctx *ctx, const struct wf_match_queue *queue);

/* Removes a receive from the queue, where it must be. */
void wf_match_cancel(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell);
