/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTER_WATCH_H
#define WF_NET_ROUTER_WATCH_H

/* What routers tell the detector, and the detector all nodes. */

#include "net/router/net.h"

/* ---- router_watch.c: what a router tells the detector ---- */

/* A packet got nothing: it may have to be looked at later. */
void wf_router_watch(const struct wf_router_view *view);
/* WF_ROUTER_WATCH. */
void wf_router_look(const struct wf_router_view *view);
/* The first packet of an input begins to leave. */
void wf_router_unwatch(const struct wf_router_view *view, struct wf_router_input *input,
                       uint32_t number);
/* A packet was injected or consumed. */
void wf_router_counted(const struct wf_router_view *view);
/* WF_ROUTER_REPORT. */
void wf_router_report(const struct wf_router_view *view);

/* ---- router_overseer.c: one process that hears of all routers ---- */

bool wf_router_has_detector(const struct wf_router_net *model);
void wf_router_add_detector(struct wf_router_net *model, struct wf_engine *engine);
/* Cycles from a router to the detector, always the same, so that what it knows is how things
 * were at one time. */
int64_t wf_router_to_detector(const struct wf_router_net *model);

/* ---- router_route.c ---- */

/* Whether the first packet of an input can go nowhere but into full queues, and into which. */
bool wf_router_is_blocked(const struct wf_router_view *view, uint32_t input,
                          struct wf_net_wait *wait);

#endif
