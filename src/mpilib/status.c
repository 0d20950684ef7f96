/* SPDX-License-Identifier: Apache-2.0 */
/* What a status says. */
#include "mpilib/request.h"

#include <string.h>

int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    struct wl_rank *rank = wl_enter();
    size_t size = wl_type_of(rank, datatype, "MPI_Get_count")->size;
    uint64_t bytes = wl_status_bytes(status);

    *count = size == 0           ? (bytes == 0 ? 0 : MPI_UNDEFINED)
             : bytes % size == 0 ? (int)(bytes / size)
                                 : MPI_UNDEFINED;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, datatype, "MPI_Get_elements");

    *count = wl_type_elements(type, wl_status_bytes(status));
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    MPI_Count all;
    int code = MPI_Get_elements_x(status, datatype, &all);

    *count = (int)all;
    return code;
}

int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, datatype, "MPI_Status_set_elements");
    MPI_Count each = wl_type_elements(type, type->size);

    wl_status_set_bytes(status, each > 0 ? (uint64_t)(count / each) * type->size : 0);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    return MPI_Status_set_elements_x(status, datatype, count);
}

int MPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    status->weft_cancelled = flag != 0;
    return MPI_SUCCESS;
}

int MPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->weft_cancelled;
    return MPI_SUCCESS;
}

int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    memcpy(c_status, f_status, sizeof(*c_status));
    return MPI_SUCCESS;
}

int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    memcpy(f_status, c_status, sizeof(*c_status));
    return MPI_SUCCESS;
}

/* A status has the same form in all three. */

int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    *c_status = *f08_status;
    return MPI_SUCCESS;
}

int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    *f08_status = *c_status;
    return MPI_SUCCESS;
}

int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return MPI_Status_c2f(f08_status, f_status);
}

int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return MPI_Status_f2c(f_status, f08_status);
}
