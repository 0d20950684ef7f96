/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_INSIDE_H
#define WF_CAPTURE_INSIDE_H

/* What the files with hooks share. */

#include "capture/comms.h"
#include "capture/hooks.h"
#include "capture/ops.h"

/* Handles as numbers; 0 is a null handle. */
uint64_t wf_cap_request_handle(MPI_Request request);
uint64_t wf_cap_message_handle(MPI_Message message);

/* Requests that are under way. */
struct wf_cap_requests *wf_cap_requests(void);

/* A number for the new request and an entry for it; false if it is null, or cannot be. */
bool wf_cap_new_request(const MPI_Request *request, struct wf_cap_request *entry);

/* Ranks and tags as ops have them. */
uint32_t wf_cap_peer(int peer, const struct wf_cap_comm *comm);
int32_t wf_cap_tag(int tag);

/* The bytes of so many elements. */
uint64_t wf_cap_bytes(MPI_Count count, MPI_Datatype type);

/* A region, as a number that all ranks give its name. */
uint32_t wf_cap_region_number(const char *name);

#endif
