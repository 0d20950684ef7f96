/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Failures in time (net.fail): which links work when, and the routes of every period between
 * two changes, an epoch. All of it is known before the run and never changes. Whether a link
 * works is a function of the time alone, so that no process has to tell another.
 *
 *   fail = item { "," item }
 *   item = part [ "@" time [ "-" time ] ]     part as in model/topo/damaged.h
 *
 * A part without a time has failed from the start. With one time it fails then, with two it
 * works again from the second time on. Vertices and ports have the numbers of the whole network
 * in all epochs.
 */

#include "base/units.h"
#include "model/net/route/route.h"
#include "model/net/tally.h"

/* What becomes of packets on a link that fails. */
enum wf_fault_action { WF_FAULT_RESEND, WF_FAULT_LOSE };

extern const char *const wf_fault_action_names[];

struct wf_fault_plan;

struct wf_fault_config {
    const struct wf_topo *topo; /* kept */
    const char *fail;
    const struct wf_route_ops *policy;
    uint32_t n_vcs;     /* virtual channels for the routes of an epoch, at most; or
                        * WF_VC_UNLIMITED */
    uint64_t threshold; /* of the routes (model/net/route/route.h) */
};

/* Whether the text has times; without them nothing changes during a run. */
bool wf_fault_has_times(const char *fail);

/* Checks the parameters about failures in time: without times they have no effect, and the
 * source of a packet learns of a loss no sooner than after `least`. */
enum wf_status wf_fault_check(const char *fail, int action, int64_t resend_delay, int64_t least,
                              struct wf_err *err);

/* Reads the failures and builds the routes of all epochs. WF_EINVAL names the item that makes
 * no sense, or the routing that cannot avoid failures. On success the caller owns *out. */
enum wf_status wf_fault_plan_create(const struct wf_fault_config *config,
                                    struct wf_fault_plan **out, struct wf_err *err);
void wf_fault_plan_free(struct wf_fault_plan *plan); /* null is allowed */

/* The epoch of a time. */
uint32_t wf_fault_epoch(const struct wf_fault_plan *plan, int64_t time);
uint32_t wf_fault_n_epochs(const struct wf_fault_plan *plan);
/* The first instant of an epoch. */
int64_t wf_fault_epoch_begin(const struct wf_fault_plan *plan, uint32_t epoch);

/* The network of an epoch, in which failed links have no far end, and its routes. */
const struct wf_topo *wf_fault_topo(const struct wf_fault_plan *plan, uint32_t epoch);
struct wf_route *wf_fault_route(const struct wf_fault_plan *plan, uint32_t epoch);

/* The most virtual channels of the routes of an epoch. */
uint32_t wf_fault_n_vcs(const struct wf_fault_plan *plan);

static inline bool wf_fault_reaches(const struct wf_fault_plan *plan, uint32_t epoch,
                                    uint32_t at, uint32_t dst)
{
    const struct wf_topo *topo = wf_fault_topo(plan, epoch);

    return topo->ops->distance(topo, at, dst) != WF_TOPO_UNREACHED;
}

/* When a link that works at the time `after` fails next; WF_TIME_MAX: never. */
int64_t wf_fault_next(const struct wf_fault_plan *plan, uint32_t vertex, uint32_t port,
                      int64_t after);

/* The first of the times `first`, first + step, ... at which one node reaches another;
 * WF_TIME_MAX: never again. */
int64_t wf_fault_retry(const struct wf_fault_plan *plan, uint32_t src, uint32_t dst,
                       int64_t first, int64_t step);

/* What was lost and why, for the end of a message about ranks that wait: "; node 7 cannot reach
 * node 12 from 2 ms on: router:12@2ms". Empty if nothing was lost. Returns `buf`. */
enum { WF_FAULT_TEXT_MAX = 384 };
const char *wf_fault_text(const struct wf_fault_plan *plan, const struct wf_net_losses *losses,
                          char *buf, size_t size);

struct wf_value; /* base/result/doc.h */
/* Adds the section `failures` to a result. */
void wf_fault_describe(const struct wf_fault_plan *plan, const struct wf_net_losses *losses,
                       struct wf_value *result);
