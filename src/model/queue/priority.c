/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/policy.h"

static bool before(const struct wf_queue_job *a, const struct wf_queue_job *b)
{
    return a->priority > b->priority;
}

const struct wf_queue_policy wf_queue_policy_priority = {
    .name = "priority",
    .summary = "The larger priority first, then the earlier submission; with EASY backfilling",
    .before = before,
    .schedule = wf_queue_easy,
};
