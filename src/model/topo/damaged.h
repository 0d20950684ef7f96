/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A network in which some links and routers have failed. It is a topology of its own, whose
 * routes lead around the failures (model/topo/listed.h).
 *
 *   damage = item { "," item }
 *   item   = "link:" vertex "-" vertex    the cable between the two, in both directions
 *          | "router:" vertex             the vertex and all its cables
 *          | "links:" share               this many random cables
 *          | "links:" class ":" share     this many random cables of a class of links
 *          | "routers:" share             this many random switches
 *          | "seed:" number               the seed of the random choice; default 1
 *   share  = number | number "%"          of those that may fail: 3, 5%, 0.5%
 *
 * Vertices have the numbers of the whole network. A cable or switch that is the only one of
 * some vertex does not fail at random, since the vertex would be cut off. Switches that
 * nothing can reach any more are removed, and the vertices after them get lower numbers. Ports
 * keep their numbers; a port whose cable has failed has no neighbour.
 */

#include "model/topo/topo.h"

/* Builds the network `whole` after the damage of this text; `whole` must live as long as the result. Fails
 * with WF_EINVAL, naming the item, if an item makes no sense or a compute node is cut off.
 * Ownership as in ops->create. */
enum wf_status wf_topo_damaged_create(const struct wf_topo *whole, const char *text,
                                      struct wf_topo **out, struct wf_err *err);

/* Builds the network after the damage with all its vertices, which keep their numbers. Vertices
 * may be cut off: distance() is WF_TOPO_UNREACHED between those that do not reach each other.
 * `damage` is read only. The caller owns the result. */
struct wf_topo_damage; /* model/topo/damage.h */
struct wf_topo *wf_topo_damaged_create_all(const struct wf_topo_damage *damage);

/* The network before the damage, and the number that a vertex has in it. For any other topology
 * they return the topology itself and the same number. */
const struct wf_topo *wf_topo_damaged_whole(const struct wf_topo *topo);
uint32_t wf_topo_damaged_vertex(const struct wf_topo *topo, uint32_t vertex);
