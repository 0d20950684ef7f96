/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_USE_H
#define WF_NET_USE_H

#include "net/deadlock.h"

/* How much the network was used, added up over the vertices: integers, so that the sum does not
 * depend on who adds when. Zeroed is nothing. */
enum { WF_NET_USE_VCS = 8, WF_NET_USE_LINKS = 8 };

/* A direction of a link: out of a vertex. */
struct wf_net_link_use {
    uint64_t packets;
    uint32_t vertex, port;
};

struct wf_net_use {
    uint64_t packets, hops; /* of packets that reached their node, and the hops they made */
    uint64_t links;         /* that there are, one for each direction */
    uint64_t carried;       /* packets on all links... */
    /* ...on those that carried most, these first; equals by vertex and port... */
    struct wf_net_link_use busiest[WF_NET_USE_LINKS];
    uint64_t vcs[WF_NET_USE_VCS]; /* ...and on each virtual channel */
    uint64_t injected, waited;    /* packets that left their source, picoseconds before that */
    uint64_t stuck;               /* packets that are still in the network */
    struct wf_waits waits;        /* of queues that cannot move on */
};

/* Adds a link. */
void wf_net_use_link(struct wf_net_use *use, struct wf_net_link_use link);
void wf_net_use_merge(struct wf_net_use *into, const struct wf_net_use *from);

#endif
