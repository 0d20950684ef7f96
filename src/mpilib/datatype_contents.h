/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The arguments with which the program constructed a datatype, as MPI_Type_get_contents()
 * returns them (MPI-3.1, 4.1.13). */

#include "mpilib/datatype.h"

enum { WL_INT_LISTS = 8 };

struct wl_constructor {
    int combiner;
    /* The integers are the concatenation of these lists. */
    struct {
        const int *list;
        int n;
    } ints[WL_INT_LISTS];
    const MPI_Aint *addresses;
    int n_addresses;
    const MPI_Datatype *types;
    int n_types;
};

/* Copies the arguments into the type, and holds the old types. */
void wl_contents_set(struct wl_rank *rank, MPI_Datatype type,
                     const struct wl_constructor *constructor);
void wl_contents_free(struct wl_contents *contents); /* null is allowed */
