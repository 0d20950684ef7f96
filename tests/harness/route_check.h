/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Checks the promises of every routing policy (model/net/route/route.h). The check follows a packet
 * from every node to every other through all states that the policy's choices lead to. The test
 * makes up the random numbers, flows and queue lengths on which the choices depend. Channels
 * that follow each other on some route are the edges of a graph, which must have no cycle.
 */

#include "model/net/route/route.h"

#include "harness/route_graph.h"

/* The information that the policy sees besides the topology. */
struct route_world {
    uint64_t random;
    uint32_t at, port; /* the queue whose length differs from the others */
    bool longer;       /* whether it is longer or shorter */
    uint64_t remote;   /* length of all queues of other vertices */
    struct {
        uint64_t state;
        uint32_t port;
    } tried[16]; /* what the policy answered here, as far as there is space */
    uint32_t n_tried;
    bool drew, looked_far; /* which information the policy used... */
    uint64_t looked; /* ...and of which ports here, a bit for each; the last for all others */
};

static inline uint64_t route_world_bit(uint32_t port)
{
    return UINT64_C(1) << (port < 63 ? port : 63);
}

static inline uint64_t route_world_queue(const struct wf_route_query *query, uint32_t vertex,
                                         uint32_t port)
{
    struct route_world *world = query->arg;

    if (vertex != world->at) {
        world->looked_far = true;
        return world->remote;
    }
    world->looked |= route_world_bit(port);
    return (port == world->port) == world->longer ? 1000 : 1;
}

static inline uint64_t route_world_random(const struct wf_route_query *query)
{
    struct route_world *world = query->arg;

    world->drew = true;
    return world->random;
}

enum route_fault {
    ROUTE_SOUND,
    ROUTE_BAD_PORT,    /* no cable there */
    ROUTE_BAD_CHANNEL, /* channel number not below n_vcs */
    ROUTE_LOOPS,       /* the packet may never arrive */
    ROUTE_TOO_LONG,    /* longer than hops_max */
    ROUTE_NOT_MINIMAL, /* not a shortest route, although required */
    ROUTE_DEAD_END,    /* from a switch into a node that has no other cable */
    ROUTE_CYCLE,       /* a cycle of channels: packets may wait for each other for ever */
};

static const char *const route_fault_names[] = {
    "sound", "bad port", "bad channel", "loops", "too long", "not minimal", "dead end", "cycle",
};

struct route_check {
    const struct wf_topo *topo;
    const struct wf_route *route;
    bool minimal; /* all routes must be shortest routes */
    uint32_t dst; /* destination that is being checked */
    struct route_set
        seen; /* by channel and state, or source: hops left + 2; 1: being followed */
    struct route_set edges; /* pairs of successive channels */
    enum route_fault fault;
};

static inline uint64_t route_state_key(const struct wf_route_state *state)
{
    uint64_t key;

    memcpy(&key, state, sizeof(key));
    return key;
}

/* Position of a packet, how it got there and the state that the policy keeps in it. */
struct route_place {
    uint32_t at;
    uint64_t channel; /* number of the link * 256 + virtual channel; UINT32_MAX + 1 + source */
    struct wf_route_state state;
};

static uint32_t route_follow(struct route_check *check, struct route_place place);

/* Checks one hop; returns the maximum number of hops left, including this one. */
static inline uint32_t route_hop(struct route_check *check, const struct route_place *place,
                                 uint32_t port, struct wf_route_state state)
{
    const struct wf_topo *topo = check->topo;
    uint32_t next = WF_TOPO_NO_VERTEX;

    if (port < wf_topo_ports(topo, place->at)) {
        next = topo->ops->neighbor(topo, place->at, port);
    }
    if (next == WF_TOPO_NO_VERTEX) {
        check->fault = ROUTE_BAD_PORT;
        return 0;
    }
    if (state.vcs.vc >= check->route->vcs.n_vcs) {
        check->fault = ROUTE_BAD_CHANNEL;
        return 0;
    }
    if (check->minimal && topo->ops->distance(topo, next, check->dst) >=
                              topo->ops->distance(topo, place->at, check->dst)) {
        check->fault = ROUTE_NOT_MINIMAL;
        return 0;
    }
    if (next != check->dst && next < topo->n_nodes && place->at >= topo->n_nodes &&
        wf_topo_ports(topo, next) == 1) {
        check->fault = ROUTE_DEAD_END;
        return 0;
    }
    uint64_t link = wf_topo_first_link(topo, place->at) + port;
    uint64_t channel = link * 256 + state.vcs.vc;
    if (place->channel <= UINT32_MAX * UINT64_C(256)) {
        *route_set_find(&check->edges, place->channel, channel) = 1;
    }
    return 1 + route_follow(check, (struct route_place){next, channel, state});
}

/* Whether the policy has given this answer here before; remembers it. */
static inline bool route_world_knows(struct route_world *world, uint32_t port, uint64_t state)
{
    for (uint32_t i = 0; i < world->n_tried; i++) {
        if (world->tried[i].port == port && world->tried[i].state == state) {
            return true;
        }
    }
    if (world->n_tried < sizeof(world->tried) / sizeof(world->tried[0])) {
        world->tried[world->n_tried].port = port;
        world->tried[world->n_tried++].state = state;
    }
    return false;
}

/* Asks the policy for a route with one set of random numbers, flows and queue lengths. Returns
 * the maximum number of hops left, or 0 for an answer that was followed before. */
