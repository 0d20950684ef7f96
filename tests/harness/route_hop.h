/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_ROUTE_HOP_H
#define WF_TESTS_HARNESS_ROUTE_HOP_H

/* One hop of a packet, and what may be wrong with it. */

#include "net/route/route.h"

#include "harness/route_set.h"

enum route_fault {
    ROUTE_SOUND,
    ROUTE_BAD_PORT,    /* no cable there */
    ROUTE_BAD_CHANNEL, /* as many as n_vcs, or more */
    ROUTE_LOOPS,       /* may never arrive */
    ROUTE_TOO_LONG,    /* longer than hops_max */
    ROUTE_NOT_MINIMAL, /* where that was expected */
    ROUTE_DEAD_END,    /* from a switch into a node that has no other cable */
    ROUTE_CYCLE,       /* of channels: packets may wait for each other for ever */
};

static const char *const route_fault_names[] = {
    "sound", "bad port", "bad channel", "loops", "too long", "not minimal", "dead end", "cycle",
};

struct route_check {
    const struct wf_topo *topo;
    const struct wf_route *route;
    bool minimal;           /* expected of all ways */
    uint32_t dst;           /* at work */
    struct route_set seen;  /* channel and state, or source: hops that remain + 2; 1: at work */
    struct route_set edges; /* channel, channel */
    enum route_fault fault;
};

static inline uint64_t route_state_key(const struct wf_route_state *state)
{
    uint64_t key;

    memcpy(&key, state, sizeof(key));
    return key;
}

/* Where a packet is, how it came and what it remembers. */
struct route_spot {
    uint32_t at;
    uint64_t channel; /* number of the link * 256 + virtual channel; UINT32_MAX + 1 + source */
    struct wf_route_state state;
};

static uint32_t route_follow(struct route_check *check, struct route_spot spot);

/* One hop; returns the hops that remain, this one included, at most. */
static inline uint32_t route_hop(struct route_check *check, const struct route_spot *spot,
                                 uint32_t port, struct wf_route_state state)
{
    const struct wf_topo *topo = check->topo;
    uint32_t next = WF_TOPO_NO_VERTEX;

    if (port < wf_topo_ports(topo, spot->at)) {
        next = topo->ops->neighbor(topo, spot->at, port);
    }
    if (next == WF_TOPO_NO_VERTEX) {
        check->fault = ROUTE_BAD_PORT;
        return 0;
    }
    if (state.vc >= check->route->n_vcs) {
        check->fault = ROUTE_BAD_CHANNEL;
        return 0;
    }
    if (check->minimal && topo->ops->distance(topo, next, check->dst) >=
                              topo->ops->distance(topo, spot->at, check->dst)) {
        check->fault = ROUTE_NOT_MINIMAL;
        return 0;
    }
    if (next != check->dst && next < topo->n_nodes && spot->at >= topo->n_nodes &&
        wf_topo_ports(topo, next) == 1) {
        check->fault = ROUTE_DEAD_END;
        return 0;
    }
    uint64_t link = wf_topo_first_link(topo, spot->at) + port;
    uint64_t channel = link * 256 + state.vc;
    if (spot->channel <= UINT32_MAX * UINT64_C(256)) {
        *route_set_find(&check->edges, spot->channel, channel) = 1;
    }
    return 1 + route_follow(check, (struct route_spot){next, channel, state});
}

#endif
