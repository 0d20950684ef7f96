/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mpi/lib/library.h"

/* The leader of a group creates no intercommunicator: MPI_Intercomm_create(), which the other
 * members of the group call, returns this code there. */
void wl_intercomm_refuse(struct wl_rank *rank, MPI_Comm local_comm, int tag, int code);
