/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_ROUNDS_H
#define WF_GEN_ROUNDS_H

/*
 * The frame of programs in which every rank sends one message and gets one, again and again: a
 * receive is posted, the message sent, both are waited for. Nobody is more than a message ahead
 * of who sends to it, so that hardly a message waits to be received.
 */

#include "ops/source.h"

/* What the cursor's words mean. */
struct wf_gen_rounds_at {
    uint64_t round;
    uint32_t step;     /* in the round */
    uint32_t from, to; /* the partners in it; not known before the step 0 */
    uint32_t reserved;
};

/* The messages of `n_ranks` ranks in so many rounds; 0, for unknown, if there are too many. */
uint64_t wf_gen_rounds_messages(uint32_t n_ranks, uint64_t rounds);

/* Sets *op to that of the step at which `at` stands, and moves `at` on to the next step. */
void wf_gen_rounds_step(struct wf_gen_rounds_at *at, uint64_t bytes, struct wf_op *op);

#endif
