/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the step asks of the host: topologies, routing policies and traffic patterns that are
 * functions of other modules. Devices have tables instead (model/net/router/lockstep/routes.h).
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_lockstep_net;

/* Trees: the ports that a packet may take, as wf_router_ports(). Returns their number. */
uint32_t wf_lockstep_route_ports(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                 uint32_t slot, uint16_t *ports);

/* Asks the routing policy for the first packet of an input: a channel, + 1; 0 if the packet is
 * at its destination. `ports` has room for the ports of a router. */
uint32_t wf_lockstep_route_choose(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                  uint32_t cycle, uint16_t *ports);

/* ---- messages ---- */

struct wf_lockstep_list;

/* Makes a list of elements of `size` bytes longer. */
void wf_lockstep_host_grow(struct wf_lockstep_list *list, uint32_t size);

/* ---- patterns ---- */

/* The distance between two nodes. */
uint32_t wf_lockstep_hops(const struct wf_lockstep_net *net, uint32_t node, uint32_t other);
