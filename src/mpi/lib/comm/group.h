/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Groups: ordered lists of ranks of the program (MPI-3.1, 6.3). */

#include "mpi/lib/comm/communicator.h"

struct wl_group {
    uint32_t size;
    uint32_t members[];
};

/* The group of a handle; the program ends if there is none. */
const struct wl_group *wl_group_of(struct wl_rank *rank, MPI_Group handle);
/* The place of a rank of the program in the group; size if it is no member. */
uint32_t wl_group_find(const struct wl_group *group, uint32_t rank);
/* A new group of members first to first + size - 1 of a communicator. */
MPI_Group wl_group_new(struct wl_rank *rank, const struct wl_comm *comm, uint32_t first,
                       uint32_t size);
