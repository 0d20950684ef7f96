/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPI_COLLECTIVE_H
#define WF_MPI_COLLECTIVE_H

/* Collectives under way. Shared by the files of mpi/ alone. */

#include "mpi/flight.h"

/* Which collective a message of one belongs to, by its tag: enum wf_coll_kind. */
uint32_t wf_collective_of_tag(int32_t tag);

/* Goes on with a collective, as far as that is possible now. */
void wf_collective_continue(const struct wf_caller *who, uint32_t cell);

#endif
