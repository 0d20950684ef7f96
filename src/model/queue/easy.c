/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EASY backfilling (Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995): the first job that
 * does not fit gets a reservation at the earliest time at which enough running jobs must have
 * ended. A later job may overtake it if it ends before that time, or takes only nodes that are
 * left over then.
 */
#include "model/queue/policy.h"

struct reservation {
    int64_t time;
    uint32_t extra; /* nodes that the reserved job leaves at that time */
};

/* `uses` are in the order of expected ends. */
static struct reservation reserve(const struct wf_queue_sim *sim, uint32_t nodes)
{
    uint32_t free = sim->free;
    size_t i = 0;

    while (free < nodes) {
        free += sim->uses[i++].nodes;
    }
    int64_t time = i > 0 ? sim->uses[i - 1].expected : sim->now;
    while (i < sim->n_uses && sim->uses[i].expected == time) {
        free += sim->uses[i++].nodes;
    }
    return (struct reservation){.time = time, .extra = free - nodes};
}

void wf_queue_easy(struct wf_queue_sim *sim)
{
    size_t head = wf_queue_start_first(sim);

    if (head == sim->n_waiting || sim->free == 0) {
        return;
    }
    struct reservation first = reserve(sim, wf_queue_waiting(sim, head)->nodes);
    for (size_t place = head + 1; sim->free > 0; place++) {
        int64_t time = first.time - sim->now;

        place = wf_queue_next_fitting(sim, place, time, first.extra);
        if (place == sim->n_waiting) {
            break;
        }
        const struct wf_queue_job *job = wf_queue_waiting(sim, place);
        first.extra -= job->requested <= time ? 0 : job->nodes;
        wf_queue_start(sim, place);
    }
}

const struct wf_queue_policy wf_queue_policy_easy = {
    .name = "easy",
    .summary = "EASY backfilling: later jobs may overtake, unless that delays the first one",
    .schedule = wf_queue_easy,
};
