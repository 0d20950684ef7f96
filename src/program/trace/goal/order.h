/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * In which order the ops of a rank start, as far as its dependencies alone decide it.
 *
 * A cut is an op that starts after all ops with lower numbers and before all with higher ones: the
 * op in which the branches of a step join, or any op of a chain. A segment is a cut and the ops up
 * to the next one:
 *
 *     recv send calc | calc recv send calc | ...        | begins a segment
 *
 * Takes time linear in ops and edges, and 13 bytes for each op of the largest rank.
 */

#include "program/trace/goal/goal.h"

struct wf_goal_order {
    uint32_t *segment; /* of each op */
    bool *is_late;     /* of each op: it waits for a receive of its own segment */
    uint32_t *last_before, *first_after;
    uint64_t capacity;
};

/* Finds the segments of a rank of a sorted schedule, in memory that is all zero at first and is
 * used again for the next rank. False if an op waits for one with a higher number. */
bool wf_goal_order_find(struct wf_goal_order *order, const struct wf_goal_rank *rank);
void wf_goal_order_fini(struct wf_goal_order *order);

/* Whether `a`, which has a lower number than `b`, is known to start before `b`. */
static inline bool wf_goal_order_knows(const struct wf_goal_order *order, uint32_t a,
                                       uint32_t b)
{
    uint32_t before = a > 0 ? order->segment[a - 1] : 0;

    return order->segment[a] < order->segment[b] || order->segment[a] > before;
}
