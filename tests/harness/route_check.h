/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_ROUTE_CHECK_H
#define WF_TESTS_HARNESS_ROUTE_CHECK_H

/*
 * What every routing policy promises (net/route/route.h), found by trying what it could do: from
 * every node to every other, a packet is followed through all states that the policy's choices
 * lead to. The choices are those of random numbers, flows and queues that the test makes up.
 * Channels that follow each other on some way are the edges of a graph, in which there must be
 * no cycle.
 */

#include "harness/route_cycle.h"
#include "harness/route_hop.h"
#include "harness/route_world.h"

/* Asks the policy under one set of circumstances. */
static inline uint32_t route_try(struct route_check *check, const struct route_spot *spot,
                                 struct route_world *world, uint64_t flow)
{
    struct wf_route_state state = spot->state;
    const struct wf_route_query query = {
        .topo = check->topo,
        .route = check->route,
        .at = spot->at,
        .dst = check->dst,
        .in_port = WF_TOPO_NO_PORT,
        .flow = flow,
        .queue = route_world_queue,
        .random = route_world_random,
        .arg = world,
    };

    world->at = spot->at;
    uint32_t port = check->route->ops->next(&query, &state);
    return route_hop(check, spot, port, state);
}

/* All queues that may matter: each port longer or shorter than all others. */
static inline uint32_t route_try_queues(struct route_check *check,
                                        const struct route_spot *spot,
                                        struct route_world *world, uint64_t flow)
{
    uint32_t n_ports = wf_topo_ports(check->topo, spot->at), most = 0;

    for (uint32_t i = 0; i < 4 * n_ports && check->fault == ROUTE_SOUND; i++) {
        world->port = i / 4;
        world->longer = i % 2 == 0;
        world->remote = i / 2 % 2 == 0 ? 0 : 5000;
        if (world->remote > 0 && !world->looked_far) {
            continue;
        }
        uint32_t hops = route_try(check, spot, world, flow);
        most = hops > most ? hops : most;
        if (!world->looked) {
            break;
        }
    }
    return most;
}

/* All random numbers of a small network, some of a large one: in all its states together those
 * are many. */
static inline uint32_t route_try_all(struct route_check *check, const struct route_spot *spot)
{
    enum { SMALL = 20, LARGE = 64, SOME = 5, FEW = 2, FLOWS = 8 };
    uint32_t n = check->topo->n_nodes, most = 0;
    uint32_t n_draws = n <= SMALL ? n : n <= LARGE ? SOME : FEW;
    uint64_t n_flows = check->route->ops->is_oblivious ? FLOWS : 1;
    struct route_world world = {.random = 0};

    for (uint32_t i = 0; i < n_draws && check->fault == ROUTE_SOUND; i++) {
        world.random = n <= SMALL ? UINT64_MAX / n * i + UINT64_MAX / n / 2
                                  : wf_rng_draw(spot->at, check->dst, i);
        for (uint64_t flow = 0; flow < n_flows && check->fault == ROUTE_SOUND; flow++) {
            uint32_t hops = route_try_queues(check, spot, &world, flow);
            most = hops > most ? hops : most;
        }
        if (!world.drew) {
            break;
        }
    }
    return most;
}

/* The hops that remain from here, at most. */
static uint32_t route_follow(struct route_check *check, struct route_spot spot)
{
    if (spot.at == check->dst || check->fault != ROUTE_SOUND) {
        return 0;
    }
    uint64_t key = route_state_key(&spot.state);
    uint32_t *known = route_set_find(&check->seen, spot.channel, key);
    if (*known == 1) {
        check->fault = ROUTE_LOOPS;
        return 0;
    }
    if (*known > 1) {
        return *known - 2;
    }
    *known = 1;
    uint32_t hops = route_try_all(check, &spot);
    *route_set_find(&check->seen, spot.channel, key) = hops + 2;
    return hops;
}

/* The first fault that is found, if any. `minimal` expects shortest ways. */
static inline enum route_fault route_check(const struct wf_route *route, bool minimal)
{
    struct route_check check = {.topo = route->topo, .route = route, .minimal = minimal};
    uint32_t n = route->topo->n_nodes;

    /* In large networks policies with choices are tried to some destinations only. */
    uint32_t step = n <= 64 || route->ops->is_oblivious ? 1 : n <= 100 ? 3 : 7;

    route_set_init(&check.edges, 1024);
    for (check.dst = 0; check.dst < n && check.fault == ROUTE_SOUND; check.dst += step) {
        route_set_init(&check.seen, 1024);
        for (uint32_t src = 0; src < n && check.fault == ROUTE_SOUND; src++) {
            struct route_spot spot = {.at = src,
                                      .channel = UINT32_MAX * UINT64_C(256) + 1 + src};
            uint32_t hops = route_follow(&check, spot);
            if (hops > route->hops_max && check.fault == ROUTE_SOUND) {
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

#endif
