/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPI_COLLECTIVE_H
#define WF_MPI_COLLECTIVE_H

/* Collectives under way. Shared by the files of mpi/ alone. */

#include "mpi/flight.h"

/* Which collective a message of one belongs to, by its tag: enum wf_coll_kind. */
uint32_t wf_collective_of_tag(int32_t tag);

/* Whether one tag is that of another collective in the place of that with the other tag: as
 * many were begun on the communicator before. */
bool wf_collective_replaces(int32_t tag, int32_t other);

/* Goes on with a collective, as far as that is possible now. */
void wf_collective_continue(const struct wf_caller *who, uint32_t cell);

#endif
