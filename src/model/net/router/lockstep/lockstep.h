/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Synthetic traffic on routers, simulated in lock step instead of by events. The
 * result is the same, digest included. docs/dev/decisions/0018-lock-step.md has the design.
 *
 * A struct wf_lockstep has what is known before the run: sizes and tables. It refers to the
 * network model and the traffic, which must outlive it, and does not change during runs.
 */

#include "base/status.h"
#include "model/net/router/lockstep/state.h"

#include <signal.h>

struct wf_net;
struct wf_net_link_load;
struct wf_traffic;
struct wf_traffic_tally;
struct wf_lockstep;

struct wf_lockstep_config {
    const struct wf_net *net;
    const struct wf_traffic *traffic;
    bool device; /* only what devices can do */
};

/* WF_EUSAGE with the name of what only events simulate. */
enum wf_status wf_lockstep_check(const struct wf_lockstep_config *config, struct wf_err *err);

/* Whether a network moves single flits: events are so many then that lock step is nearly always
 * faster. */
bool wf_lockstep_has_flits(const struct wf_net *net);

/* Whether a network is a grid of a frequent kind, for which lock step has code of its own: it is faster
 * than events unless nearly all links are idle. */
bool wf_lockstep_is_frequent(const struct wf_lockstep_config *config);

/* Prepares a run. WF_EUSAGE with the name of what only events simulate. The caller owns *out. */
enum wf_status wf_lockstep_new(const struct wf_lockstep_config *config,
                               struct wf_lockstep **out, struct wf_err *err);
void wf_lockstep_free(struct wf_lockstep *lock); /* null is allowed */

/* The network. Its tables are set, in the order of hosts; state and out are not. */
const struct wf_lockstep_net *wf_lockstep_net(const struct wf_lockstep *lock);

struct wf_lockstep_run {
    uint32_t threads;
    const volatile sig_atomic_t *stop; /* not 0: the run ends soon. May be null */
    /* Called now and then by one thread with the cycle reached. May be null. */
    void (*progress)(void *arg, uint64_t cycle);
    void *progress_arg;
};

struct wf_lockstep_result {
    struct wf_traffic_tally *tally; /* filled in; the counters of the network follow it, if it
                                     * keeps any */
    uint64_t cycle;                 /* cycles simulated */
    uint64_t hops;                  /* packets that left a router */
    uint32_t threads;               /* that took part */
    bool blocked; /* packets do not move any more: the run failed and needs events */
};

/* Runs on the cores of this machine. WF_EINTR if it was stopped: the result is partial.
 * WF_ELIMIT, with result->blocked, if packets do not move any more and the deadlock detector of
 * the events is needed; then there is no tally. */
enum wf_status wf_lockstep_run_host(const struct wf_lockstep *lock,
                                    const struct wf_lockstep_run *run,
                                    struct wf_lockstep_result *result, struct wf_err *err);

/* The state of the network after a run. */
struct wf_lockstep_final {
    const struct wf_lockstep_out *out;
    const uint32_t *packets; /* of each channel: router * n_ports * vcs + channel */
    const struct wf_net_link_load *loads; /* with net.stats=links: router * n_ports + port */
    /* Blocked queues (wf_lockstep_is_blocked()) of the routers with the lowest numbers, at
     * least WF_NET_WAITS_MAX if there are as many. */
    const struct wf_lockstep_wait *waits;
    size_t n_waits;
};

/* Fills in a zeroed tally, which has space for the counters of the network after it if the
 * network keeps any. */
void wf_lockstep_collect(const struct wf_lockstep *lock, const struct wf_lockstep_final *final,
                         struct wf_traffic_tally *tally);
