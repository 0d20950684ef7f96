/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_REQUEST_H
#define WF_RANKS_REQUEST_H

/* Requests: what is complete, who waits for it. Shared by the files of mpi/ alone. */

#include "ranks/request_record.h"

/* The request of a request number, or what it is started from; 0 if it is not in use. */
uint32_t wf_request_find(const struct wf_caller *who, uint32_t number);

/* Whether a number is free for a new request; that it is not is the rank's failure. */
WF_NODISCARD bool wf_request_is_free(const struct wf_caller *who, uint32_t request);

/* Makes a request findable by its request number, which is free. */
void wf_request_register(const struct wf_caller *who, uint32_t cell, uint32_t request);

/* Waits for these handles, at most two, which have no numbers; a cell of 0 is none. */
WF_NODISCARD enum wf_called wf_request_await(const struct wf_caller *who, const uint32_t *cells,
                                             uint32_t n);

/* The request is complete at the time `at`. Wakes whoever waits for it: nothing of the rank may
 * be in use by the caller. */
void wf_request_complete(const struct wf_caller *who, uint32_t cell, int64_t at);

/* Removes and frees all complete handles of a collective, in the order of time, and returns
 * where that moves its clock. Of these, *n_received were receives. */
int64_t wf_request_collect(const struct wf_caller *who, uint32_t collective, int64_t clock,
                           uint32_t *n_received);

#endif
