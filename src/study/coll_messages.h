/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * All messages of one collective call, for `weft coll show`.
 *
 * A round is the time of one message. A rank sends one message in a round and receives any
 * number. A rank that waits for a message goes on in the round after it was sent. So the number
 * of rounds is the time of the algorithm, in messages, if every rank sends one at a time.
 */

#include "coll/coll.h"

struct wf_study_message {
    uint32_t round; /* from 1 */
    uint32_t from, to;
    struct wf_coll_slots slots; /* of the sender */
    uint64_t bytes;
    bool taken;    /* received */
    uint32_t next; /* the next message to the same rank, as its place plus 1; 0 is none */
};

struct wf_study_messages {
    struct wf_study_message *sent; /* by round, and in a round by sender */
    uint32_t n, n_rounds;
    uint32_t n_slots;                  /* of a rank */
    uint64_t bytes;                    /* in total; saturates at UINT64_MAX */
    uint64_t most_sent, most_received; /* bytes of the rank with most */
};

enum { WF_STUDY_MESSAGES_RANKS = 1024 }; /* at most */

/* The call of `args`, whose rank does not matter, by an algorithm that applies; counts are
 * null. The neighbours of a rank are those above and below it, on a ring. The caller owns what
 * is in *out. */
void wf_study_messages_init(struct wf_study_messages *out, const struct wf_coll_ops *ops,
                            const struct wf_coll_args *args);
void wf_study_messages_fini(struct wf_study_messages *messages);
