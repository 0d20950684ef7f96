/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * All messages of one collective call, for `weft coll show`.
 *
 * A round is the time of one message. In a round a rank sends one message and receives any
 * number. A rank that waits for a message goes on in the round after the message was sent. If
 * every rank sends one message at a time, the number of rounds is the time of the algorithm.
 */

#include "model/coll/coll.h"

struct wf_study_message {
    uint32_t round; /* from 1 */
    uint32_t from, to;
    struct wf_coll_slots slots; /* slots of the sender */
    uint64_t bytes;
    bool taken;    /* received */
    uint32_t next; /* next message to the same rank, as index + 1; 0 if none */
};

struct wf_study_messages {
    struct wf_study_message *sent; /* sorted by round, then by sender */
    uint32_t n, n_rounds;
    uint32_t n_slots;                  /* slots of a rank */
    uint64_t bytes;                    /* in total; saturates at UINT64_MAX */
    uint64_t most_sent, most_received; /* maximum bytes of a rank */
};

enum { WF_STUDY_MESSAGES_RANKS = 1024 }; /* maximum number of ranks */

/* Finds the messages of the call `args` with an algorithm that applies. The rank in `args` is
 * ignored; its counts are null. The neighbours of a rank are the ranks above and below it on a
 * ring. The caller owns the contents of *out. */
void wf_study_messages_init(struct wf_study_messages *out, const struct wf_coll_ops *ops,
                            const struct wf_coll_args *args);
void wf_study_messages_fini(struct wf_study_messages *messages);
