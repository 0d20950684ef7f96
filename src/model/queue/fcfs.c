/* SPDX-License-Identifier: Apache-2.0 */
/* First come, first served: a job that does not fit holds back all that came after it. */
#include "model/queue/policy.h"

size_t wf_queue_start_first(struct wf_queue_sim *sim)
{
    size_t place = 0;

    while (place < sim->n_waiting && wf_queue_waiting(sim, place)->nodes <= sim->free) {
        wf_queue_start(sim, place++);
    }
    return place;
}

static void schedule(struct wf_queue_sim *sim)
{
    (void)wf_queue_start_first(sim);
}

const struct wf_queue_policy wf_queue_policy_fcfs = {
    .name = "fcfs",
    .summary = "First come, first served; a job that does not fit holds back all later ones",
    .schedule = schedule,
};
