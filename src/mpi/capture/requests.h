/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A table from handles of MPI to what they stand for: requests, probed messages, communicators,
 * windows. Several entries may have the same handle, because an MPI library may return one
 * handle for all requests that are complete at once.
 *
 * Requests get small numbers, which are used again.
 */

#include <stdbool.h>
#include <stdint.h>

#define WF_NOT_STAGED UINT64_MAX

enum wf_cap_request_kind {
    WF_REQUEST_PLAIN,
    WF_REQUEST_PERSISTENT,
    WF_REQUEST_SILENT,    /* of a call whose op cannot be waited for */
    WF_REQUEST_CANCELLED, /* cancelling was asked for; its status will tell whether it was */
    WF_REQUEST_NEW_COMM,  /* a communicator is known when it is complete */
};

struct wf_cap_request {
    uint64_t handle;
    uint64_t op;     /* number of its op + 1, if it may be cancelled; or 0 */
    uint64_t staged; /* number of the op that waits to learn its source (mpi/capture/ops.h) */
    uint32_t number; /* as in the trace; of a message: its source */
    int32_t tag;     /* of a message */
    uint32_t comm;   /* number of the communicator */
    uint32_t offset; /* to be added to a source to get its rank in the recorded communicator */
    uint8_t kind;    /* enum wf_cap_request_kind */
};

struct wf_cap_requests {
    struct wf_cap_request *entries; /* with a handle of 0: free */
    uint32_t mask, n;
    uint32_t *free_numbers;
    uint32_t n_free, room, next_number;
};

/* Takes a number for a request, and gives one back. False if there is no memory. */
bool wf_cap_number_take(struct wf_cap_requests *requests, uint32_t *number);
void wf_cap_number_give(struct wf_cap_requests *requests, uint32_t number);

/* Adds an entry, whose handle is not 0. False if there is no memory. */
bool wf_cap_requests_put(struct wf_cap_requests *requests,
                         const struct wf_cap_request *request);

/* The oldest entry of this handle, or null. */
struct wf_cap_request *wf_cap_requests_find(const struct wf_cap_requests *requests,
                                            uint64_t handle);

/* Removes that entry and copies it to `out`; false if there is none. */
bool wf_cap_requests_take(struct wf_cap_requests *requests, uint64_t handle,
                          struct wf_cap_request *out);
