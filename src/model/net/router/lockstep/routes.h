/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Routes outside of grids on devices: the rules of net/route and net/vc, with tables instead of the
 * functions of a topology. Networks of one level only (model/topo/nested.h). model/net/router/lockstep/routes.c makes the
 * tables, tests compare the outcome with that of the functions.
 */

#include "model/net/router/lockstep/state.h"
#include "model/net/router/rules/draw.h"

/* ---- tables ---- */

/* The place of a pair in the tables by vertex and node. */
static inline size_t wf_lockstep_pair(const struct wf_lockstep_net *net, uint32_t at,
                                      uint32_t dst)
{
    return (size_t)(at - net->routes.first) * net->n_nodes + dst;
}

/* The entry of a pair: a port, perhaps with WF_LOCKSTEP_SECOND. Vertices that are not in the tables
 * have one port. */
static inline uint32_t wf_lockstep_next_entry(const struct wf_lockstep_net *net, uint32_t at,
                                              uint32_t dst)
{
    return at < net->routes.first ? 0 : net->routes.next[wf_lockstep_pair(net, at, dst)];
}

/* Hops of a shortest path; WF_LOCKSTEP_UNREACHED. */
static inline uint32_t wf_lockstep_distance(const struct wf_lockstep_net *net, uint32_t at,
                                            uint32_t dst)
{
    uint32_t own = 0;

    if (at == dst) {
        return 0;
    }
    if (at < net->routes.first) {
        at = net->neighbor[wf_lockstep_port(net, at, 0)];
        own = 1;
    }
    uint32_t hops = net->routes.distance[wf_lockstep_pair(net, at, dst)];
    return hops == WF_LOCKSTEP_UNREACHED ? hops : own + hops;
}

/* Hops between two places of a dimension. */
static inline uint32_t wf_lockstep_dim_hops(const struct wf_lockstep_net *net, uint32_t dim,
                                            uint32_t here, uint32_t there)
{
    uint32_t apart = here > there ? here - there : there - here;
    uint32_t around = net->size[dim] - apart;

    return (net->rings >> dim & 1) != 0 && around < apart ? around : apart;
}

/* The distance between two nodes. */
static inline uint32_t wf_lockstep_hops(const struct wf_lockstep_net *net, uint32_t node,
                                        uint32_t other)
{
    uint32_t hops = 0;

    if (net->n_dims == 0) {
        return wf_lockstep_distance(net, node, other);
    }
    for (uint32_t dim = 0; dim < net->n_dims; dim++) {
        hops += wf_lockstep_dim_hops(net, dim, wf_lockstep_coord(net, node, dim),
                                     wf_lockstep_coord(net, other, dim));
    }
    return hops;
}

/* Whether a shortest path to `dst`, which is not `at`, begins with the port. */
static inline bool wf_lockstep_is_minimal(const struct wf_lockstep_net *net, uint32_t at,
                                          uint32_t port, uint32_t dst, uint32_t hops)
{
    uint32_t next = net->neighbor[wf_lockstep_port(net, at, port)];

    return next != WF_LOCKSTEP_NONE && wf_lockstep_distance(net, next, dst) + 1 == hops;
}

/* ---- trees: wf_router_ports() ---- */

/* All ports with which a shortest path begins, ascending. Returns their number. */
static inline uint32_t wf_lockstep_minimal_ports(const struct wf_lockstep_net *net, uint32_t at,
                                                 uint32_t dst, uint16_t *ports)
{
    uint32_t n = 0, n_ports = wf_lockstep_ports(net, at);
    uint32_t hops = wf_lockstep_distance(net, at, dst);

    for (uint32_t port = 0; port < n_ports; port++) {
        if (wf_lockstep_is_minimal(net, at, port, dst, hops)) {
            ports[n++] = (uint16_t)port;
        }
    }
    return n;
}

/* A digit of the source's number to the base n, another one at each level of a tree. */
static inline uint32_t wf_lockstep_source_digit(uint32_t src, uint32_t hops, uint32_t n)
{
    for (uint32_t level = 1; level < hops && n > 1; level++) {
        src /= n;
    }
    return src % n;
}

