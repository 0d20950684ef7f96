/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_REQUESTS_H
#define WF_CAPTURE_REQUESTS_H

/*
 * What is known of handles: a table from a handle to what it stands for, for requests and for
 * messages that were probed. Several entries may have the same handle, since an MPI library may
 * give out one handle for all requests that are complete at once; they are alike.
 *
 * Requests have small numbers, which are used again.
 */

#include <stdbool.h>
#include <stdint.h>

#define WF_NOT_STAGED UINT64_MAX

enum wf_cap_request_kind {
    WF_REQUEST_PLAIN,
    WF_REQUEST_PERSISTENT,
    WF_REQUEST_SILENT,    /* of a call that makes no op that could be waited for */
    WF_REQUEST_CANCELLED, /* that was asked for; whether it is shows when it is complete */
    WF_REQUEST_NEW_COMM,  /* a communicator is known when it is complete */
};

struct wf_cap_request {
    uint64_t handle;
    uint64_t op;     /* ops up to the one that made it, if it may be cancelled; or 0 */
    uint64_t staged; /* number of the op that waits to learn its source (capture/ops.h) */
    uint32_t number; /* as in the trace; of a message its source */
    int32_t tag;     /* of a message */
    uint32_t comm;   /* place of the communicator in the table of these */
    uint32_t offset; /* what makes a source a rank of the recorded communicator */
    uint8_t kind;    /* enum wf_cap_request_kind */
};

struct wf_cap_requests {
    struct wf_cap_request *entries; /* with a handle of 0: free */
    uint32_t mask, n;
    uint32_t *free_numbers;
    uint32_t n_free, room, next_number;
};

/* Numbers for requests. False if there is no memory. */
bool wf_cap_number_take(struct wf_cap_requests *requests, uint32_t *number);
void wf_cap_number_give(struct wf_cap_requests *requests, uint32_t number);

/* False if there is no memory. Handles are not 0. */
bool wf_cap_requests_put(struct wf_cap_requests *requests,
                         const struct wf_cap_request *request);

/* The oldest entry of this handle, or null. */
struct wf_cap_request *wf_cap_requests_find(const struct wf_cap_requests *requests,
                                            uint64_t handle);

/* Takes it out. False if there is none. */
bool wf_cap_requests_take(struct wf_cap_requests *requests, uint64_t handle,
                          struct wf_cap_request *out);

#endif
