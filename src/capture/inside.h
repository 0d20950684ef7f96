/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_INSIDE_H
#define WF_CAPTURE_INSIDE_H

/* What the files with hooks share. */

#include "capture/comms.h"
#include "capture/hooks.h"
#include "capture/ops.h"

/* Handles as numbers; 0 is a null handle. */
uint64_t wf_cap_request_handle(MPI_Request request);

/* Requests that are under way. */
struct wf_cap_requests *wf_cap_requests(void);

/* A number for the new request and an entry for it; false if it is null, or cannot be. */
bool wf_cap_new_request(const MPI_Request *request, struct wf_cap_request *entry);

/* The bytes of so many elements. */
uint64_t wf_cap_bytes(MPI_Count count, MPI_Datatype type);

#endif
