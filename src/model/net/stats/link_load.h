/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The load of one link over time (model/net/stats/link_words.h) in the state of a process. */

#include "engine/model.h"
#include "model/net/stats/link_words.h"

struct wf_value;

enum { WF_NET_LINK_LOAD_WORDS = sizeof(struct wf_net_link_load) / sizeof(uint64_t) };

/* Packets of one node that leave one after another. */
struct wf_net_departures {
    int64_t at, spacing; /* departure of the first; distance between two */
    uint64_t n, bytes;   /* packets; bytes of each */
    uint32_t node;
};

/* Adds packets. To be called in a handler of the process whose state holds the load; `ctx` is null
 * if the load is not in the state of a process. */
void wf_net_link_load_add(struct wf_ctx *ctx, struct wf_net_link_load *load,
                          const struct wf_net_departures *departures);

/* Adds load_window_ps, load_bytes (a text of numbers) and filled_by to the description of a
 * link. */
void wf_net_link_load_describe(const struct wf_net_link_load *load, struct wf_value *link);
