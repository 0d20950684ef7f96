/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_BINDINGS_FORTRAN_H
#define WF_MPILIB_BINDINGS_FORTRAN_H

/*
 * What Fortran says in another way than C. This is linked into the program itself and not into
 * the library, because addresses of variables of the program have a meaning.
 */

#include <stddef.h>
#include <stdlib.h>
#include <weft/mpi.h>

enum { WL_F_TEXT_MAX = 4096 };

/* A text without the blanks at its end, allocated; and a text that blanks are put behind. */
char *wl_f_text(const char *text, size_t length);
void wl_f_fill(char *to, size_t length, const char *text);

/* The special values of C for those of Fortran. */
void *wl_f_place(void *buffer);
MPI_Status *wl_f_status(MPI_Status *status);
int *wl_f_weights(int *weights);

/* Places in arrays count from 1, unless they are MPI_UNDEFINED. */
void wl_f_count_one(int *index);
void wl_f_count_all(int n, int *indices);

#endif
