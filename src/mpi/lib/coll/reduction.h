/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reduction operations (MPI-3.1, 5.9), applied to packed data. */

#include "mpi/lib/abi/adapter.h"
#include "mpi/lib/type/datatype.h"

struct wl_op {
    uint32_t predefined; /* the index of its handle; 0 if the program created it */
    bool commutes;
    MPI_User_function *function;      /* the program's; null if predefined... */
    MPI_User_function_c *large;       /* ...or if this is its function, for large counts */
    const struct wl_adapter *adapter; /* calls the function; null: it is called directly */
};

/* Whether the program computes it. */
static inline bool wl_op_is_user(const struct wl_op *op)
{
    return op->function != NULL || op->large != NULL;
}

/* The operation of a handle; the program ends if there is none. */
const struct wl_op *wl_op_of(const struct wl_rank *rank, MPI_Op handle);

struct wl_reduction {
    const struct wl_op *op;
    const struct wl_type *type;
    MPI_Datatype handle; /* of the type */
    size_t count;
};

/* inout = in op inout, for all elements. The program ends if the operation is not defined for
 * the type. */
void wl_reduce(const struct wl_rank *rank, const struct wl_reduction *what, const void *in,
               void *inout);

/* Whether a predefined operation is defined for the type. */
bool wl_reduction_is_defined(const struct wl_reduction *what);

/* If a type consists of pairs, the handle of the predefined pair type; else its own. */
MPI_Datatype wl_pair_within(struct wl_rank *rank, const struct wl_type *type,
                            MPI_Datatype handle);
