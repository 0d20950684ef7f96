/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Declarations that the files with hooks share. */

#include "mpi/capture/comms.h"
#include "mpi/capture/hooks.h"
#include "mpi/capture/ops.h"

/* Handles as numbers; 0 is a null handle. */
uint64_t wf_cap_request_handle(MPI_Request request);

/* The requests in progress. */
struct wf_cap_requests *wf_cap_requests(void);

/* Gives a new request a number and an entry; false if it is null, or there is no memory. */
bool wf_cap_new_request(const MPI_Request *request, struct wf_cap_request *entry);

/* The size of `count` elements. */
uint64_t wf_cap_bytes(MPI_Count count, MPI_Datatype type);
