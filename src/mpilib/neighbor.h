/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_NEIGHBOR_H
#define WF_MPILIB_NEIGHBOR_H

/* Who is next to whom in the topology of a communicator. */

#include "mpilib/collective.h"

/* Sets the sources and destinations of a neighbour collective; the program ends if the
 * communicator has no topology. */
void wl_neighbors(struct wl_rank *rank, const struct wl_view *view, struct wl_coll *coll);

#endif
