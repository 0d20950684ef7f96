/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_MATCH_H
#define WF_RANKS_MATCH_H

/*
 * Which receive gets which message: by (context, source, tag), in order.
 *
 * Contexts keep apart what must never meet. A receive may leave source and tag open; a message
 * has both. Of several receives that fit a message it goes to the one posted first, of several
 * messages that fit a receive it gets the one that came first.
 *
 * Receives and messages are cells of the engine (ranks/rank.h says what else is in them), linked
 * here while they wait. Short queues are searched from their beginning; long ones have an
 * index (ranks/match_index.h), so that a match takes about the same time however many wait. The
 * index lives in cells too, which must have at least WF_MATCH_CELL_SIZE bytes.
 */

#include "engine/engine.h"

enum { WF_MATCH_CELL_SIZE = 64 };

#define WF_MATCH_ANY_SOURCE UINT32_C(0xffffffff)
#define WF_MATCH_ANY_TAG    INT32_C(-1)

struct wf_match_key {
    uint32_t context;
    uint32_t src;
    int32_t tag;
};

/* The beginning of a cell that can be matched. What follows the key is set by the queue, and
 * means nothing once the cell waits no more. */
struct wf_match_link {
    struct wf_match_key key;
    uint32_t next; /* cell of the queue, in order; 0 at the end */
    uint32_t node; /* of the index, while the queue has one */
};

/* One side: the receives without a message, or the messages without a receive. */
struct wf_match_queue {
    uint32_t head, tail; /* cells; 0 if it is empty */
    uint32_t length;
    uint32_t index; /* cell of the index; 0 while the queue is short */
};

/* Part of a rank's state; zeroed at the start. The caller has announced it (wf_touch()). */
struct wf_match {
    struct wf_match_queue posted, unexpected;
};

/* Posts the receive in `cell`, whose key is set. Returns the message it gets, which waits no
 * more, or 0: then the receive waits. */
uint32_t wf_match_post(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell);

/* Takes in the message in `cell`, whose key is set. Returns the receive that gets it, which
 * waits no more, or 0: then the message waits. */
uint32_t wf_match_arrive(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell);

/* The same in two steps, for a message that needs a cell only if it has to wait: the receive
 * that gets a message with this key, or 0; and a message that found none. */
uint32_t wf_match_claim(struct wf_ctx *ctx, struct wf_match *match,
                        const struct wf_match_key *key);
void wf_match_keep(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell);

/* The message that a receive with this key would get now; 0 if none. It goes on waiting. */
uint32_t wf_match_peek(struct wf_ctx *ctx, const struct wf_match *match,
                       const struct wf_match_key *key);

/* Takes a receive that waits out of the queue; it must be there. */
void wf_match_cancel(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell);

#endif
