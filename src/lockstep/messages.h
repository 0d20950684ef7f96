/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Messages of a run in lock step on a host: those that wait for injection, and those of which
 * only some packets have arrived. The rules are those of net/router/ends.c and
 * traffic/traffic.c. Each node has lists of its own, which only the thread of its router uses.
 */

#include "lockstep/state.h"

struct wf_lockstep;
struct wf_lockstep_messages;

/* Whether a run needs this: otherwise every message is a packet that is injected at once or
 * dropped. */
bool wf_lockstep_messages_needed(const struct wf_lockstep *lock);

struct wf_lockstep_messages *wf_lockstep_messages_new(const struct wf_lockstep *lock);
void wf_lockstep_messages_free(struct wf_lockstep_messages *all); /* null is allowed */

/* Closed loops, at the beginning of a cycle, before the node's router takes it: reacts to
 * messages that have arrived. */
void wf_lockstep_messages_react(const struct wf_lockstep_net *net, uint32_t node,
                                uint32_t cycle);
/* Whether a node has rounds left, and how many. */
uint64_t wf_lockstep_messages_left(const struct wf_lockstep_net *net, uint32_t node);

/* After the last cycle: what a node sends before the end of the run. */
void wf_lockstep_messages_end(const struct wf_lockstep_net *net, uint32_t node);
