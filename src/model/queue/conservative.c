/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conservative backfilling (Mu'alem and Feitelson, "Utilization, predictability, workloads, and
 * user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001):
 * every job gets the earliest start at its submission that delays no reservation before it. When
 * a job ends before it has to, reservations move forward one by one, in the order of the queue,
 * until none can; none is ever delayed. Each then begins where a job ends that runs or has a
 * reservation itself, so that there is an event at its time.
 */
#include "model/queue/profile.h"

/* Whether it moves. */
static bool plan(struct wf_queue_sim *sim, struct wf_queue_profile *profile, size_t place)
{
    const struct wf_queue_job *job = wf_queue_waiting(sim, place);
    int64_t *planned = &sim->planned[sim->waiting[place]], before = *planned;

    if (*planned != WF_QUEUE_NEVER) {
        wf_queue_profile_take(profile, *planned, job->requested, -(int64_t)job->nodes);
    }
    *planned = wf_queue_profile_find(profile, job->nodes, job->requested);
    wf_queue_profile_take(profile, *planned, job->requested, job->nodes);
    return *planned != before;
}

static bool is_new(const struct wf_queue_sim *sim, size_t place)
{
    return sim->planned[sim->waiting[place]] == WF_QUEUE_NEVER;
}

static void schedule(struct wf_queue_sim *sim)
{
    struct wf_queue_profile profile = {.n = 0};
    bool moved = true;

    while (moved) {
        moved = false;
        for (size_t place = 0; place < sim->n_waiting; place++) {
            if (sim->early || is_new(sim, place)) {
                if (profile.n == 0) {
                    wf_queue_profile_build(&profile, sim);
                }
                moved = plan(sim, &profile, place) || moved;
            }
        }
        moved = moved && sim->early;
    }
    wf_queue_profile_fini(&profile);
    for (size_t place = 0; place < sim->n_waiting; place++) {
        if (sim->planned[sim->waiting[place]] == sim->now) {
            wf_queue_start(sim, place);
        }
    }
}

const struct wf_queue_policy wf_queue_policy_conservative = {
    .name = "conservative",
    .summary =
        "Conservative backfilling: later jobs may overtake, unless that delays any other",
    .schedule = schedule,
};
