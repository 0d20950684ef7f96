/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_PROPERTIES_H
#define WF_MPILIB_PROPERTIES_H

/* What only few objects have: names, attributes, error handlers, topologies. */

#include "mpilib/communicator.h"

enum { WL_NAME_MAX = MPI_MAX_OBJECT_NAME };

struct wl_attribute {
    struct wl_attribute *next;
    int keyval;
    void *value;
};

/* How the members of a communicator are arranged. Lists belong to it. */
struct wl_topology {
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    int n;    /* dimensions, nodes */
    int *dims, *periods, *coords;
    int *index, *edges; /* of a graph: as the program gave them */
    int n_sources, n_destinations;
    int *sources, *destinations, *source_weights, *destination_weights;
    bool weighted;
};

struct wl_extra {
    char name[WL_NAME_MAX];
    bool named;
    struct wl_attribute *attributes;
    MPI_Errhandler errhandler; /* 0: as predefined */
    struct wl_topology *topology;
};

void wl_extra_free(struct wl_extra *extra); /* null is allowed */
void wl_topology_free(struct wl_topology *topology);

/* The extra of an object that may have none yet. */
struct wl_extra *wl_extra_of(struct wl_extra **extra);

/* Attributes go with copies of their object; the program's functions decide. Returns what the
 * first of them that fails returns: then the copy is incomplete. */
int wl_attributes_copy(struct wl_rank *rank, int from, struct wl_extra *const *old,
                       struct wl_extra **copy);
/* The extra of a datatype; of the predefined ones each rank has its own. */
struct wl_extra **wl_type_extra(struct wl_rank *rank, MPI_Datatype datatype,
                                const char *function);
void wl_type_extras_free(struct wl_rank *rank);
void wl_attributes_delete(struct wl_rank *rank, int handle, struct wl_extra *const *extra);

#endif
