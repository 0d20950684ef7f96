/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses (MPI-3.1, 3.2.5 and 12.3). */
#include "mpi/lib/p2p/request.h"

#include <string.h>

int wl_MPI_Get_count(struct wl_rank *rank, const MPI_Status *status, MPI_Datatype datatype,
                     MPI_Count *count)
{
    size_t size = wl_type_of(rank, datatype)->size;
    uint64_t bytes = wl_status_bytes(status);

    *count = size == 0           ? (bytes == 0 ? 0 : MPI_UNDEFINED)
             : bytes % size == 0 ? (MPI_Count)(bytes / size)
                                 : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int wl_MPI_Get_elements(struct wl_rank *rank, const MPI_Status *status, MPI_Datatype datatype,
                        MPI_Count *count)
{
    const struct wl_type *type = wl_type_of(rank, datatype);

    *count = wl_type_elements(type, wl_status_bytes(status));
    return MPI_SUCCESS;
}

/* `count` is a number of elements of the datatype, as in MPICH and Open MPI. By the standard it
 * is one of values, as MPI_Get_elements() returns. */
int wl_MPI_Status_set_elements_x(struct wl_rank *rank, MPI_Status *status,
                                 MPI_Datatype datatype, MPI_Count count)
{
    const struct wl_type *type = wl_type_of(rank, datatype);

    wl_status_set_bytes(status, (uint64_t)count * type->size);
    return MPI_SUCCESS;
}

int wl_MPI_Status_set_cancelled(struct wl_rank *rank, MPI_Status *status, int flag)
{
    status->weft_cancelled = flag != 0;
    return MPI_SUCCESS;
}

int wl_MPI_Test_cancelled(struct wl_rank *rank, const MPI_Status *status, int *flag)
{
    *flag = status->weft_cancelled;
    return MPI_SUCCESS;
}

int wl_MPI_Status_f2c(struct wl_rank *rank, const MPI_Fint *f_status, MPI_Status *c_status)
{
    memcpy(c_status, f_status, sizeof(*c_status));
    return MPI_SUCCESS;
}

int wl_MPI_Status_c2f(struct wl_rank *rank, const MPI_Status *c_status, MPI_Fint *f_status)
{
    memcpy(f_status, c_status, sizeof(*c_status));
    return MPI_SUCCESS;
}

/* The three kinds of status have the same layout. */

int wl_MPI_Status_f082c(struct wl_rank *rank, const MPI_F08_status *f08_status,
                        MPI_Status *c_status)
{
    *c_status = *f08_status;
    return MPI_SUCCESS;
}

int wl_MPI_Status_c2f08(struct wl_rank *rank, const MPI_Status *c_status,
                        MPI_F08_status *f08_status)
{
    *f08_status = *c_status;
    return MPI_SUCCESS;
}
