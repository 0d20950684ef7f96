/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_ROUTE_WORLD_H
#define WF_TESTS_HARNESS_ROUTE_WORLD_H

#include "net/route/route.h"

/* What the policy sees besides the topology. */
struct route_world {
    uint64_t random;
    uint32_t at, port;             /* the queue that differs from the others */
    bool longer;                   /* whether it is longer or shorter */
    uint64_t remote;               /* all queues of other vertices */
    bool drew, looked, looked_far; /* what the policy asked for */
};

static inline uint64_t route_world_queue(const struct wf_route_query *query, uint32_t vertex,
                                         uint32_t port)
{
    struct route_world *world = query->arg;

    world->looked = true;
    if (vertex != world->at) {
        world->looked_far = true;
        return world->remote;
    }
    return (port == world->port) == world->longer ? 1000 : 1;
}

static inline uint64_t route_world_random(const struct wf_route_query *query)
{
    struct route_world *world = query->arg;

    world->drew = true;
    return world->random;
}

#endif
