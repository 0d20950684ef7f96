/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Dimensions and directions on grids. `here` and `there` are coordinates; bit d of `down` is set if a
 * packet travels dimension d downwards. */

#include "model/net/router/rules/rules.h"

/* The port by which a packet continues in a dimension. */
static inline uint32_t wf_router_dim_port(uint32_t down, uint32_t dim)
{
    return 2 * dim + (down >> dim & 1);
}

/* The dimensions that a packet has still to travel, a bit for each. */
static inline uint32_t wf_router_left(const struct wf_router_rules *rules, const uint16_t *here,
                                      const uint16_t *there)
{
    uint32_t left = 0;

    for (uint32_t dim = 0; dim < rules->n_dims; dim++) {
        left |= (uint32_t)(here[dim] != there[dim]) << dim;
    }
    return left;
}

/* The first of them; 0 if there is none. */
static inline uint32_t wf_router_first_dim(uint32_t left)
{
    return left != 0 ? (uint32_t)__builtin_ctz(left) : 0;
}

/* Whether the rest of the route in a dimension crosses the dateline of its ring. */
static inline bool wf_router_crosses(const uint16_t *here, const uint16_t *there, uint32_t down,
                                     uint32_t dim)
{
    return (down >> dim & 1) != 0 ? there[dim] > here[dim] : there[dim] < here[dim];
}

/* Whether a packet has still to cross the dateline of its first dimension, if that decides which
 * channels it may take. */
static inline bool wf_router_is_before(const struct wf_router_rules *rules,
                                       const uint16_t *here, const uint16_t *there,
                                       uint32_t down, uint32_t left)
{
    return (rules->scheme == WF_ROUTER_DATELINE || rules->scheme == WF_ROUTER_DATELINE_FREE) &&
           wf_router_crosses(here, there, down, wf_router_first_dim(left));
}

/* Hops upwards in a dimension, around its ring if need be. */
static inline uint32_t wf_router_hops_up(uint32_t here, uint32_t there, uint32_t size)
{
    return there >= here ? there - here : there + size - here;
}

/* Random bits of packet `index` of a message, whose number at its source is `number`. They depend on
 * packet and seed alone, so that the injection queue of a message is known before it is sent. */
static inline uint64_t wf_router_lots(const struct wf_router_rules *rules, uint32_t source,
                                      uint32_t number, uint32_t index)
{
    uint64_t own = wf_rng_mix(rules->seed ^ ((uint64_t)source << 32 | number));

    return wf_rng_mix(own + index * WF_RNG_GOLDEN);
}

/* The directions of a packet. Where both are equally long its lots decide. */
static inline uint32_t wf_router_directions(const struct wf_router_rules *rules,
                                            const uint32_t *size, const uint16_t *here,
                                            const uint16_t *there, uint64_t lots)
{
    uint32_t directions = 0;

    for (uint32_t dim = 0; dim < rules->n_dims; dim++) {
        uint32_t up = wf_router_hops_up(here[dim], there[dim], size[dim]);
        bool down = there[dim] < here[dim];

        if ((rules->rings >> dim & 1) != 0) {
            down = 2 * up == size[dim] ? (lots >> dim & 1) != 0 : 2 * up > size[dim];
        }
        directions |= (uint32_t)down << dim;
    }
    return directions;
}

/* Which of n injection queues a packet enters by its direction: that of its last dimension, or of the
 * one with most hops. */
static inline uint32_t wf_router_injector(const struct wf_router_rules *rules,
                                          const uint32_t *size, const uint16_t *here,
                                          const uint16_t *there, uint32_t down, uint32_t n)
{
    uint32_t most = 0, port = 0;

    for (uint32_t dim = 0; dim < rules->n_dims; dim++) {
        uint32_t up = wf_router_hops_up(here[dim], there[dim], size[dim]);
        uint32_t hops = (down >> dim & 1) == 0 || up == 0 ? up : size[dim] - up;

        if (hops > 0 && (rules->injection != WF_ROUTER_INJECT_LONGEST_PATH || hops > most)) {
            most = hops;
            port = wf_router_dim_port(down, dim);
        }
    }
    return port % n;
}
