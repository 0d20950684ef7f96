/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_LIB_NEIGHBOR_H
#define WF_VRANK_LIB_NEIGHBOR_H

/* Who is next to whom in the topology of a communicator. */

#include "vrank/lib/coll.h"

/* Sets the sources and destinations of a neighbour collective; the program ends if the
 * communicator has no topology. */
void wl_neighbors(struct wl_rank *rank, const struct wl_view *view, struct wl_coll *coll);

#endif
