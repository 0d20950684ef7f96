/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a router was told about the queues of a neighbour: a list of cells, from which rollback
 * restores it. A queue without an entry is empty. */

#include "engine/model.h"

/* The last notice about one port of the neighbour. A model gives the two numbers a meaning. */
struct wf_net_notice {
    int64_t value;
    uint32_t port;
    uint32_t more;
};

enum { WF_NET_NOTICES_CELL = 72 }; /* bytes that a cell must have */

/* Replaces the entry of the port in the list *cells. Entries whose value is at most `over` and
 * whose other number is 0 describe empty queues, and their places are used again. */
void wf_net_notices_put(struct wf_ctx *ctx, uint32_t *cells, const struct wf_net_notice *notice,
                        int64_t over);

/* The entry of a port; null if there is none. */
const struct wf_net_notice *wf_net_notices_get(struct wf_ctx *ctx, uint32_t cells,
                                               uint32_t port);
