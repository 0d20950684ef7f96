/* SPDX-License-Identifier: Apache-2.0 */
/* Flows of a node, by the node at their other end and their class. Flows with the same node, of
 * which there are at most WF_TRANSPORT_CLASSES_MAX, form a list. */
#include "model/net/transport/model.h"

static const struct wf_transport_flow *look(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

uint32_t wf_transport_flow_find(struct wf_ctx *ctx, const struct wf_cellmap *flows,
                                uint32_t peer, uint32_t class)
{
    uint32_t cell = wf_cellmap_get(ctx, flows, peer);

    while (cell != 0 && look(ctx, cell)->class != class) {
        cell = look(ctx, cell)->next;
    }
    return cell;
}

uint32_t wf_transport_flow_add(struct wf_ctx *ctx, struct wf_cellmap *flows, uint32_t peer,
                               uint32_t class, size_t size)
{
    uint32_t first = wf_cellmap_get(ctx, flows, peer), cell = wf_cell_new_for(ctx, size);
    struct wf_transport_flow *flow = wf_cell_edit(ctx, cell);

    *flow = (struct wf_transport_flow){.peer = peer, .class = class};
    if (first == 0) {
        wf_touch(ctx, flows, sizeof(*flows));
        wf_cellmap_put(ctx, flows, peer, cell);
    } else {
        flow->next = look(ctx, first)->next;
        ((struct wf_transport_flow *)wf_cell_edit(ctx, first))->next = cell;
    }
    return cell;
}

uint32_t wf_transport_flow_next(struct wf_ctx *ctx, const struct wf_cellmap *flows,
                                uint32_t cell)
{
    const struct wf_transport_flow *flow = cell != 0 ? look(ctx, cell) : NULL;
    uint32_t peer = flow != NULL ? flow->peer + 1 : 0;

    return flow != NULL && flow->next != 0 ? flow->next : wf_cellmap_next(ctx, flows, &peer);
}
