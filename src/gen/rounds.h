/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The frame of programs in which every rank sends one message and gets one, again and again: a
 * receive is posted, the message sent, both are waited for. No rank is
 * more than one message ahead of its sender, so that messages hardly ever wait for a receive.
 */

#include "ops/source.h"

/* The contents of the cursor. */
struct wf_gen_rounds_at {
    uint64_t round;
    uint32_t step;     /* in the round */
    uint32_t from, to; /* the partners in this round; set before step 0 */
    uint32_t reserved;
};

/* The messages of `n_ranks` ranks in so many rounds; 0, for unknown, if there are too many. */
uint64_t wf_gen_rounds_messages(uint32_t n_ranks, uint64_t rounds);

/* Sets *op to that of the step at which `at` stands, and moves `at` on to the next step. */
void wf_gen_rounds_step(struct wf_gen_rounds_at *at, uint64_t bytes, struct wf_op *op);