static inline uint32_t route_try(struct route_check *check, const struct route_place *place,
                                 struct route_world *world, uint64_t flow)
{
    struct wf_route_state state = place->state;
    const struct wf_route_query query = {
        .topo = check->topo,
        .route = check->route,
        .at = place->at,
        .dst = check->dst,
        .in_port = WF_TOPO_NO_PORT,
        .flow = flow,
        .queue = route_world_queue,
        .random = route_world_random,
        .arg = world,
    };

    world->at = place->at;
    uint32_t port = check->route->ops->next(&query, &state);
    return route_world_knows(world, port, route_state_key(&state))
               ? 0
               : route_hop(check, place, port, state);
}

/* Tries all queue lengths that may matter: each port longer or shorter than all others. A port
 * that the policy has never looked at here does not matter. */
static inline uint32_t route_try_queues(struct route_check *check,
                                        const struct route_place *place,
                                        struct route_world *world, uint64_t flow)
{
    uint32_t n_ports = wf_topo_ports(check->topo, place->at), most;
    uint64_t looked_before;

    world->port = WF_TOPO_NO_PORT;
    world->longer = true;
    world->remote = 0;
    most = route_try(check, place, world, flow);
    do { /* until all ports that it has looked at were varied */
        looked_before = world->looked;
        for (uint32_t i = 0; i < 4 * n_ports && check->fault == ROUTE_SOUND; i++) {
            world->port = i / 4;
            world->longer = i % 2 == 0;
            world->remote = i / 2 % 2 == 0 ? 0 : 5000;
            if ((world->looked & route_world_bit(i / 4)) == 0 ||
                (world->remote > 0 && !world->looked_far)) {
                continue;
            }
            uint32_t hops = route_try(check, place, world, flow);
            most = hops > most ? hops : most;
        }
    } while (world->looked != looked_before);
    return most;
}

/* Tries all random numbers in a small network, and some in a large one, whose many states
 * together cover many numbers. */
static inline uint32_t route_try_all(struct route_check *check, const struct route_place *place)
{
    enum { SMALL = 20, LARGE = 64, SOME = 5, FEW = 2, FLOWS = 8 };
    uint32_t n = check->topo->n_nodes, most = 0;
    uint32_t n_draws = n <= SMALL ? n : n <= LARGE ? SOME : FEW;
    uint64_t n_flows = check->route->ops->is_by_flow     ? FLOWS
                       : check->route->ops->is_oblivious ? 2
                                                         : 1;
    struct route_world world; /* not all of it needs a value */

    world.drew = world.looked_far = false;
    world.looked = 0;
    world.n_tried = 0;

    for (uint32_t i = 0; i < n_draws && check->fault == ROUTE_SOUND; i++) {
        world.random = n <= SMALL ? UINT64_MAX / n * i + UINT64_MAX / n / 2
                                  : wf_rng_draw(place->at, check->dst, i);
        for (uint64_t flow = 0; flow < n_flows && check->fault == ROUTE_SOUND; flow++) {
            uint32_t hops = route_try_queues(check, place, &world, flow);
            most = hops > most ? hops : most;
        }
        if (!world.drew) {
            break;
        }
    }
    return most;
}

/* The maximum number of hops left from here. */
static uint32_t route_follow(struct route_check *check, struct route_place place)
{
    if (place.at == check->dst || check->fault != ROUTE_SOUND) {
        return 0;
    }
    uint64_t key = route_state_key(&place.state);
    uint32_t *known = route_set_find(&check->seen, place.channel, key);
    if (*known == 1) {
        check->fault = ROUTE_LOOPS;
        return 0;
    }
    if (*known > 1) {
        return *known - 2;
    }
    *known = 1;
    uint32_t hops = route_try_all(check, &place);
    *route_set_find(&check->seen, place.channel, key) = hops + 2;
    return hops;
}

/* Returns the first fault that is found, if any. If `minimal` is set, routes must be
 * shortest. */
static inline enum route_fault route_check(const struct wf_route *route, bool minimal)
{
    struct route_check check = {.topo = route->vcs.topo, .route = route, .minimal = minimal};
    uint32_t n = route->vcs.topo->n_nodes;

    /* In large networks, policies with choices are checked for some destinations only. */
    uint32_t step = n <= 64 || route->ops->is_oblivious ? 1 : n <= 100 ? 3 : 7;

    route_set_init(&check.edges, 1024);
    for (check.dst = 0; check.dst < n && check.fault == ROUTE_SOUND; check.dst += step) {
        route_set_init(&check.seen, 1024);
        for (uint32_t src = 0; src < n && check.fault == ROUTE_SOUND; src++) {
            if (check.topo->ops->distance(check.topo, src, check.dst) == WF_TOPO_UNREACHED) {
                continue;
            }
            struct route_place place = {.at = src,
                                        .channel = UINT32_MAX * UINT64_C(256) + 1 + src};
            uint32_t hops = route_follow(&check, place);
            if (hops > route->vcs.hops_max && check.fault == ROUTE_SOUND) {
                check.fault = ROUTE_TOO_LONG;
            }
        }
        route_set_fini(&check.seen);
    }
    if (check.fault == ROUTE_SOUND && route_has_cycle(&check.edges)) {
        check.fault = ROUTE_CYCLE;
    }
    route_set_fini(&check.edges);
    return check.fault;
}
