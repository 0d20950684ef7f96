/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The arguments with which the program constructed a datatype, as MPI_Type_get_contents()
 * returns them (MPI-4.0, 5.1.13). */

#include "mpi/lib/type/datatype.h"

enum { WL_INT_LISTS = 8 };

struct wl_constructor {
    int combiner;
    /* The integers are the concatenation of these lists. If the program has called a
     * function with large counts, those of `counts` and then the addresses are its large
     * counts instead. */
    struct {
        const int *ints;
        const MPI_Count *counts; /* or these */
        MPI_Count n;
    } lists[WL_INT_LISTS];
    const MPI_Aint *addresses;
    MPI_Count n_addresses;
    const MPI_Datatype *types;
    MPI_Count n_types;
};

/* Copies the arguments into the type, and holds the old types. */
void wl_contents_set(struct wl_rank *rank, MPI_Datatype type,
                     const struct wl_constructor *constructor);
/* Whether a type was made with these integers and nothing else. */
bool wl_contents_are(const struct wl_type *type, int combiner, const int *ints, int n);
void wl_contents_free(struct wl_contents *contents); /* null is allowed */
