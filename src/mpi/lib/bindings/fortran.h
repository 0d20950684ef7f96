/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Conversions between Fortran and C. This code is linked into the program, not into the
 * library, because MPI_BOTTOM and its like are variables of the program.
 */

#include <stddef.h>
#include <stdlib.h>
#include <weft/mpi.h>

/* Only Fortran calls mpi_x_(): nothing declares it. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { WL_F_TEXT_MAX = 4096 };

/* A copy of a text without leading and trailing blanks. The caller frees it. */
char *wl_f_text(const char *text, size_t length);
/* Copies a text and pads it with blanks. */
void wl_f_fill(char *to, size_t length, const char *text);

/* Special values: only their addresses mean something. */
extern int weft_mpi_errcodes_ignore_;
extern char weft_mpi_argv_null_, weft_mpi_argvs_null_;

/* C's value of an argument that may be a special value in Fortran. */
void *wl_f_place(void *buffer);
MPI_Status *wl_f_status(MPI_Status *status);
int *wl_f_weights(int *weights);

/* Converts places in arrays: Fortran counts from 1. MPI_UNDEFINED stays. */
void wl_f_count_one(int *index);
void wl_f_count_all(int n, int *indices);

/* The place in the program from which the next MPI function is called: reports name it instead of
 * this interface. */
void weft_mpi_called_from(const void *site);

/* Attributes of Fortran are integers. The functions of a keyval that Fortran has created take
 * integers, as pointers. */
void weft_mpi_keyval_is_fortran(int keyval);
int weft_mpi_attribute_set(int object, int keyval, MPI_Aint value);
int weft_mpi_attribute_get(int object, int keyval, MPI_Aint *value, int *flag);
