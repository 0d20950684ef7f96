/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The decisions of a run (program/ops/decision.h), for weft run --check=all-orders. A receive
 * with a wildcard whose sender the schedule fixes is posted as one from that sender; a test that
 * must succeed waits. What else could have happened follows from vector clocks: a message that
 * was not sent because of the decision could have been received instead.
 *
 * All ranks run in one thread of one process. Without wl_orders() none of these may be called.
 */

#include "mpi/lib/library.h"

struct wl_collective;
struct wl_message;
struct wl_order_meeting;
struct wl_order_message;
struct wl_recv;
struct wl_request;
struct wl_view;

static inline bool wl_orders(void)
{
    return wl.orders != NULL;
}

struct wl_orders *wl_orders_new(void);
void wl_orders_free(struct wl_orders *orders); /* null is allowed */

/* ---- messages ---- */

/* The rank sends a message of the program to `to`. The result belongs to wl.orders. */
struct wl_order_message *wl_order_sent(const struct wl_rank *rank, uint32_t to,
                                       const struct wl_message *message);
/* The rank posts a receive: it has a number from then on. Those of any source are decisions. */
void wl_order_posts(const struct wl_rank *rank, struct wl_recv *recv);
/* The program learns that its receive has got the message. */
void wl_order_received(const struct wl_rank *rank, const struct wl_recv *recv,
                       const struct wl_message *message);

/* ---- decisions ---- */

/* A receive or probe of any source is about to be posted. Returns what the schedule says. A
 * look that finds nothing, again, is no decision: then *decision is null. */
int32_t wl_order_source(struct wl_rank *rank, enum wf_decision_kind kind,
                        const struct wl_recv *recv, struct wl_order_decision **decision);
/* Likewise for a test, or a wait for one of several. `key` tells requests apart. */
int32_t wl_order_requests(struct wl_rank *rank, enum wf_decision_kind kind, uint64_t key,
                          struct wl_order_decision **decision);
/* A request that is complete, or could be: at this place of the array. */
void wl_order_option(struct wl_order_decision *decision, int place,
                     const struct wl_request *request);
/* The outcome of a probe, look, test or wait. */
void wl_order_decided(const struct wl_rank *rank, struct wl_order_decision *decision,
                      int32_t outcome);
/* The rank does something else than looking. */
void wl_order_goes_on(struct wl_rank *rank);

/* ---- collectives ---- */

/* The rank calls a collective; `coll` may be null: one of which nobody returns before all have
 * called it. Returns what wl_order_met() takes once it is complete, which happens by itself with
 * `blocks`. */
struct wl_order_meeting *wl_order_meets(const struct wl_rank *rank, const struct wl_view *view,
                                        const struct wl_collective *coll, bool blocks);
void wl_order_met(const struct wl_rank *rank, const struct wl_order_meeting *meeting);

/* ---- the end ---- */

/* Tells the simulator all decisions, in the order in which they were begun. */
void wl_orders_tell(void);
