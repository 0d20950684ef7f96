/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Process topologies (MPI-3.1, 7): topology.c has Cartesian ones, topology_graph.c graphs. */

#include "mpi/lib/coll/collective.h"
#include "mpi/lib/comm/properties.h"

/* The topology of a communicator; the program ends if it has none of this kind. */
const struct wl_topology *wl_topology_of(struct wl_rank *rank, MPI_Comm comm, int kind);
/* Sets the topology of a new communicator, which takes it. */
void wl_topology_set(struct wl_rank *rank, MPI_Comm comm, struct wl_topology *topology);
struct wl_topology *wl_topology_copy(const struct wl_topology *from); /* null is allowed */
void wl_topology_free(struct wl_topology *topology);                  /* likewise */

/* Fills in the sources and destinations of a neighborhood collective, allocated; the program
 * ends if the communicator has no topology. */
void wl_topology_neighbors(struct wl_collective *collective);

int *wl_copy_ints(const int *list, size_t n);
