/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The network interfaces of a node, as far as they are no part of the network model: the least
 * time between two messages (node.gap) and the delay of a message (node.injection_delay,
 * node.ejection_delay). All messages that the network model carries pass them, with
 * mpi.local=false also those between ranks of one node. Nodes of ranks and of PEs use it.
 * Private to ranks/.
 */

#include "model/ranks/node_costs.h"

/* The state of an interface, part of a node's state; it is there only if there is a gap. */
struct wf_node_nic {
    int64_t send_next, recv_next; /* when it can send and receive its next message */
};

/* The interfaces of all nodes of a run. */
struct wf_node_nics {
    const struct wf_net *net;
    const struct wf_node_costs *costs;
    size_t offset;           /* of the interfaces' struct wf_node_nic in the state of a node */
    uint16_t depart, inject; /* event kinds, both with struct wf_node_departure */
    bool runs_ahead;         /* messages may be sent later than now */
    bool is_free;            /* one interface a node, which costs nothing */
};

/* The network's part of a node's state, with a part for each interface. */
static inline size_t wf_node_net_size(const struct wf_net *net)
{
    return net->ends.nics * net->node_size;
}

/* The size of the interfaces in the state of a node, which follow the network's part. */
static inline size_t wf_node_nics_size(const struct wf_net *net,
                                       const struct wf_node_costs *costs)
{
    return costs->gap > 0 ? net->ends.nics * sizeof(struct wf_node_nic) : 0;
}

/* The state of an interface; only if there is a gap. */
static inline struct wf_node_nic *wf_node_nic_at(const struct wf_node_nics *nics, void *node,
                                                 uint32_t nic)
{
    return (struct wf_node_nic *)(void *)((unsigned char *)node + nics->offset) + nic;
}

/* Whether messages pass the interfaces as if there were none. */
static inline bool wf_node_nics_are_free(const struct wf_net *net,
                                         const struct wf_node_costs *costs)
{
    return net->ends.nics == 1 && costs->delay == 0 && costs->gap == 0;
}

/* The departure times that a node may give. With a gap, messages must be given in order. */
static inline enum wf_net_ahead wf_node_nic_ahead(const struct wf_net *net,
                                                  const struct wf_node_costs *costs)
{
    return costs->gap > 0 && net->ahead == WF_NET_ANY ? WF_NET_IN_ORDER : net->ahead;
}

struct wf_node_departure {
    uint64_t bytes;
    uint32_t dst; /* endpoint */
    uint32_t header[WF_NET_HEADER_WORDS];
};

/* wf_node_nic_send() in all cases but the common one. */
int64_t wf_node_nic_pass(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                         uint32_t dst, const struct wf_net_message *msg, int64_t start);

/* Sends a message from the interface msg->src_node to the endpoint `dst`, at the time `start`.
 * Returns when its last byte has left. Returns WF_NET_LATER if that is not known yet: the
 * network will call user.sent(), or an event of one of the two kinds follows. */
static inline int64_t wf_node_nic_send(const struct wf_node_nics *nics, struct wf_ctx *ctx,
                                       void *node, uint32_t dst,
                                       const struct wf_net_message *msg, int64_t start)
{
    if (nics->is_free && (nics->runs_ahead || start <= wf_now(ctx))) {
        return nics->net->ops->send(nics->net, ctx, node, dst, msg, start);
    }
    return wf_node_nic_pass(nics, ctx, node, dst, msg, start);
}

/* Handles an event of the kinds `depart` and `inject`, whose upper bits are the interface.
 * Returns what wf_node_nic_send() returns. */
int64_t wf_node_nic_event(const struct wf_node_nics *nics, struct wf_ctx *ctx, void *node,
                          const struct wf_event *ev);

/* In an event of the network: a message arrives now. Returns by how much the interface delays
 * it. */
static inline int64_t wf_node_nic_delay(const struct wf_node_nics *nics, struct wf_ctx *ctx,
                                        void *node)
{
    const struct wf_node_costs *costs = nics->costs;

    if (costs->gap == 0) {
        return costs->delay;
    }
    struct wf_node_nic *nic = wf_node_nic_at(nics, node, wf_net_nic(wf_now_event(ctx)));
    int64_t now = wf_now(ctx), begin = nic->recv_next > now ? nic->recv_next : now;

    wf_touch(ctx, &nic->recv_next, sizeof(nic->recv_next));
    nic->recv_next = wf_time_add(begin, costs->gap);
    return wf_time_add(begin - now, costs->delay);
}
