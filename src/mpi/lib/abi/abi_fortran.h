/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Another MPI's interface for Fortran. Each function converts its arguments and calls weft's own
 * Fortran function (mpi/lib/bindings). MPI_BOTTOM and its like are variables in common blocks: this
 * code is loaded once for each copy of the program, whose common blocks it then sees.
 */

#include "mpi/lib/abi/abi.h"

/* Only Fortran calls mpi_x_(): nothing declares it. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
/* The Fortran functions of weft are declared as taking addresses only. */
#pragma GCC diagnostic ignored "-Wlto-type-mismatch"

/* weft's common blocks (mpi/lib/bindings/fortran_values.c). */
extern int weft_mpi_bottom_, weft_mpi_in_place_, weft_mpi_unweighted_, weft_mpi_weights_empty_;
extern int weft_mpi_status_ignore_[], weft_mpi_statuses_ignore_[];

/* weft's value of an argument that may be a special value of the other MPI. */
void *wa_f_place(void *buffer);
void *wa_f_weights(void *weights);
/* The status in C's layout, or MPI_STATUS_IGNORE. */
MPI_Status *wa_f_status(void *status);
