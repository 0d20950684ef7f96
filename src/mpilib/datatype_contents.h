/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_DATATYPE_CONTENTS_H
#define WF_MPILIB_DATATYPE_CONTENTS_H

/* How the program made a datatype, for those who ask. */

#include "mpilib/datatype.h"

enum { WL_INT_LISTS = 8 };

/* As MPI_Type_get_contents() has it; the integers are several lists one behind the other. */
struct wl_parts {
    int combiner;
    struct {
        const int *list;
        int n;
    } ints[WL_INT_LISTS];
    const MPI_Aint *addresses;
    int n_addresses;
    const MPI_Datatype *types;
    int n_types;
};

/* Keeps it with the type; copies all, and holds the old types. */
void wl_recipe_keep(MPI_Datatype type, const struct wl_parts *parts);
void wl_recipe_free(struct wl_recipe *recipe); /* null is allowed */

#endif
