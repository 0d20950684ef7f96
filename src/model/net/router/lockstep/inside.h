/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Lock step as its own files see it. */

#include "model/net/router/events/stats.h"
#include "model/net/router/lockstep/lockstep.h"
#include "model/traffic/model.h"

struct wf_lockstep {
    struct wf_lockstep_net net;
    const struct wf_router_net *model;
    const struct wf_traffic *traffic;
    void *tables;
    struct wf_lockstep_end *before; /* with one-way links; else null */
};

/* The bytes of the state of a run. */
uint64_t wf_lockstep_bytes(const struct wf_lockstep_config *config);

static inline const struct wf_lockstep *wf_lockstep_of(const struct wf_lockstep_net *net)
{
    return net->host;
}
