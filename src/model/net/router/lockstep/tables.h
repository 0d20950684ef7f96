/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The tables of routes that devices need (model/net/router/lockstep/routes.h). */

#include "model/net/router/lockstep/inside.h"

/* Why there can be no tables for the routing of a network; null: there can be, or none are needed. */
const char *wf_lockstep_routes_limit(const struct wf_router_net *model);

/* Makes the tables of a network, whose other tables are filled. Nothing for grids. The caller
 * releases them with wf_lockstep_routes_free(). */
void wf_lockstep_routes_fill(struct wf_lockstep_net *net, const struct wf_router_net *model);
void wf_lockstep_routes_free(struct wf_lockstep_net *net);

/* Whether two networks with the same links have the same routes. */
bool wf_lockstep_same_routes(const struct wf_lockstep_net *a, const struct wf_lockstep_net *b);
