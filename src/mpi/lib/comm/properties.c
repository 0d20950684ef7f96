/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of objects, and the functions that set and get names. */
#include "mpi/lib/comm/properties.h"

#include "mpi/lib/comm/topology.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/rma/window.h"
#include "mpi/lib/type/datatype.h"

#include <stdio.h>
#include <stdlib.h>

struct wl_properties *wl_properties_get(struct wl_properties **properties)
{
    if (*properties == NULL) {
        *properties = wl_calloc(1, sizeof(**properties));
    }
    return *properties;
}

void wl_properties_free(struct wl_properties *properties)
{
    if (properties == NULL) {
        return;
    }
    while (properties->attributes != NULL) {
        struct wl_attribute *next = properties->attributes->next;
        free(properties->attributes);
        properties->attributes = next;
    }
    wl_topology_free(properties->topology);
    free(properties);
}

struct wl_properties **wl_comm_properties(struct wl_rank *rank, MPI_Comm comm)
{
    return wl_comm_of(rank, comm).properties;
}

struct wl_properties **wl_win_properties(struct wl_rank *rank, MPI_Win win)
{
    return &wl_win_of(rank, win)->properties;
}

/* All ranks share the predefined datatypes, but not their properties. */
struct wl_predefined_type {
    struct wl_predefined_type *next;
    MPI_Datatype datatype;
    struct wl_properties *properties;
};

struct wl_properties **wl_type_properties(struct wl_rank *rank, MPI_Datatype datatype)
{
    struct wl_type *own = wl_table_get(&rank->types, WL_TYPE, datatype);

    if (own != NULL) {
        return &own->properties;
    }
    (void)wl_type_of(rank, datatype);
    struct wl_predefined_type *at = rank->predefined_types;
    while (at != NULL && at->datatype != datatype) {
        at = at->next;
    }
    if (at == NULL) {
        at = wl_malloc(sizeof(*at));
        *at = (struct wl_predefined_type){rank->predefined_types, datatype, NULL};
        rank->predefined_types = at;
    }
    return &at->properties;
}

void wl_type_properties_free(struct wl_rank *rank)
{
    while (rank->predefined_types != NULL) {
        struct wl_predefined_type *next = rank->predefined_types->next;
        wl_properties_free(rank->predefined_types->properties);
        free(rank->predefined_types);
        rank->predefined_types = next;
    }
}

/* ---- names ---- */

void wl_set_name(struct wl_properties **properties, const char *name)
{
    struct wl_properties *own = wl_properties_get(properties);

    (void)snprintf(own->name, sizeof(own->name), "%s", name);
    own->named = true;
}

void wl_get_name(const struct wl_properties *properties, const char *unnamed, char *name,
                 int *length)
{
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s",
                       properties != NULL && properties->named ? properties->name : unnamed);
}
