/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTE_SHORTEST_QUEUE_H
#define WF_NET_ROUTE_SHORTEST_QUEUE_H

/* The next() of policies that follow minimal ports, the one with the shortest queue each time.
 * Of equal ones the first, counted around from a place that flow and router determine: idle
 * networks are filled evenly, and the choice needs no random number. */

#include "net/vc/vc.h"

uint32_t wf_route_shortest_queue_next(const struct wf_route_query *query,
                                      struct wf_route_state *state);

/* A number that spreads flows over ports, another one at each router. */
uint64_t wf_route_flow_hash(const struct wf_route_query *query);

#endif
