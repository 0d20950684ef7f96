/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * MPI_Comm_spawn() (MPI-4.0, 11.8) in a run whose number of ranks is fixed: the last ranks are spare
 * (weft run --spare). They wait until a rank starts them, and are then a world of their own.
 * Without spare ranks these functions do nothing.
 */

#include "mpi/lib/library.h"

/* A rank begins. Creates its MPI_COMM_WORLD; a spare rank waits before until it is started, or
 * until nobody can start it any more. */
void wl_spare_begin(struct wl_rank *rank);

/* The rank starts no other ranks any more. The last one of all dismisses the ranks that wait. */
void wl_spare_go(struct wl_rank *rank);
