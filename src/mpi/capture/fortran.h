/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * For Fortran calls that do not pass through those of C (all of Open MPI, some of MPICH's
 * mpi_f08): arguments of Fortran as C has them. A status of Fortran is one of C, bit for bit.
 */

#include "mpi/capture/capture.h"

/* MPI_IN_PLACE has an address of its own in Fortran. */
void *wf_cap_from_fortran_buffer(void *buffer);

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE likewise. */
MPI_Status *wf_cap_from_fortran_status(void *status);
void *wf_cap_to_fortran_status(MPI_Status *status, void *original);

/* Null if there is no memory. */
MPI_Request *wf_cap_from_fortran_requests(struct wf_cap_call *call, int n,
                                          const void *requests);

/* One for each rank or neighbour, the latter being at most as many as sources or destinations.
 */
MPI_Datatype *wf_cap_from_fortran_types(struct wf_cap_call *call, MPI_Comm comm,
                                        const void *types);

/* The last argument, which is optional in mpi_f08. */
void wf_cap_fortran_error(void *ierr, MPI_Fint rc);
