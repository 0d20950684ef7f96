/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction operations as objects, and reductions without anybody else. */
#include "mpilib/memory.h"
#include "mpilib/reduction.h"

#include <stdlib.h>

int MPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op)
{
    struct wl_rank *rank = wl_enter();
    struct wl_op *made = wl_malloc(sizeof(*made));

    *made = (struct wl_op){.commutes = commute != 0, .function = function};
    *op = wl_table_add(&rank->ops, WL_OP, made);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op *op)
{
    struct wl_rank *rank = wl_enter();
    struct wl_op *own = wl_table_take(&rank->ops, WL_OP, *op);

    if (own == NULL) {
        wl_fatal(rank, "MPI_Op_free", "there is no operation 0x%x that can be freed",
                 (unsigned)*op);
    }
    free(own);
    *op = MPI_OP_NULL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Op_commutative(MPI_Op op, int *commute)
{
    struct wl_rank *rank = wl_enter();

    *commute = wl_op_of(rank, op, "MPI_Op_commutative")->commutes;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
                     MPI_Op op)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_reduction what = {wl_op_of(rank, op, "MPI_Reduce_local"),
                                      wl_type_of(rank, datatype, "MPI_Reduce_local"), datatype,
                                      (size_t)count};
    size_t bytes = what.count * what.type->size;
    unsigned char *packed = wl_malloc(2 * bytes);

    wl_pack(what.type, inbuf, what.count, packed);
    wl_pack(what.type, inoutbuf, what.count, packed + bytes);
    wl_reduce(rank, &what, packed, packed + bytes);
    wl_unpack(what.type, packed + bytes, what.count, inoutbuf);
    free(packed);
    wl_leave(rank);
    return MPI_SUCCESS;
}
