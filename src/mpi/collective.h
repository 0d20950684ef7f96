/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPI_COLLECTIVE_H
#define WF_MPI_COLLECTIVE_H

#include "mpi/coll/coll.h"
#include "mpi/rank.h"

/* Takes part in a collective, with `bytes` of data. Its messages have a context of their own
 * and carry the number of the collective as tag, so that ranks which do not call the same
 * collectives wait for each other for ever rather than mistake one message for another. */
WF_NODISCARD
enum wf_called wf_mpi_collective(const struct wf_caller *who, enum wf_coll_kind kind,
                                 uint32_t comm, uint64_t bytes);

#endif
