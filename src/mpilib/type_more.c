/* SPDX-License-Identifier: Apache-2.0 */
/* Datatypes by their size, and arrays that are spread over processes. */
#include "mpilib/datatype_contents.h"
#include "mpilib/memory.h"

#include <stdlib.h>

int MPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    static const struct {
        int typeclass, size;
        MPI_Datatype type;
    } known[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
        {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}, {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
        {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].typeclass == typeclass && known[i].size == size) {
            *datatype = known[i].type;
            return MPI_SUCCESS;
        }
    }
    wl_fatal(wl_enter(), "MPI_Type_match_size", "there is no type of %d bytes", size);
}

/* The smallest type with as many decimal digits, or that goes as far. */
int MPI_Type_create_f90_integer(int range, MPI_Datatype *newtype)
{
    *newtype = range <= 2   ? MPI_INTEGER1
               : range <= 4 ? MPI_INTEGER2
               : range <= 9 ? MPI_INTEGER4
                            : MPI_INTEGER8;
    return MPI_SUCCESS;
}

/* MPI_UNDEFINED is below zero and asks for nothing. */
static bool fits_single(int precision, int range)
{
    return precision <= 6 && range <= 37;
}

int MPI_Type_create_f90_real(int precision, int range, MPI_Datatype *newtype)
{
    *newtype = fits_single(precision, range) ? MPI_REAL4 : MPI_REAL8;
    return MPI_SUCCESS;
}

int MPI_Type_create_f90_complex(int precision, int range, MPI_Datatype *newtype)
{
    *newtype = fits_single(precision, range) ? MPI_COMPLEX8 : MPI_COMPLEX16;
    return MPI_SUCCESS;
}

/* ---- arrays that are spread ---- */

struct spread {
    int distribution, argument, processes, place; /* of one dimension */
    int size;
};

static bool is_mine(const struct spread *spread, int i)
{
    int block = spread->argument;

    if (spread->distribution == MPI_DISTRIBUTE_NONE || spread->processes == 1) {
        return true;
    }
    if (spread->distribution == MPI_DISTRIBUTE_BLOCK) {
        if (block == MPI_DISTRIBUTE_DFLT_DARG) {
            block = (spread->size + spread->processes - 1) / spread->processes;
        }
        return i / block == spread->place;
    }
    block = block == MPI_DISTRIBUTE_DFLT_DARG ? 1 : block;
    return i / block % spread->processes == spread->place;
}

/* The elements of this process, in the order of the array. */
static int *find_elements(const struct spread *dims, int ndims, bool c_order, size_t all,
                          int *n_found)
{
    int *found = wl_malloc(all * sizeof(int));

    *n_found = 0;
    for (size_t at = 0; at < all; at++) {
        size_t left = at;
        bool mine = true;
        for (int k = 0; k < ndims && mine; k++) {
            const struct spread *dim = &dims[c_order ? ndims - 1 - k : k];
            mine = is_mine(dim, (int)(left % (size_t)dim->size));
            left /= (size_t)dim->size;
        }
        if (mine) {
            found[(*n_found)++] = (int)at;
        }
    }
    return found;
}

int MPI_Type_create_darray(int size, int place, int ndims, const int *gsizes,
                           const int *distribs, const int *dargs, const int *psizes, int order,
                           MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct wl_rank *rank = wl_enter();
    struct spread *dims = wl_malloc((size_t)ndims * sizeof(struct spread));
    int left = place, n;
    size_t all = 1;
    MPI_Datatype list;

    for (int d = ndims - 1; d >= 0; d--) { /* processes are always in the order of C */
        dims[d] =
            (struct spread){distribs[d], dargs[d], psizes[d], left % psizes[d], gsizes[d]};
        left /= psizes[d];
        all *= (size_t)gsizes[d];
    }
    int *elements = find_elements(dims, ndims, order == MPI_ORDER_C, all, &n);
    (void)MPI_Type_create_indexed_block(n, 1, elements, oldtype, &list);
    (void)MPI_Type_create_resized(
        list, 0, (MPI_Aint)all * wl_type_of(rank, oldtype, "MPI_Type_create_darray")->extent,
        newtype);
    struct wl_type *made = wl_table_get(&rank->types, WL_TYPE, *newtype);
    wl_recipe_free(made->recipe);
    wl_recipe_keep(*newtype, &(struct wl_parts){.combiner = MPI_COMBINER_DARRAY,
                                                .ints = {{(int[]){size, place, ndims}, 3},
                                                         {gsizes, ndims},
                                                         {distribs, ndims},
                                                         {dargs, ndims},
                                                         {psizes, ndims},
                                                         {&order, 1}},
                                                .types = &oldtype,
                                                .n_types = 1});
    (void)MPI_Type_free(&list);
    free(elements);
    free(dims);
    wl_leave(rank);
    return MPI_SUCCESS;
}
