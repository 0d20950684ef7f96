/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_ROUTER_WATCH_H
#define WF_NET_ROUTER_WATCH_H

/* What routers tell the overseer, and the overseer all nodes. */

#include "net/router/net.h"

/* ---- router_watch.c: what a router tells the overseer ---- */

/* A packet got nothing: it may have to be looked at later. */
void wf_router_watch(const struct wf_router_spot *spot);
/* WF_ROUTER_WATCH. */
void wf_router_look(const struct wf_router_spot *spot);
/* The first packet of an input begins to leave. */
void wf_router_unwatch(const struct wf_router_spot *spot, struct wf_router_input *input,
                       uint32_t number);
/* A packet was injected or consumed. */
void wf_router_counted(const struct wf_router_spot *spot);
/* WF_ROUTER_REPORT. */
void wf_router_report(const struct wf_router_spot *spot);

/* ---- router_overseer.c: one process that hears of all routers ---- */

bool wf_router_is_overseen(const struct wf_router_net *model);
void wf_router_add_overseer(struct wf_router_net *model, struct wf_engine *engine);
/* Cycles from a router to the overseer, always the same, so that what it knows is how things
 * were at one time. */
int64_t wf_router_to_overseer(const struct wf_router_net *model);

/* ---- router_route.c ---- */

/* Whether the first packet of an input can go nowhere but into full queues, and into which. */
bool wf_router_is_stuck(const struct wf_router_spot *spot, uint32_t input,
                        struct wf_wait *wait);

#endif