/* The ports that a packet may take. Returns their number. */
static inline uint32_t wf_lockstep_route_ports(const struct wf_lockstep_net *net, uint32_t r,
                                               uint32_t input, uint32_t slot, uint16_t *ports)
{
    const struct wf_lockstep_packet packet = wf_lockstep_read(net, r, input, slot);

    if (net->request == WF_LOCKSTEP_FIRST) {
        ports[0] = (uint16_t)(wf_lockstep_next_entry(net, r, packet.dst) &
                              ~(uint32_t)WF_LOCKSTEP_SECOND);
        return 1;
    }
    uint32_t n = wf_lockstep_minimal_ports(net, r, packet.dst, ports);
    if (net->request == WF_LOCKSTEP_SOURCE) {
        uint32_t src = wf_lockstep_read_more(net, r, input, slot).src;
        ports[0] = ports[wf_lockstep_source_digit(src, packet.way >> 16, n)];
        return 1;
    }
    return n;
}

/* ---- channels: model/net/vc/vc.c ---- */

/* What a packet with a policy knows of its route; zeroed when it is injected. */
struct wf_lockstep_route {
    uint32_t via; /* a node to go to first, + 1; 0 for none */
    uint8_t vc;
    uint8_t rank;  /* of its last hop */
    uint8_t stage; /* part of the route */
    uint8_t begun; /* it has made a hop */
};
_Static_assert(sizeof(struct wf_lockstep_route) == sizeof(uint64_t), "a word of the packet");

/* A packet that asks for its way: where it is, and its route. */
struct wf_lockstep_traveller {
    const struct wf_lockstep_net *net;
    uint32_t at, dst, input, cycle, draws;
    uint64_t flow;
    uint32_t base; /* first channel of the stage */
    struct wf_lockstep_route route;
    uint16_t *ports; /* room for those of a router */
};

/* The first channel of a stage. Without an index that only the run knows: a network that is indexed
 * is not in the registers of devices. */
static inline uint32_t wf_lockstep_start(const struct wf_lockstep_net *net, uint32_t stage)
{
    const uint32_t *start = net->routes.start;

    return stage == 0 ? start[0] : stage == 1 ? start[1] : start[2];
}

static inline void wf_lockstep_set_stage(struct wf_lockstep_traveller *who, uint32_t stage)
{
    who->route.stage = (uint8_t)stage;
    who->base = wf_lockstep_start(who->net, stage);
    who->route.vc = (uint8_t)who->base;
    who->route.rank = 0;
}

/* The class of a hop by `port`, and its rank. */
static inline uint32_t wf_lockstep_class_of(const struct wf_lockstep_traveller *who,
                                            uint32_t port, uint32_t *rank)
{
    const struct wf_lockstep_net *net = who->net;
    uint32_t hop = net->routes.hops[wf_lockstep_port(net, who->at, port)];
    uint32_t before = who->route.rank, own = hop & WF_LOCKSTEP_HOP_RANK;
    uint32_t class = who->route.vc - who->base;
    bool dateline = (hop & WF_LOCKSTEP_HOP_DATELINE) != 0;

    *rank = before;
    if ((hop & WF_LOCKSTEP_HOP_END) != 0) {
        return class;
    }
    *rank = dateline ? 0 : own;
    return class + (dateline || own < before || (net->routes.strict != 0 && own == before));
}

static inline uint32_t wf_lockstep_leave(struct wf_lockstep_traveller *who, uint32_t vc,
                                         uint32_t port, uint32_t rank)
{
    who->route.vc = (uint8_t)(vc < UINT8_MAX ? vc : UINT8_MAX);
    who->route.rank = (uint8_t)rank;
    who->route.begun = 1;
    return port;
}

static inline uint32_t wf_lockstep_take_given(struct wf_lockstep_traveller *who, uint32_t port)
{
    uint32_t rank, class = wf_lockstep_class_of(who, port, &rank);

    return wf_lockstep_leave(who, who->base + class, port, rank);
}

/* From here on the packet takes the deterministic route. */
static inline void wf_lockstep_begin_fixed(struct wf_lockstep_traveller *who)
{
    who->route.vc = (uint8_t)(who->base + who->net->routes.free);
    who->route.rank = 0;
}

