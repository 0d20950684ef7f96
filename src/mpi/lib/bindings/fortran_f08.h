/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the functions behind the module mpi_f08 share. Like all of the Fortran interface,
 * this is linked into the program. */

#include "mpi/lib/bindings/fortran.h"

#include <ISO_Fortran_binding.h>

/* `ierror` is optional. */
static inline void wl_f08_code(int *ierror, int code)
{
    if (ierror != NULL) {
        *ierror = code;
    }
}

/* The address of an array that must be contiguous; the program ends if it is not. Or the
 * special value that the argument stands for. */
void *wl_f08_buffer(const CFI_cdesc_t *array);

/* A buffer of `count` elements of a type. If the array is not contiguous, the elements are
 * those of the array one after the other: then there is a datatype for all of them, which
 * wl_f08_done() frees. */
struct wl_f08_elements {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Datatype made; /* or MPI_DATATYPE_NULL */
};
struct wl_f08_elements wl_f08_elements(const CFI_cdesc_t *array, MPI_Count count,
                                       MPI_Datatype type);
void wl_f08_done(struct wl_f08_elements *elements);
