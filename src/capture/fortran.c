/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/fortran.h"

#include "capture/comms.h"
#include "capture/hooks.h"
#include "capture/settings.h"

/* The places whose addresses mean something, by the spellings of compilers. */
#define SENTINELS(name)                                                 \
    extern int mpi_fortran_##name, mpi_fortran_##name##_, mpi_fortran_##name##__;

SENTINELS(in_place)
SENTINELS(status_ignore)
SENTINELS(statuses_ignore)
#pragma weak mpi_fortran_in_place
#pragma weak mpi_fortran_in_place_
#pragma weak mpi_fortran_in_place__
#pragma weak mpi_fortran_status_ignore
#pragma weak mpi_fortran_status_ignore_
#pragma weak mpi_fortran_status_ignore__
#pragma weak mpi_fortran_statuses_ignore
#pragma weak mpi_fortran_statuses_ignore_
#pragma weak mpi_fortran_statuses_ignore__

#define IS(p, name)                                                             \
    ((p) == (void *)&mpi_fortran_##name || (p) == (void *)&mpi_fortran_##name##_ || \
     (p) == (void *)&mpi_fortran_##name##__)

void *wf_from_fortran_buffer(void *buffer)
{
    return buffer != NULL && IS(buffer, in_place) ? MPI_IN_PLACE : buffer;
}

MPI_Status *wf_from_fortran_status(void *status)
{
    return status == NULL || IS(status, status_ignore) || IS(status, statuses_ignore)
               ? MPI_STATUS_IGNORE
               : status;
}

void *wf_to_fortran_status(MPI_Status *status, void *original)
{
    return status == MPI_STATUS_IGNORE ? original : status;
}

MPI_Request *wf_from_fortran_requests(struct wf_call *call, int n, const void *requests)
{
    const MPI_Fint *from = requests;
    MPI_Request *to = wf_call_memory(call, (n < 0 ? 0 : (size_t)n) * sizeof(*to));

    for (int i = 0; i < n && to != NULL; i++) {
        to[i] = PMPI_Request_f2c(from[i]);
    }
    return to;
}

MPI_Datatype *wf_from_fortran_types(struct wf_call *call, MPI_Comm comm, const void *types)
{
    const struct wf_capture_comm *found = wf_comms_find(comm);
    const MPI_Fint *from = types;
    uint32_t n = found == NULL ? 0 : found->size;

    if (found != NULL && found->sources != NULL) {
        n = found->n_sources > found->n_destinations ? found->n_sources
                                                     : found->n_destinations;
    }
    MPI_Datatype *to = wf_call_memory(call, (size_t)n * sizeof(*to));
    for (uint32_t i = 0; i < n && to != NULL; i++) {
        to[i] = PMPI_Type_f2c(from[i]);
    }
    return to;
}

void wf_fortran_error(void *ierr, MPI_Fint rc)
{
    if (ierr != NULL) {
        *(MPI_Fint *)ierr = rc;
    }
}

/* ---- the beginning and the end ---- */

#define ENTRY(...) WF_EXPORT void __VA_ARGS__; void __VA_ARGS__
#define ALIAS(name) __attribute__((alias(name)))

void pmpi_init_(MPI_Fint *ierr);
void pmpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr);
void pmpi_finalize_(MPI_Fint *ierr);
void pmpi_abort_(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr);
#pragma weak pmpi_init_
#pragma weak pmpi_init_thread_
#pragma weak pmpi_finalize_
#pragma weak pmpi_abort_

ENTRY(mpi_init_(MPI_Fint *ierr))
{
    MPI_Fint rc = MPI_SUCCESS;

    pmpi_init_(&rc);
    if (rc == MPI_SUCCESS) {
        wf_begin(MPI_THREAD_SINGLE);
    }
    wf_fortran_error(ierr, rc);
}

ENTRY(mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr))
{
    MPI_Fint rc = MPI_SUCCESS;

    pmpi_init_thread_(required, provided, &rc);
    if (rc == MPI_SUCCESS) {
        wf_begin(*provided);
    }
    wf_fortran_error(ierr, rc);
}

ENTRY(mpi_finalize_(MPI_Fint *ierr))
{
    MPI_Fint rc = MPI_SUCCESS;

    wf_end();
    pmpi_finalize_(&rc);
    wf_fortran_error(ierr, rc);
}

ENTRY(mpi_abort_(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr))
{
    MPI_Fint rc = MPI_SUCCESS;

    wf_break_off();
    pmpi_abort_(comm, code, &rc);
    wf_fortran_error(ierr, rc);
}

ENTRY(mpi_pcontrol_(const MPI_Fint *level))
{
    (void)MPI_Pcontrol(*level);
}

ENTRY(mpi_init(MPI_Fint *ierr)) ALIAS("mpi_init_");
ENTRY(mpi_init__(MPI_Fint *ierr)) ALIAS("mpi_init_");
ENTRY(MPI_INIT(MPI_Fint *ierr)) ALIAS("mpi_init_");
ENTRY(mpi_init_f08_(MPI_Fint *ierr)) ALIAS("mpi_init_");
ENTRY(mpi_init_thread(MPI_Fint *r, MPI_Fint *p, MPI_Fint *ierr)) ALIAS("mpi_init_thread_");
ENTRY(mpi_init_thread__(MPI_Fint *r, MPI_Fint *p, MPI_Fint *ierr)) ALIAS("mpi_init_thread_");
ENTRY(MPI_INIT_THREAD(MPI_Fint *r, MPI_Fint *p, MPI_Fint *ierr)) ALIAS("mpi_init_thread_");
ENTRY(mpi_init_thread_f08_(MPI_Fint *r, MPI_Fint *p, MPI_Fint *ierr)) ALIAS("mpi_init_thread_");
ENTRY(mpi_finalize(MPI_Fint *ierr)) ALIAS("mpi_finalize_");
ENTRY(mpi_finalize__(MPI_Fint *ierr)) ALIAS("mpi_finalize_");
ENTRY(MPI_FINALIZE(MPI_Fint *ierr)) ALIAS("mpi_finalize_");
ENTRY(mpi_finalize_f08_(MPI_Fint *ierr)) ALIAS("mpi_finalize_");
ENTRY(mpi_abort(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)) ALIAS("mpi_abort_");
ENTRY(mpi_abort__(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)) ALIAS("mpi_abort_");
ENTRY(MPI_ABORT(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)) ALIAS("mpi_abort_");
ENTRY(mpi_abort_f08_(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)) ALIAS("mpi_abort_");
ENTRY(mpi_pcontrol(const MPI_Fint *level)) ALIAS("mpi_pcontrol_");
ENTRY(mpi_pcontrol__(const MPI_Fint *level)) ALIAS("mpi_pcontrol_");
ENTRY(MPI_PCONTROL(const MPI_Fint *level)) ALIAS("mpi_pcontrol_");
ENTRY(mpi_pcontrol_f08_(const MPI_Fint *level)) ALIAS("mpi_pcontrol_");
