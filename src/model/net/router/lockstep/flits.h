/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Wormhole routers in lock step: they do what model/net/router/events/flit.c and flit_alloc.c do, with the same
 * digest. A flit is moved by a handful of instructions, where it is three events otherwise. One
 * thread simulates the whole network.
 *
 * Grids only (model/net/router/lockstep/check.c), on which routes cannot deadlock, with links that are all alike and move a flit in
 * each cycle, and at most 64 queues a router: sets of queues and of channels are words.
 */

#include "model/net/router/lockstep/lockstep.h"

enum {
    WF_LOCKSTEP_FLIT_PORTS = 8,    /* of a router, with that to its node */
    WF_LOCKSTEP_FLIT_QUEUES = 64,  /* of a router; its channels are as many */
    WF_LOCKSTEP_FLIT_PACKETS = 250 /* of a queue */
};

/* As wf_lockstep_run_host(). */
enum wf_status wf_lockstep_run_flits(const struct wf_lockstep *lock,
                                     const struct wf_lockstep_run *run,
                                     struct wf_lockstep_result *result, struct wf_err *err);
