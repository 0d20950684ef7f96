/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPI_INTERNAL_H
#define WF_MPI_INTERNAL_H

/* What the files of mpi/ share: the calls, with the context chosen by the caller. */

#include "mpi/rank.h"

/* Requests that are not the program's. */
#define WF_MPI_REQUEST_RECV (WF_MPI_REQUEST_MAX + 0) /* of a blocking receive */
#define WF_MPI_REQUEST_COLL (WF_MPI_REQUEST_MAX + 1) /* of a step of a collective */

WF_NODISCARD
enum wf_called wf_mpi_send_in(const struct wf_caller *who, const struct wf_peer *to,
                              uint32_t context);
void wf_mpi_irecv_in(const struct wf_caller *who, const struct wf_peer *from, uint32_t context,
                     uint32_t request);

/* Goes on with the collective under way: DONE when that is over, else BLOCKED. */
WF_NODISCARD enum wf_called wf_mpi_collective_go(const struct wf_caller *who);

#endif
