/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Whether all ranks of a schedule can come to their end: ranks go from segment to segment
 * (order.h). A rank ends a segment when the messages for its receives have been sent. A send
 * counts as done when its segment begins, or, if it waits for a receive of its own segment, when
 * that segment ends. This asks for more than the schedule does, so that "yes" is always true.
 */

#include <stdbool.h>
#include <stdint.h>

/* A receive: the number of segments that `peer` must have begun so that its message is sent. */
struct wf_goal_need {
    uint32_t segment, peer, begun;
};

/* The receives of a rank, by segment. */
struct wf_goal_needs {
    const struct wf_goal_need *items;
    uint64_t n;
};

/* Takes time proportional to the receives: where ranks wait very often, the answer is "no". */
bool wf_goal_can_end(const struct wf_goal_needs *ranks, uint32_t n_ranks);
