/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_TOPOLOGY_H
#define WF_MPILIB_TOPOLOGY_H

/* Topologies of communicators. */

#include "mpilib/properties.h"

/* The topology of a communicator; the program ends if it has none of this kind. */
const struct wl_topology *wl_topology_of(struct wl_rank *rank, MPI_Comm comm, int kind,
                                         const char *function);
/* Gives one to a communicator that has none. */
void wl_topology_give(struct wl_rank *rank, MPI_Comm comm, struct wl_topology *topology);

/* Who is so many steps away; MPI_PROC_NULL if nobody. */
int wl_cart_neighbor(const struct wl_topology *cart, int direction, int displacement);

int *wl_copy_ints(const int *list, size_t n);

#endif
