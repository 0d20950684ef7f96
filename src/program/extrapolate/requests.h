/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The open requests of a rank, and how an op names those that it means. Numbers of requests are
 * arbitrary, and the place among all open requests changes with whatever else is open. So an op
 * means all requests, all of some sorts, or the oldest or newest of a sort, where a sort is what
 * began the request: a receive, a send, or a kind of collective on one communicator.
 */

#include "program/extrapolate/program.h"

struct wf_ext_request {
    uint32_t number, sort;
};

struct wf_ext_requests {
    struct wf_ext_request *items; /* by age, the oldest first */
    uint32_t n, capacity;
};

/* The sort of the request that an op of this shape begins. */
uint32_t wf_ext_sort(const struct wf_ext_shape *shape);

void wf_ext_requests_add(struct wf_ext_requests *list, uint32_t number, uint32_t sort);
/* The place of a request; list->n if it has none. */
uint32_t wf_ext_requests_find(const struct wf_ext_requests *list, uint32_t number);

/* Names the `n` requests at these places of the list in all possible ways: shape->wait becomes
 * WF_EXT_WAIT_OPEN until wf_ext_requests_decide() takes one of the names. `single`: the op means
 * exactly one request wherever it occurs. `table` keeps the names. */
void wf_ext_requests_name(const struct wf_ext_requests *list, const uint32_t *places,
                          uint32_t n, bool single, struct wf_strings *table,
                          struct wf_ext_shape *shape);
/* Takes few names for all ops of all ranks, by a greedy cover, so that a wait has the same name
 * whatever else is open; of several, the most specific. */
void wf_ext_requests_decide(struct wf_ext_input *input);

/* Calls choose() with the place of each request that a shape means; false if the list does not
 * have all of them. */
bool wf_ext_requests_choose(const struct wf_ext_requests *list,
                            const struct wf_ext_shape *shape, const struct wf_strings *table,
                            void (*choose)(void *arg, uint32_t place), void *arg);
