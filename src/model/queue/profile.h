/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How many nodes are free from now on, as far as the scheduler knows: a step function of time. It
 * owns its steps; a zeroed struct is to be filled by wf_queue_profile_build(). */

#include "model/queue/policy.h"

struct wf_queue_step {
    int64_t at; /* from this time to that of the next step */
    int64_t free;
};

struct wf_queue_profile {
    struct wf_queue_step *steps;
    size_t n, capacity;
};

/* Fills it with nodes that are free now, those that running jobs free at their expected ends, and
 * without those of waiting jobs from their planned start on. */
void wf_queue_profile_build(struct wf_queue_profile *profile, const struct wf_queue_sim *sim);

/* The earliest time at which `nodes` are free for as long as `duration`. */
int64_t wf_queue_profile_find(const struct wf_queue_profile *profile, uint32_t nodes,
                              int64_t duration);

/* Takes these nodes from `start` on, for as long as `duration`; gives them back if negative. */
void wf_queue_profile_take(struct wf_queue_profile *profile, int64_t start, int64_t duration,
                           int64_t nodes);

void wf_queue_profile_fini(struct wf_queue_profile *profile);
