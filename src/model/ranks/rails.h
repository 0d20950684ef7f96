/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which of its node's network interfaces (rails) a message takes. Each rank slot has one of
 * them: an interface of its memory domain, or else of its socket, or else any. The ranks that
 * share interfaces are spread evenly over them. Eager messages between two ranks therefore
 * always take the same two interfaces, and MPI's order of messages holds.
 */

#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/place.h"

struct wf_rails {
    const struct wf_place *place;
    const struct wf_net *net;
    uint8_t *nic_of;        /* by slot; null if nodes have one interface */
    uint32_t ranks_per_nic; /* most ranks that share an interface, at least 1 */
    int policy;             /* enum wf_node_nic_policy, for the data of long messages */
    uint64_t stripe_min;
    size_t turn_at; /* WF_NODE_NIC_ROUND_ROBIN: offset in the state of a node of a 64-bit word
                     * with the number of the next interface; set by the user */
};

/* Keeps `place` and `net`; the cores of the node have been checked. WF_EINVAL if
 * node.nic_domains is wrong or the network was created for another number of interfaces. On
 * success the caller releases it with wf_rails_fini(). */
enum wf_status wf_rails_init(struct wf_rails *rails, const struct wf_place *place,
                             const struct wf_net *net, const struct wf_node_params *node,
                             struct wf_err *err);
void wf_rails_fini(struct wf_rails *rails);

/* Bytes in the state of a node. */
static inline size_t wf_rails_state_size(const struct wf_rails *rails)
{
    return rails->policy == WF_NODE_NIC_ROUND_ROBIN ? sizeof(uint64_t) : 0;
}

/* Whether the data of a long message of this size is divided among all interfaces. */
static inline bool wf_rails_stripes(const struct wf_rails *rails, uint64_t bytes)
{
    return rails->policy == WF_NODE_NIC_STRIPE && bytes >= rails->stripe_min &&
           bytes >= rails->net->ends.nics;
}

/* The interface of a slot. */
static inline uint32_t wf_rails_nic(const struct wf_rails *rails, uint32_t slot)
{
    return rails->nic_of != NULL ? rails->nic_of[slot] : 0;
}

/* The endpoint of the interface of a rank. */
static inline uint32_t wf_rails_end(const struct wf_rails *rails, uint32_t rank)
{
    uint32_t nic = rails->nic_of != NULL ? rails->nic_of[wf_place_slot(rails->place, rank)] : 0;

    return wf_net_end(&rails->net->ends, wf_place_node(rails->place, rank), nic);
}

/* The rank in a slot of the node that sent a message. */
static inline uint32_t wf_rails_sender(const struct wf_rails *rails,
                                       const struct wf_net_message *msg, uint32_t slot)
{
    uint32_t node = wf_net_interface_of(&rails->net->ends, msg->src_node).node;

    return wf_place_rank(rails->place, node, slot);
}

/* The state of the whole node, in a function of struct wf_net_user that got `part`. */
static inline void *wf_rails_state(const struct wf_rails *rails, const struct wf_ctx *ctx,
                                   void *part)
{
    return rails->nic_of != NULL ? wf_state(ctx) : part;
}