/* Takes the deterministic route as long as its classes last, then that over a tree. */
static inline uint32_t wf_lockstep_take_or_climb(struct wf_lockstep_traveller *who,
                                                 uint32_t port, uint32_t dst)
{
    const struct wf_lockstep_routes *routes = &who->net->routes;
    uint32_t last = who->base + routes->free + routes->fixed - 1, rank;

    if (who->route.vc != last && who->base + wf_lockstep_class_of(who, port, &rank) < last) {
        return wf_lockstep_take_given(who, port);
    }
    uint32_t up =
        who->at < routes->first ? 0 : routes->climb[wf_lockstep_pair(who->net, who->at, dst)];
    return wf_lockstep_leave(who, last, up, 0);
}

static inline uint32_t wf_lockstep_take_fixed(struct wf_lockstep_traveller *who, uint32_t dst)
{
    const struct wf_lockstep_routes *routes = &who->net->routes;
    uint32_t next = wf_lockstep_next_entry(who->net, who->at, dst);
    uint32_t port = next & ~(uint32_t)WF_LOCKSTEP_SECOND;

    if (who->route.vc < who->base + routes->free && routes->fixed > 0) {
        wf_lockstep_begin_fixed(who);
    }
    if (routes->climb != NULL) {
        return wf_lockstep_take_or_climb(who, port, dst);
    }
    if (routes->by_place == 0) {
        return wf_lockstep_take_given(who, port);
    }
    uint32_t second = port != next;
    return wf_lockstep_leave(who, who->base + routes->free + second, port, 0);
}

static inline uint32_t wf_lockstep_take_free(struct wf_lockstep_traveller *who, uint32_t port)
{
    return who->route.vc >= who->base + who->net->routes.free
               ? wf_lockstep_take_fixed(who, who->dst)
               : wf_lockstep_take_given(who, port);
}

/* The minimal ports that the channels allow, at least one. Returns their number. */
static inline uint32_t wf_lockstep_choices(struct wf_lockstep_traveller *who)
{
    const struct wf_lockstep_net *net = who->net;
    bool is_free = who->route.vc < who->base + net->routes.free;
    uint32_t n = 0, n_allowed = 0, rank;

    if (is_free && net->routes.single == 0) {
        n = wf_lockstep_minimal_ports(net, who->at, who->dst, who->ports);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (wf_lockstep_class_of(who, who->ports[i], &rank) < net->routes.free) {
            who->ports[n_allowed++] = who->ports[i];
        }
    }
    if (n_allowed > 0) {
        return n_allowed;
    }
    if (is_free && net->routes.fixed > 0) {
        wf_lockstep_begin_fixed(who);
    }
    who->ports[0] = (uint16_t)(wf_lockstep_next_entry(net, who->at, who->dst) &
                               ~(uint32_t)WF_LOCKSTEP_SECOND);
    return 1;
}

/* ---- policies: net/route ---- */

/* Packets that wait for a port of the router. */
static inline uint32_t wf_lockstep_waiting_for(const struct wf_lockstep_traveller *who,
                                               uint32_t port)
{
    const struct wf_lockstep_net *net = who->net;
    uint32_t packets = wf_lockstep_link(net, who->at, port)->waiting;

    for (uint32_t vc = 0; vc < net->vcs; vc++) {
        packets += wf_lockstep_channel(net, who->at, port * net->vcs + vc)->used;
    }
    return packets;
}

/* One of n ports, by flow and router. */
static inline uint32_t wf_lockstep_by_flow(const struct wf_lockstep_traveller *who, uint32_t n)
{
    uint64_t hash = wf_rng_mix(who->flow + (who->at + UINT64_C(1)) * WF_RNG_GOLDEN);

    return n > 1 ? wf_rng_below32(hash, n) : 0;
}

static inline uint32_t wf_lockstep_ecmp(struct wf_lockstep_traveller *who)
{
    uint32_t n = wf_lockstep_choices(who);

    return wf_lockstep_take_free(who, who->ports[wf_lockstep_by_flow(who, n)]);
}

