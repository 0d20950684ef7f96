/* SPDX-License-Identifier: Apache-2.0 */
/* What programs ask of datatypes, and packing by hand. */
#include "mpilib/datatype_contents.h"
#include "mpilib/properties.h"

#include <stdlib.h>
#include <string.h>

/* A target releases what its origin holds: they may be in different threads. */
void wl_type_hold(const struct wl_type *type)
{
    struct wl_type *own = (struct wl_type *)(uintptr_t)type;

    if (!type->predefined) {
        (void)__atomic_add_fetch(&own->refs, 1, __ATOMIC_RELAXED);
    }
}

void wl_type_release(const struct wl_type *type)
{
    struct wl_type *own = (struct wl_type *)(uintptr_t)type;

    if (type != NULL && !type->predefined &&
        __atomic_sub_fetch(&own->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        free((void *)(uintptr_t)type->blocks);
        wl_recipe_free(type->recipe);
        wl_extra_free(type->extra);
        free(own);
    }
}

int MPI_Type_commit(MPI_Datatype *datatype)
{
    struct wl_rank *rank = wl_enter();

    (void)wl_type_of(rank, *datatype, "MPI_Type_commit");
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype *datatype)
{
    struct wl_rank *rank = wl_enter();

    wl_attributes_delete(rank, *datatype, &wl_type_of(rank, *datatype, "MPI_Type_free")->extra);
    struct wl_type *type = wl_table_take(&rank->types, WL_TYPE, *datatype);

    if (type == NULL) {
        wl_fatal(rank, "MPI_Type_free", "there is no datatype 0x%x that can be freed",
                 (unsigned)*datatype);
    }
    wl_type_release(type);
    *datatype = MPI_DATATYPE_NULL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* A copy of what is known of a type. */
static struct wl_type look(MPI_Datatype datatype, const char *function)
{
    struct wl_rank *rank = wl_enter();
    struct wl_type type = *wl_type_of(rank, datatype, function);

    wl_leave(rank);
    return type;
}

int MPI_Type_size(MPI_Datatype datatype, int *size)
{
    *size = (int)look(datatype, "MPI_Type_size").size;
    return MPI_SUCCESS;
}

int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    *size = (MPI_Count)look(datatype, "MPI_Type_size_x").size;
    return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    struct wl_type type = look(datatype, "MPI_Type_get_extent");

    *lb = type.lb;
    *extent = type.extent;
    return MPI_SUCCESS;
}

int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    struct wl_type type = look(datatype, "MPI_Type_get_extent_x");

    *lb = type.lb;
    *extent = type.extent;
    return MPI_SUCCESS;
}

int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    struct wl_type type = look(datatype, "MPI_Type_get_true_extent_x");

    *lb = type.true_lb;
    *extent = type.true_extent;
    return MPI_SUCCESS;
}

int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    *extent = look(datatype, "MPI_Type_extent").extent;
    return MPI_SUCCESS;
}

int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    *displacement = look(datatype, "MPI_Type_lb").lb;
    return MPI_SUCCESS;
}

int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    struct wl_type type = look(datatype, "MPI_Type_ub");

    *displacement = type.lb + type.extent;
    return MPI_SUCCESS;
}

int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    struct wl_type type = look(datatype, "MPI_Type_get_true_extent");

    *lb = type.true_lb;
    *extent = type.true_extent;
    return MPI_SUCCESS;
}

int MPI_Get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)(intptr_t)location;
    return MPI_SUCCESS;
}

int MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}

MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint displacement)
{
    return base + displacement;
}

MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other)
{
    return one - other;
}

int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    (void)comm;
    *size = incount * (int)look(datatype, "MPI_Pack_size").size;
    return MPI_SUCCESS;
}

int MPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
             int *position, MPI_Comm comm)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, datatype, "MPI_Pack");
    size_t bytes = (size_t)incount * type->size;

    (void)comm;
    if (bytes > (size_t)outsize - (size_t)*position) {
        wl_fatal(rank, "MPI_Pack", "%zu bytes do not fit behind %d of %d", bytes, *position,
                 outsize);
    }
    wl_pack(type, inbuf, (size_t)incount, (unsigned char *)outbuf + *position);
    *position += (int)bytes;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
               MPI_Datatype datatype, MPI_Comm comm)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, datatype, "MPI_Unpack");
    size_t bytes = (size_t)outcount * type->size;

    (void)comm;
    if (bytes > (size_t)insize - (size_t)*position) {
        wl_fatal(rank, "MPI_Unpack", "%zu bytes are not there behind %d of %d", bytes,
                 *position, insize);
    }
    wl_unpack(type, (const unsigned char *)inbuf + *position, (size_t)outcount, outbuf);
    *position += (int)bytes;
    wl_leave(rank);
    return MPI_SUCCESS;
}
