/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Properties that few communicators, datatypes and windows have: a name, attributes, an error
 * handler, a topology (MPI-3.1, 6.7, 6.8, 7 and 8.3). They are allocated when an object gets
 * its first one, and belong to the object.
 */

#include "mpi/lib/abi/adapter.h"
#include "mpi/lib/comm/communicator.h"

struct wl_attribute {
    struct wl_attribute *next;
    int keyval;
    void *value;     /* set in C... */
    bool integer;    /* ...or in Fortran: */
    MPI_Aint number; /* in C the value is its address */
};

/* How the members of a communicator are arranged. Owns its lists. */
struct wl_topology {
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    int n;    /* dimensions or nodes */
    int *dims, *periods, *coords;
    int *index, *edges; /* of a graph: as in MPI_Graph_create() */
    int n_sources, n_destinations;
    int *sources, *destinations, *source_weights, *destination_weights;
    bool weighted;
};

struct wl_properties {
    char name[MPI_MAX_OBJECT_NAME];
    bool named;
    struct wl_attribute *attributes; /* the newest first */
    MPI_Errhandler errhandler;       /* 0: the predefined one */
    struct wl_topology *topology;
};

void wl_properties_free(struct wl_properties *properties); /* null is allowed */

/* Allocates the properties of an object that has none yet. */
struct wl_properties *wl_properties_get(struct wl_properties **properties);

/* Where the properties of an object are; the program ends if there is no such object. Each rank
 * has its own properties of predefined datatypes. */
struct wl_properties **wl_comm_properties(struct wl_rank *rank, MPI_Comm comm);
struct wl_properties **wl_type_properties(struct wl_rank *rank, MPI_Datatype datatype);
struct wl_properties **wl_win_properties(struct wl_rank *rank, MPI_Win win);
struct wl_properties **wl_session_properties(struct wl_rank *rank, MPI_Session session);
/* The name of an object; `unnamed` if the program has not set one. */
void wl_set_name(struct wl_properties **properties, const char *name);
void wl_get_name(const struct wl_properties *properties, const char *unnamed, char *name,
                 int *length);

void wl_type_properties_free(struct wl_rank *rank);

/* Copies attributes to a duplicate of object `from`, as the program's copy functions decide.
 * Returns the code of the first one that fails; then the copy is incomplete. */
int wl_attributes_copy(struct wl_rank *rank, int from, struct wl_properties *const *old,
                       struct wl_properties **copy);
void wl_attributes_delete(struct wl_rank *rank, int handle,
                          struct wl_properties *const *properties);
/* Whether a keyval was created for objects of the kind that the function called is about. */
bool wl_keyval_is_for(const struct wl_rank *rank, int handle);
/* Where the adapter of a keyval is; null if the program has not created such a one. */
const struct wl_adapter **wl_keyval_adapter(const struct wl_rank *rank, int handle);
