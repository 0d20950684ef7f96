/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the step asks of the host: topologies, routing policies and traffic patterns that are
 * functions of other modules. Tiles need none of them.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_lockstep_net;

/* Trees: the ports that a packet may take, as wf_router_ports(). Returns their number. */
uint32_t wf_lockstep_route_ports(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                 uint32_t slot, uint32_t *ports);

/* Asks the routing policy for the first packet of an input: a channel, + 1; 0 if the packet is
 * at its destination. */
uint32_t wf_lockstep_route_choose(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                  uint32_t cycle);

/* ---- messages ---- */

struct wf_lockstep_list;

/* Makes a list of elements of `size` bytes longer. */
void wf_lockstep_host_grow(struct wf_lockstep_list *list, uint32_t size);

/* ---- traffic ---- */

/* The destination of a message, with the random numbers from number *count on; WF_LOCKSTEP_NONE:
 * there is none. */
uint32_t wf_lockstep_host_destination(const struct wf_lockstep_net *net, uint32_t node,
                                      uint32_t message, uint32_t *count);

/* Likewise its size, after its destination was drawn. */
uint64_t wf_lockstep_host_size(const struct wf_lockstep_net *net, uint32_t node,
                               uint32_t message, uint32_t *count);

/* Picoseconds from one burst of a node, at the time `now`, to the next; INT64_MAX: there is none. */
int64_t wf_lockstep_host_gap(const struct wf_lockstep_net *net, uint32_t node, uint32_t burst,
                             int64_t now);
