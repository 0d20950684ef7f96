/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Distances in a damaged network, from those of the whole network, which knows them by arithmetic.
 *
 * Most shortest routes survive: if the whole network's route meets no failure, its length is the
 * distance. Otherwise a search from the vertex towards the destination finds it, led by the whole
 * network's distances, which are never too large (A*: Hart, Nilsson, Raphael, "A formal basis for the
 * heuristic determination of minimum cost paths", 1968). Once questions about a destination have
 * taken as much effort as a search of the whole network from there, its row is filled
 * (model/topo/rows.h): together they never take more than about twice the better of the two.
 */

#include "model/topo/listed.h"

struct wf_topo_detours;

/* `listed` is the damaged network, complete; vertex v of it has the number number[v] in `whole`, and
 * nodes the same number in both. All are borrowed. */
struct wf_topo_detours *wf_topo_detours_create(const struct wf_topo_listed *listed,
                                               const struct wf_topo *whole,
                                               const uint32_t *number);
void wf_topo_detours_free(struct wf_topo_detours *detours); /* null is allowed */

/* These are safe to call from any thread. As in struct wf_topo_ops. */
uint32_t wf_topo_detours_distance(const struct wf_topo_detours *detours, uint32_t at,
                                  uint32_t dst);

/* Whether `to`, a neighbour of a vertex that is `left` hops from `dst`, is nearer to it. Costs less than
 * the distance. */
bool wf_topo_detours_is_nearer(const struct wf_topo_detours *detours, uint32_t to, uint32_t dst,
                               uint32_t left);