static inline uint32_t wf_lockstep_shortest_queue(struct wf_lockstep_traveller *who)
{
    uint32_t n = wf_lockstep_choices(who), i = wf_lockstep_by_flow(who, n);
    uint32_t best = who->ports[i], least = UINT32_MAX;

    for (uint32_t k = 0; k < n && n > 1; k++) {
        uint32_t waits = wf_lockstep_waiting_for(who, who->ports[i]);
        if (waits < least) {
            least = waits;
            best = who->ports[i];
        }
        i = i + 1 < n ? i + 1 : 0;
    }
    return wf_lockstep_take_free(who, best);
}

/* Whether a route to `node` that ends at the node's router has reached its end. */
static inline bool wf_lockstep_is_there(const struct wf_lockstep_traveller *who, uint32_t node)
{
    return who->at == node ||
           (who->at >= who->net->n_nodes && wf_lockstep_distance(who->net, who->at, node) == 1);
}

static inline bool wf_lockstep_detour_is_due(const struct wf_lockstep_traveller *who)
{
    const struct wf_lockstep_net *net = who->net;
    uint32_t hop = net->routes.hops[wf_lockstep_port(net, who->at, 0)];

    return who->route.stage == 0 && (hop & WF_LOCKSTEP_HOP_OF_MANY) != 0;
}

/* A random node to go to first; WF_LOCKSTEP_NONE: there is no detour. */
static inline uint32_t wf_lockstep_draw_via(struct wf_lockstep_traveller *who)
{
    const struct wf_lockstep_net *net = who->net;
    uint64_t random = wf_router_draw(net->seed, who->at, who->input, who->cycle, who->draws++);
    uint32_t via = wf_rng_below32(random, net->n_nodes);

    return via == who->dst || wf_lockstep_is_there(who, via) ||
                   (who->at != who->dst && wf_lockstep_is_there(who, who->dst)) ||
                   wf_lockstep_distance(net, who->at, via) == WF_LOCKSTEP_UNREACHED ||
                   wf_lockstep_distance(net, via, who->dst) == WF_LOCKSTEP_UNREACHED
               ? WF_LOCKSTEP_NONE
               : via;
}

/* Whether the minimal route looks at least as quick as that over a node. */
static inline bool wf_lockstep_prefers_direct(const struct wf_lockstep_traveller *who,
                                              uint32_t via)
{
    const struct wf_lockstep_net *net = who->net;
    const uint32_t mask = ~(uint32_t)WF_LOCKSTEP_SECOND;

    if (via == WF_LOCKSTEP_NONE) {
        return true;
    }
    uint32_t direct = wf_lockstep_next_entry(net, who->at, who->dst) & mask;
    uint32_t over = wf_lockstep_next_entry(net, who->at, via) & mask;
    uint64_t hops_over =
        wf_lockstep_distance(net, who->at, via) + wf_lockstep_distance(net, via, who->dst);
    uint64_t hops_direct = wf_lockstep_distance(net, who->at, who->dst);
    return wf_lockstep_waiting_for(who, direct) * hops_direct <=
           wf_lockstep_waiting_for(who, over) * hops_over;
}

static inline void wf_lockstep_decide_detour(struct wf_lockstep_traveller *who, uint32_t via)
{
    wf_lockstep_set_stage(who, 1);
    who->route.via = via != WF_LOCKSTEP_NONE ? via + 1 : 0;
}

/* Continues to the intermediate node or to the destination. */
static inline uint32_t wf_lockstep_go(struct wf_lockstep_traveller *who)
{
    if (who->route.via != 0 && wf_lockstep_is_there(who, who->route.via - 1)) {
        wf_lockstep_set_stage(who, 2);
        who->route.via = 0;
    }
    return wf_lockstep_take_fixed(who, who->route.via != 0 ? who->route.via - 1 : who->dst);
}

/* Whether the minimal route leaves the group of a dragonfly from another of its routers. */
static inline bool wf_lockstep_stays(const struct wf_lockstep_traveller *who)
{
    const struct wf_lockstep_net *net = who->net;
    const uint32_t *group = net->routes.group;
    uint32_t port =
        wf_lockstep_next_entry(net, who->at, who->dst) & ~(uint32_t)WF_LOCKSTEP_SECOND;
    uint32_t next = net->neighbor[wf_lockstep_port(net, who->at, port)];

    return group[next] == group[who->at] && group[who->dst] != group[who->at];
}

