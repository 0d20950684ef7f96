/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the step asks of the host: topologies, routing policies and traffic patterns that are
 * functions of other modules. Devices do without.
 */

#include <stdbool.h>
#include <stdint.h>

struct wf_lockstep_net;

/* Trees: the ports that a packet may take, as wf_router_ports(). Returns their number. */
uint32_t wf_lockstep_host_ports(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                uint32_t slot, uint16_t *ports);

/* Asks the routing policy for the first packet of an input: a channel, + 1; 0 if the packet is
 * at its destination. */
uint32_t wf_lockstep_host_choose(const struct wf_lockstep_net *net, uint32_t r, uint32_t input,
                                 uint32_t cycle);

/* With net.stats=links: a packet of the node `src` begins to leave by a port. */
void wf_lockstep_host_leaves(const struct wf_lockstep_net *net, uint32_t r, uint32_t port,
                             uint32_t src, uint32_t cycle);

/* ---- messages, if they are not all single packets that are injected at once or dropped ---- */

struct wf_lockstep_more;

/* Before cycle 0. */
void wf_lockstep_host_begin(const struct wf_lockstep_net *net, uint32_t node);
/* Sends what the node sends until the beginning of the cycle. */
void wf_lockstep_host_burst(const struct wf_lockstep_net *net, uint32_t node, uint32_t cycle);
/* Injects messages that wait, at the beginning of a decision. Returns whether some still
 * wait. */
bool wf_lockstep_host_inject(const struct wf_lockstep_net *net, uint32_t node, uint32_t cycle);
/* A packet is consumed; its message may be complete. */
void wf_lockstep_host_consumed(const struct wf_lockstep_net *net, uint32_t node,
                               const struct wf_lockstep_more *more, uint32_t pace,
                               uint32_t cycle);

/* ---- patterns ---- */

/* The destination of a message; WF_LOCKSTEP_NONE: it is not sent. */
uint32_t wf_lockstep_host_destination(const struct wf_lockstep_net *net, uint32_t node,
                                      uint32_t message);
