/* SPDX-License-Identifier: Apache-2.0 */
#include "net/packet/net.h"

/* On the topology's own way: links and routers, then the bytes on the slowest link. A policy
 * that goes another way has what that costs counted as queueing. */
struct wf_net_uncontended wf_packet_uncontended(const struct wf_net *net, uint32_t src_node,
                                                uint32_t dst_node, uint64_t bytes)
{
    const struct wf_packet_net *model = wf_packet_of(net);
    const struct wf_packet_links *links = &model->links;
    uint64_t last = wf_packet_rest(model, bytes) + model->header_bytes;
    struct wf_net_uncontended alone = {.latency = 0};

    for (uint32_t at = src_node; at != dst_node;) {
        uint32_t port = model->topo->ops->next_port(model->topo, at, dst_node);
        uint32_t link = wf_packet_links_number(links, at, port);
        const struct wf_packet_link_kind *kind =
            &links->kinds[wf_packet_links_kind(links, link)];
        int64_t all = (int64_t)(wf_packet_count(model, bytes) - 1) * kind->full_ps +
                      wf_packet_link_ps(kind, last);

        alone.latency +=
            kind->latency + (at != src_node ? wf_packet_links_delay(links, at) : 0);
        if (at != src_node && model->timing == WF_PACKET_STORE_AND_FORWARD) {
            alone.latency += wf_packet_count(model, bytes) > 1 ? kind->full_ps
                                                               : wf_packet_link_ps(kind, last);
        }
        alone.transfer = all > alone.transfer ? all : alone.transfer;
        at = model->topo->ops->neighbor(model->topo, at, port);
    }
    return alone;
}
