/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/nodes.h"
#include "model/queue/policy.h"

static const struct wf_queue_policy *const policies[] = {
#define WF_QUEUE_POLICY(name) &wf_queue_policy_##name,
#include "model/queue/policies.def"
    NULL,
};

static const struct wf_queue_place *const places[] = {
#define WF_QUEUE_PLACE(name) &wf_queue_place_##name,
#include "model/queue/places.def"
    NULL,
};

struct wf_registry wf_queue_policy_registry =
    WF_REGISTRY("scheduling policy", policies, .with = NULL);

const struct wf_queue_policy *const *wf_queue_policies(void)
{
    return (const struct wf_queue_policy *const *)wf_registry_entries(
        &wf_queue_policy_registry);
}

const struct wf_queue_place *const *wf_queue_places(void)
{
    return places;
}
