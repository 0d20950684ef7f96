/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_PACKET_NET_H
#define WF_NET_PACKET_NET_H

/* The packet model as its own files see it. */

#include "net/packet/events.h"
#include "net/packet/links.h"

/* An output port. Zeroed is idle. */
struct wf_packet_port {
    int64_t free;    /* from when on it can send, after all packets that are settled */
    uint32_t trains; /* cell of the first train under way through it, or 0 */
    uint32_t spare;
};

/* Of a port with credits, for each virtual channel, after all ports. Zeroed is idle. */
struct wf_packet_channel {
    uint32_t used;       /* room taken where the link ends, by packets sent or on their way */
    uint32_t head, tail; /* cells of those that wait for room */
    uint32_t waiting;    /* how many */
};

/* A node's part of its process, after its ports: those are needed most. */
struct wf_packet_node {
    struct wf_packet_port ejection;
    int64_t nic_free;
    uint64_t fingerprint; /* of all deliveries */
    uint64_t packets_sent, packets_received;
    uint64_t bytes_sent, bytes_received;
    uint32_t messages; /* sent so far */
    /* Of an interface with a queue: */
    uint32_t current;    /* cell of the message of which a packet is being sent, or 0 */
    uint32_t head, tail; /* cells of the others */
    uint32_t awake;      /* 1 if an event is planned... */
    int64_t turn;        /* ...for this time; those for others mean nothing any more */
    uint32_t peers[WF_PACKET_PEERS]; /* cells, where messages may overtake each other */
    uint32_t held; /* 1 if the packet has left the interface, but not the node */
};

struct wf_packet_port_stats; /* packet_stats.h */
struct wf_net_link_load;     /* link_detail.h */

struct wf_packet_net {
    struct wf_net net;
    const struct wf_topo *topo;
    struct wf_topo *damaged; /* `topo`, if something of it fails; or null */
    struct wf_route *route;
    struct wf_packet_links links;
    uint32_t first_other;  /* process number of vertex net.n_nodes */
    uint32_t packet_bytes; /* of a full packet, without the header */
    uint32_t header_bytes;
    uint32_t injection;        /* kind of link that stands for it; WF_PACKET_UNLIMITED */
    uint32_t fastest, slowest; /* kinds of links */
    uint32_t ejection;         /* likewise */
    enum wf_packet_timing timing;
    enum wf_packet_nic nic;
    bool is_minimal; /* the topology's own route, and no need for virtual channels */
    bool trains;
    bool sends_notices;   /* to the neighbours, whose routing asks */
    uint32_t notice_step; /* in packets */
    int flow;             /* enum wf_packet_flow */
    bool overtakes;       /* messages from one node to another may take different ways... */
    bool is_in_order;     /* ...but all packets of one message take the same */
    bool has_queue;       /* interfaces decide packet by packet */
    struct wf_process_ops other_ops;
    uint32_t n_channels;              /* 0: buffers are unbounded */
    uint32_t lanes;                   /* channels for each that the routing policy knows */
    uint32_t slots;                   /* packets that a channel has room for */
    uint32_t node_ports, other_ports; /* the most of any */
    size_t other_size;
    size_t ports_size; /* of the ports of a node */
    size_t port_size;  /* of all that is kept of a port but its loads, which are behind */
    int stats;         /* enum wf_net_stats */
    bool keeps_loads;  /* with the load of links over time, and who fills them */
    int64_t stats_window;
    wf_packet_probe_fn *probe;
    void *probe_arg;
};

#define WF_PACKET_UNLIMITED UINT32_C(0xffffffff)

/* Where and when a handler is. */
struct wf_packet_view {
    const struct wf_packet_net *model;
    struct wf_ctx *ctx;
    struct wf_key key; /* of what is happening; ties at one instant are broken by it */
    uint32_t vertex;
    struct wf_packet_port *ports;
    struct wf_packet_channel *channels; /* model->n_channels for each port */
    struct wf_packet_port_stats *stats; /* one for each port; null if nobody wants them */
    struct wf_net_link_load *loads;     /* likewise */
    struct wf_packet_node *node;        /* null at a vertex without ranks */
};

/* Packets on their way through a vertex; a single one has count 1. */
struct wf_packet_run {
    struct wf_packet_head head;
    uint64_t first, count;
    bool is_cut;     /* they were announced, and do not come */
    int64_t spacing; /* 0: all arrive at once, and nothing can come between them */
    uint32_t from;   /* the process they come from, which is the own one for injected ones */
    const struct wf_net_message
        *msg; /* of a message's last packet, which travels alone; else null */
};

static inline const struct wf_packet_net *wf_packet_of(const struct wf_net *net)
{
    return (const struct wf_packet_net *)net;
}

static inline uint32_t wf_packet_process(const struct wf_packet_net *model, uint32_t vertex)
{
    return vertex < model->net.n_nodes ? model->net.first_node + vertex
                                       : model->first_other + (vertex - model->net.n_nodes);
}

/* Behind all else that is kept of the ports of a vertex; null if nobody wants them. */
static inline struct wf_net_link_load *wf_packet_loads(const struct wf_packet_net *model,
                                                       void *ports, uint32_t n_ports)
{
    return model->keeps_loads ? (void *)((unsigned char *)ports + n_ports * model->port_size)
                              : NULL;
}

/* The number of packets of a message; one of no bytes has one. */
static inline uint64_t wf_packet_count(const struct wf_packet_net *model, uint64_t bytes)
{
    return bytes <= model->packet_bytes ? 1 : (bytes - 1) / model->packet_bytes + 1;
}

/* Bytes of a message in its last packet. */
static inline uint64_t wf_packet_rest(const struct wf_packet_net *model, uint64_t bytes)
{
    return bytes - (wf_packet_count(model, bytes) - 1) * model->packet_bytes;
}

/* How long one packet of the run takes on a kind of link. */
static inline int64_t wf_packet_run_ps(const struct wf_packet_net *model,
                                       const struct wf_packet_run *run, uint32_t kind)
{
    const struct wf_packet_link_kind *link = &model->links.kinds[kind];

    return run->msg == NULL ? link->full_ps
                            : wf_packet_link_ps(link, wf_packet_rest(model, run->msg->bytes) +
                                                          model->header_bytes);
}

#endif