/* Decides for or against a detour, if that is due; progressive routing may leave it open. */
static inline void wf_lockstep_detour(struct wf_lockstep_traveller *who)
{
    uint32_t policy = who->net->routes.policy;

    if (!wf_lockstep_detour_is_due(who)) {
        return;
    }
    uint32_t via = wf_lockstep_draw_via(who);
    bool direct = policy != WF_LOCKSTEP_VALIANT && wf_lockstep_prefers_direct(who, via);
    bool open =
        policy == WF_LOCKSTEP_PAR && direct && who->route.rank == 0 && wf_lockstep_stays(who);
    if (!open) {
        wf_lockstep_decide_detour(who, direct ? WF_LOCKSTEP_NONE : via);
    }
}

/* The port by which the packet leaves. */
static inline uint32_t wf_lockstep_next_port(struct wf_lockstep_traveller *who)
{
    switch (who->net->routes.policy) {
    case WF_LOCKSTEP_MINIMAL:
        return wf_lockstep_take_fixed(who, who->dst);
    case WF_LOCKSTEP_GIVEN:
        return wf_lockstep_take_given(who, wf_lockstep_next_entry(who->net, who->at, who->dst));
    case WF_LOCKSTEP_ECMP:
        return wf_lockstep_ecmp(who);
    case WF_LOCKSTEP_SHORTEST_QUEUE:
        return wf_lockstep_shortest_queue(who);
    default:
        wf_lockstep_detour(who);
        return wf_lockstep_go(who);
    }
}

/* The flow number, shared by all packets on the same route: net.ecmp. */
static inline uint64_t wf_lockstep_flow_of(const struct wf_lockstep_traveller *who,
                                           const struct wf_lockstep_more *more)
{
    uint64_t src = (uint64_t)more->src << 32;
    uint32_t flow = who->net->routes.flow;

    if (flow == WF_LOCKSTEP_FLOW_MESSAGE) {
        return wf_rng_mix(src | more->number);
    }
    return flow == WF_LOCKSTEP_FLOW_PAIR ? src | who->dst
                                         : wf_router_draw(who->net->seed, who->at, who->input,
                                                          who->cycle, WF_ROUTER_DRAW_FLOW);
}

/* Asks the policy for the first packet of an input: a channel, + 1; 0 if the packet is at its
 * destination. `ports` has room for the ports of a router. */
static inline uint32_t wf_lockstep_route_choose(const struct wf_lockstep_net *net, uint32_t r,
                                                uint32_t input, uint32_t cycle, uint16_t *ports)
{
    uint32_t slot = wf_lockstep_input(net, r, input)->first;
    struct wf_lockstep_more more = wf_lockstep_read_more(net, r, input, slot);
    struct wf_lockstep_traveller who = {.net = net,
                                        .at = r,
                                        .dst = wf_lockstep_read(net, r, input, slot).dst,
                                        .input = input,
                                        .cycle = cycle,
                                        .ports = ports};

    if (who.dst == r) {
        return 0;
    }
    who.route = (struct wf_lockstep_route){.via = (uint32_t)more.route,
                                           .vc = (uint8_t)(more.route >> 32),
                                           .rank = (uint8_t)(more.route >> 40),
                                           .stage = (uint8_t)(more.route >> 48),
                                           .begun = (uint8_t)(more.route >> 56)};
    who.flow = wf_lockstep_flow_of(&who, &more);
    who.base = wf_lockstep_start(net, who.route.stage);
    if (who.route.begun == 0) {
        wf_lockstep_set_stage(&who, 0);
    }
    uint32_t port = wf_lockstep_next_port(&who);
    wf_lockstep_more(net, r, input, slot)->route =
        who.route.via | (uint64_t)who.route.vc << 32 | (uint64_t)who.route.rank << 40 |
        (uint64_t)who.route.stage << 48 | (uint64_t)who.route.begun << 56;
    return port * net->vcs + who.route.vc + 1;
}
