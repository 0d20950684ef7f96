/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The index of a queue of receives or messages that is searched far (model/ranks/match.h).
 *
 * A key has one of four forms, according to its wildcards. Each form has a tree that leads
 * from a key to the entries of the queue with this key, in order. A receive is entered with
 * its own key. A message is entered with its own key, and with the keys of wildcard receives
 * that could match it. Only wildcard forms that some receive has used are kept, so programs
 * without wildcards do not pay for them.
 *
 * The trees are tries over the hash of the key with 14 branches at each level. They grow and
 * shrink by one cell at a time: no operation takes long, and an empty index is one cell.
 */

#include "model/ranks/match.h"

enum {
    WF_MATCH_OPEN_SOURCE = 1,
    WF_MATCH_OPEN_TAG = 2,
    WF_MATCH_FORMS = 4, /* a form is a sum of the values above */
};

/* The place of an entry in the tree of one form. The entries with the same key form a ring; the
 * tree leads to the first of them. */
struct wf_match_place {
    uint32_t up;         /* first entry: the tree cell above it; other entries: 0 */
    uint32_t next, prev; /* nodes of the ring; 0 if the entry is not in this tree */
};

/* The index's cell for an entry of the queue. */
struct wf_match_node {
    uint32_t cell;
    uint32_t n_below; /* 0: it is a leaf in every tree */
    uint32_t before;  /* the cell before it in the queue, 0 at the head */
    uint32_t order;   /* grows along the queue, with gaps */
    struct wf_match_place at[WF_MATCH_FORMS];
};

/* Returns the cell of an empty index. */
uint32_t wf_match_index_new(struct wf_ctx *ctx);

/* Enters the last cell of the queue, which follows `before` (0 if it is the only one). The cell
 * and those before it are linked. */
void wf_match_index_add(struct wf_ctx *ctx, uint32_t index, uint32_t cell, uint32_t before);

/* The cell before this one in the queue, or 0. */
uint32_t wf_match_index_before(struct wf_ctx *ctx, uint32_t cell);

/* Removes a cell, which is still linked to the next one. Returns how many are left. */
uint32_t wf_match_index_remove(struct wf_ctx *ctx, uint32_t index, uint32_t cell);

/* The first receive in `queue` that fits a message with this key, or 0. */
uint32_t wf_match_index_receive(struct wf_ctx *ctx, const struct wf_match_queue *queue,
                                const struct wf_match_key *key);

/* The first message in `queue` that fits a receive with this key, or 0. */
uint32_t wf_match_index_message(struct wf_ctx *ctx, const struct wf_match_queue *queue,
                                const struct wf_match_key *key);
