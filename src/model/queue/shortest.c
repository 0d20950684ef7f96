/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/policy.h"

static bool before(const struct wf_queue_job *a, const struct wf_queue_job *b)
{
    return a->requested < b->requested;
}

const struct wf_queue_policy wf_queue_policy_shortest = {
    .name = "shortest",
    .summary = "The shorter requested time first; with EASY backfilling",
    .before = before,
    .schedule = wf_queue_easy,
};
