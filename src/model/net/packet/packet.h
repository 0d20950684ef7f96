/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The packet model: messages are cut into packets, and every port of every router is a server
 * with a queue. See docs/models/packet.md for the equations and for trains, runs of packets
 * that are simulated as one.
 */

#include "model/net/net.h"
#include "model/net/packet/transport.h"

enum wf_packet_timing {
    WF_PACKET_CUT_THROUGH,       /* a packet continues when its head has arrived... */
    WF_PACKET_STORE_AND_FORWARD, /* ...or when all of it has arrived */
};

enum wf_packet_nic {
    WF_PACKET_FCFS,        /* message by message */
    WF_PACKET_ROUND_ROBIN, /* a packet of each in turn */
};

/* What keeps to one route, if a policy has a choice. */
enum wf_packet_adapt {
    WF_PACKET_BY_PACKET,
    WF_PACKET_BY_MESSAGE,
};

enum wf_packet_buffers {
    WF_PACKET_UNBOUNDED, /* queues have no limit */
    WF_PACKET_CREDITS,   /* packets wait for a free slot at the end of the link */
};

/* Lists have one value for all levels of a hierarchy, or one per level, outermost first. */
struct wf_packet_params {
    int preset;      /* applied before the other parameters; unused after that */
    uint64_t packet; /* most bytes of a message in a packet */
    uint64_t header; /* bytes of the header of each packet */
    struct wf_list bandwidth;
    struct wf_list link_latency;
    int64_t router_delay;
    uint64_t burst;  /* bytes that a link passes at once after it was idle; 0: none */
    char *injection; /* "link", "unlimited" or a rate */
    char *ejection;  /* likewise */
    int timing;      /* enum wf_packet_timing */
    int nic;         /* enum wf_packet_nic */
    bool control_queue;
    bool trains;
    char *routing;
    char *routing_file;
    int adapt;          /* enum wf_packet_adapt */
    uint64_t info_step; /* bytes: how exactly routers know the queues of their neighbours */
    uint64_t ugal_threshold;
    int ecmp;        /* enum wf_route_flow */
    char *fail;      /* model/net/fault/fault.h; "": nothing fails */
    int fail_action; /* enum wf_fault_action; this and the next for failures in time */
    int64_t resend_delay;
    int stats;            /* enum wf_net_stats */
    int64_t stats_window; /* 0: none */
    int buffers;          /* enum wf_packet_buffers; the next two are about credits */
    uint64_t vc_bytes;    /* capacity of a virtual channel at the end of a link */
    uint64_t n_vcs;       /* virtual channels; 0: as many as the routing policy needs */
    char *links;          /* model/net/links.h */
    struct wf_transport_params transport;
};

/* For tests: packets `first` to `first + count - 1` of message `number` from `src` were
 * delivered at `at`, `at + spacing` and so on. Called inside handlers, also of events that are
 * undone later. */
struct wf_packet_delivery {
    uint32_t src, dst, number;
    uint64_t first, count;
    int64_t at, spacing;
};

typedef void wf_packet_probe_fn(void *arg, const struct wf_packet_delivery *delivery);
void wf_packet_set_probe(struct wf_net *net, wf_packet_probe_fn *probe, void *arg);
