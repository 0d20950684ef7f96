/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/lib/neighbor.h"

void wl_neighbors(struct wl_rank *rank, const struct wl_view *view, struct wl_coll *coll)
{
    (void)view;
    wl_fatal(rank, coll->function, "the communicator has no topology");
}
