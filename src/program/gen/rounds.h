/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The frame of programs in which every rank repeatedly sends one message and receives one:
 * it posts a receive, sends the message and waits for both. No rank is more than one message
 * ahead of its sender, so that messages hardly ever wait for a receive.
 */

#include "program/ops/source.h"

/* The contents of the cursor. */
struct wf_gen_rounds_at {
    uint64_t round;
    uint32_t step;     /* step in the round */
    uint32_t from, to; /* the partners in this round; set before step 0 */
    uint32_t reserved;
};

/* The messages of `n_ranks` ranks in `rounds` rounds; 0 (unknown) if there are too many. */
uint64_t wf_gen_rounds_messages(uint32_t n_ranks, uint64_t rounds);

/* Sets *op to the op of the current step of `at`, and moves `at` to the next step. */
void wf_gen_rounds_step(struct wf_gen_rounds_at *at, uint64_t bytes, struct wf_op *op);
