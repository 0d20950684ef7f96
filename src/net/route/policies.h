/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTE_POLICIES_H
#define WF_NET_ROUTE_POLICIES_H

/* Which routing policies there are, one file each. Only net/route/registry.c and those files
 * need this. */

#include "net/route/route.h"

extern const struct wf_route_ops wf_route_adaptive_ops;
extern const struct wf_route_ops wf_route_ecmp_ops;
extern const struct wf_route_ops wf_route_minimal_ops;
extern const struct wf_route_ops wf_route_par_ops;
extern const struct wf_route_ops wf_route_table_ops;
extern const struct wf_route_ops wf_route_ugal_g_ops;
extern const struct wf_route_ops wf_route_ugal_l_ops;
extern const struct wf_route_ops wf_route_updown_ops;
extern const struct wf_route_ops wf_route_valiant_ops;

#endif
