/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_REDUCTION_H
#define WF_MPILIB_REDUCTION_H

/* Reduction operations on packed data. */

#include "mpilib/datatype.h"

struct wl_op {
    uint32_t predefined; /* place of its handle; 0 if the program made it */
    bool commutes;
    MPI_User_function *function;
};

/* The operation of a handle; the program ends if there is none. */
const struct wl_op *wl_op_of(const struct wl_rank *rank, MPI_Op handle, const char *function);

/* What a reduction is over. */
struct wl_reduction {
    const struct wl_op *op;
    const struct wl_type *type;
    MPI_Datatype handle;
    size_t count;
};

/* inout = in op inout, for all elements, packed. The program ends if the operation does not go
 * with the type. */
void wl_reduce(const struct wl_rank *rank, const struct wl_reduction *what, const void *in,
               void *inout);

/* Whether a predefined operation goes with the type. */
bool wl_reduction_is_known(const struct wl_reduction *what);

/* Of a type that is made of pairs, the handle of those; of others its own. */
MPI_Datatype wl_pair_within(struct wl_rank *rank, const struct wl_type *type,
                            MPI_Datatype handle);

#endif
