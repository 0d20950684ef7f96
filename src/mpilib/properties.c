/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/properties.h"

#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

struct wl_extra *wl_extra_of(struct wl_extra **extra)
{
    if (*extra == NULL) {
        *extra = wl_calloc(1, sizeof(**extra));
    }
    return *extra;
}

struct wl_extra *wl_comm_extra(const struct wl_view *view)
{
    return wl_extra_of(view->extra);
}

void wl_topology_free(struct wl_topology *topology)
{
    if (topology != NULL) {
        int *const lists[] = {
            topology->dims,         topology->periods,        topology->coords,
            topology->index,        topology->edges,          topology->sources,
            topology->destinations, topology->source_weights, topology->destination_weights};
        for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
            free(lists[i]);
        }
        free(topology);
    }
}

void wl_extra_free(struct wl_extra *extra)
{
    if (extra == NULL) {
        return;
    }
    while (extra->attributes != NULL) {
        struct wl_attribute *next = extra->attributes->next;
        free(extra->attributes);
        extra->attributes = next;
    }
    wl_topology_free(extra->topology);
    free(extra);
}
