/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/fortran.h"

#include "mpi/capture/comms.h"
#include "mpi/capture/hooks.h"
#include "mpi/capture/settings.h"

/* The names of the real functions, and of the variables that stand for MPI_IN_PLACE and for
 * ignored statuses: Fortran passes their addresses. */
#if defined(OPEN_MPI)
#define REAL(name)      pmpi_##name##_
#define IN_PLACE        mpi_fortran_in_place_
#define STATUS_IGNORE   mpi_fortran_status_ignore_
#define STATUSES_IGNORE mpi_fortran_statuses_ignore_
extern int IN_PLACE, STATUS_IGNORE, STATUSES_IGNORE;
#pragma weak mpi_fortran_in_place_
#pragma weak mpi_fortran_status_ignore_
#pragma weak mpi_fortran_statuses_ignore_
#pragma weak pmpi_init_
#pragma weak pmpi_init_thread_
#pragma weak pmpi_finalize_
#pragma weak pmpi_abort_
#else
#define REAL(name)      pmpir_##name##_f08_
#define IN_PLACE        in_place
#define STATUS_IGNORE   status_ignore
#define STATUSES_IGNORE statuses_ignore
/* Under names of our own, because mpi.h of MPICH 4.0 declares them, and that of later ones does not. */
extern char in_place __asm__("MPIR_F08_MPI_IN_PLACE") __attribute__((weak));
extern char status_ignore __asm__("MPIR_F08_MPI_STATUS_IGNORE_OBJ") __attribute__((weak));
extern char statuses_ignore __asm__("MPIR_F08_MPI_STATUSES_IGNORE_OBJ") __attribute__((weak));
#pragma weak pmpir_init_f08_
#pragma weak pmpir_init_thread_f08_
#pragma weak pmpir_finalize_f08_
#pragma weak pmpir_abort_f08_
#endif

void *wf_cap_from_fortran_buffer(void *buffer)
{
    return buffer != NULL && buffer == (void *)&IN_PLACE ? MPI_IN_PLACE : buffer;
}

MPI_Status *wf_cap_from_fortran_status(void *status)
{
    return status == NULL || status == (void *)&STATUS_IGNORE ||
                   status == (void *)&STATUSES_IGNORE
               ? MPI_STATUS_IGNORE
               : status;
}

void *wf_cap_to_fortran_status(MPI_Status *status, void *original)
{
    return status == MPI_STATUS_IGNORE ? original : status;
}

MPI_Request *wf_cap_from_fortran_requests(struct wf_cap_call *call, int n, const void *requests)
{
    const MPI_Fint *from = requests;
    MPI_Request *to = wf_cap_call_memory(call, (n < 0 ? 0 : (size_t)n) * sizeof(MPI_Request));

    call->seen = from;
    for (int i = 0; i < n && to != NULL; i++) {
        to[i] = PMPI_Request_f2c(from[i]);
    }
    return to;
}

MPI_Datatype *wf_cap_from_fortran_types(struct wf_cap_call *call, MPI_Comm comm,
                                        const void *types)
{
    const struct wf_cap_comm *found = wf_cap_comms_find(comm);
    const MPI_Fint *from = types;
    uint32_t n = found == NULL ? 0 : found->size;

    if (found != NULL && found->sources != NULL) {
        n = found->n_sources > found->n_destinations ? found->n_sources : found->n_destinations;
    }
    MPI_Datatype *to = wf_cap_call_memory(call, (size_t)n * sizeof(MPI_Datatype));
    for (uint32_t i = 0; i < n && to != NULL; i++) {
        to[i] = PMPI_Type_f2c(from[i]);
    }
    return to;
}

void wf_cap_fortran_error(void *ierr, MPI_Fint rc)
{
    if (ierr != NULL) {
        *(MPI_Fint *)ierr = rc;
    }
}

/* ---- the beginning and the end ---- */

void REAL(init)(MPI_Fint *ierr);
void REAL(init_thread)(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr);
void REAL(finalize)(MPI_Fint *ierr);
void REAL(abort)(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr);

static void begin(MPI_Fint *ierr)
{
    MPI_Fint rc = MPI_SUCCESS;

    REAL(init)(&rc);
    if (rc == MPI_SUCCESS) {
        wf_cap_begin(MPI_THREAD_SINGLE);
    }
    wf_cap_fortran_error(ierr, rc);
}

static void begin_thread(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr)
{
    MPI_Fint rc = MPI_SUCCESS;

    REAL(init_thread)(required, provided, &rc);
    if (rc == MPI_SUCCESS) {
        wf_cap_begin(*provided);
    }
    wf_cap_fortran_error(ierr, rc);
}

static void end(MPI_Fint *ierr)
{
    MPI_Fint rc = MPI_SUCCESS;

    wf_cap_end();
    REAL(finalize)(&rc);
    wf_cap_fortran_error(ierr, rc);
}

static void abandon(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)
{
    MPI_Fint rc = MPI_SUCCESS;

    wf_cap_break_off();
    REAL(abort)(comm, code, &rc);
    wf_cap_fortran_error(ierr, rc);
}

/* ENTRY defines a function; ENTRIES defines it under all names that Fortran compilers use. */
#define ENTRY(name, parameters, arguments, does) \
    WF_EXPORT void name parameters;              \
    void name parameters                         \
    {                                            \
        does arguments;                          \
    }
#if defined(OPEN_MPI)
#define ENTRIES(lower, upper, parameters, arguments, does) \
    ENTRY(lower, parameters, arguments, does)              \
    ENTRY(lower##_, parameters, arguments, does)           \
    ENTRY(lower##__, parameters, arguments, does)          \
    ENTRY(upper, parameters, arguments, does)              \
    ENTRY(lower##_f08_, parameters, arguments, does)
#else
#define ENTRIES(lower, upper, parameters, arguments, does) \
    ENTRY(lower##_f08_, parameters, arguments, does)
#endif

ENTRIES(mpi_init, MPI_INIT, (MPI_Fint * ierr), (ierr), begin)
ENTRIES(mpi_init_thread, MPI_INIT_THREAD,
        (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *ierr), (required, provided, ierr),
        begin_thread)
ENTRIES(mpi_finalize, MPI_FINALIZE, (MPI_Fint * ierr), (ierr), end)
ENTRIES(mpi_abort, MPI_ABORT, (MPI_Fint * comm, MPI_Fint *code, MPI_Fint *ierr),
        (comm, code, ierr), abandon)
ENTRIES(mpi_pcontrol, MPI_PCONTROL, (const MPI_Fint *level), (*level), (void)MPI_Pcontrol)
