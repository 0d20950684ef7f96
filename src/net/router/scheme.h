/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTER_SCHEME_H
#define WF_NET_ROUTER_SCHEME_H

/* Which routing a router model has, and the routings that are policies of net/route/route.h. */

#include "net/router/net.h"

/* ---- router_scheme.c ---- */

extern const char *const wf_router_routings[];

/* What the routing needs on the topology; sets grid, route, scheme, request, escapes, bubble
 * and vcs. What cannot work is WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_router_choose_scheme(struct wf_router_net *model, struct wf_err *err);

/* ---- router_policy.c ---- */

/* The channels that the first packet of an input may take, by a routing policy: one of the
 * class that the policy chose in the first cycle in which it asked. Returns how many, 0 if it
 * has not asked yet. */
uint32_t wf_router_policy_channels(const struct wf_router_view *view, uint32_t input,
                                   uint16_t *channels);
/* Lets it ask, if it has not yet. */
void wf_router_policy_ask(const struct wf_router_view *view, uint32_t input);

/* ---- router_route.c ---- */

/* The channels that a packet may ask for which came to a router by an input, or is injected
 * there (WF_ROUTER_NONE): as far as the scheme alone decides it. Sets the one to be tried last,
 * or WF_ROUTER_NONE; returns how many others there are, into WF_ROUTER_INPUTS_MAX. Not for
 * policies, which answer for themselves. */
uint32_t wf_router_channels_of(const struct wf_router_net *model, uint32_t vertex,
                               const struct wf_router_packet *packet, uint32_t input,
                               uint16_t *channels, uint32_t *escape);

#endif
