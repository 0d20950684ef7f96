/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_BINDINGS_FORTRAN_CALLS_H
#define WF_MPILIB_BINDINGS_FORTRAN_CALLS_H

/* The functions of Fortran that are written by hand. */

#include <stddef.h>
#include <weft/mpi.h>

/* What is called when the rank ends: of the library. */
void weft_mpi_at_end(void (*function)(void));

void mpi_init_(int *ierror);
void mpi_init_thread_(const int *required, int *provided, int *ierror);
void mpi_finalize_(int *ierror);
double mpi_wtime_(void);
double mpi_wtick_(void);
void mpi_pcontrol_(const int *level);
MPI_Aint mpi_aint_add_(const MPI_Aint *base, const MPI_Aint *displacement);
MPI_Aint mpi_aint_diff_(const MPI_Aint *one, const MPI_Aint *other);
void mpi_get_address_(const void *location, MPI_Aint *address, int *ierror);
void mpi_address_(const void *location, int *address, int *ierror);
void mpi_type_extent_(const int *type, int *extent, int *ierror);
void mpi_type_lb_(const int *type, int *displacement, int *ierror);
void mpi_type_ub_(const int *type, int *displacement, int *ierror);
void mpi_type_hvector_(const int *count, const int *blocklength, const int *stride,
                       const int *oldtype, int *newtype, int *ierror);
void mpi_type_hindexed_(const int *count, const int *blocklengths, const int *displacements,
                        const int *oldtype, int *newtype, int *ierror);
void mpi_type_struct_(const int *count, const int *blocklengths, const int *displacements,
                      const int *types, int *newtype, int *ierror);
void mpi_alloc_mem_(const MPI_Aint *size, const int *info, void *baseptr, int *ierror);
void mpi_win_allocate_(const MPI_Aint *size, const int *unit, const int *info, const int *comm,
                       void *baseptr, int *win, int *ierror);
void mpi_win_allocate_shared_(const MPI_Aint *size, const int *unit, const int *info,
                              const int *comm, void *baseptr, int *win, int *ierror);
void mpi_win_shared_query_(const int *win, const int *rank, MPI_Aint *size, int *unit,
                           void *baseptr, int *ierror);
void mpi_buffer_detach_(void *buffer, int *size, int *ierror);
void mpi_comm_set_attr_(const int *comm, const int *keyval, const MPI_Aint *value, int *ierror);
void mpi_comm_get_attr_(const int *comm, const int *keyval, MPI_Aint *value, int *flag,
                        int *ierror);
void mpi_attr_put_(const int *comm, const int *keyval, const int *value, int *ierror);
void mpi_attr_get_(const int *comm, const int *keyval, int *value, int *flag, int *ierror);
void mpi_info_get_(const int *info, const char *key, const int *valuelen, char *value,
                   int *flag, int *ierror, size_t key_length, size_t value_length);

#endif
