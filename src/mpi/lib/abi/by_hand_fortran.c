/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of another MPI's Fortran interface that generate_abi.py cannot derive. */
#include "mpi/lib/abi/abi_fortran.h"
#include "mpi/lib/abi/adapter.h"

#ifdef OPEN_MPI
#define ABI(name) weft_openmpi_##name
#else
#define ABI(name) weft_mpich_##name
#endif

/* ---- special values: common blocks, which programs and libraries have, too ---- */

#ifdef OPEN_MPI
int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_;
int mpi_fortran_status_ignore_[6], mpi_fortran_statuses_ignore_[6];
#define BOTTOM          ((void *)&mpi_fortran_bottom_)
#define IN_PLACE        ((void *)&mpi_fortran_in_place_)
#define UNWEIGHTED      ((void *)&mpi_fortran_unweighted_)
#define WEIGHTS_EMPTY   ((void *)&mpi_fortran_weights_empty_)
#define STATUS_IGNORE   ((void *)mpi_fortran_status_ignore_)
#define STATUSES_IGNORE ((void *)mpi_fortran_statuses_ignore_)
#else
struct {
    int bottom, in_place, status_ignore[5];
} mpipriv1_;
struct {
    int statuses_ignore[5], errcodes_ignore;
} mpipriv2_;
int mpifcmb5_, mpifcmb9_;
#define BOTTOM          ((void *)&mpipriv1_.bottom)
#define IN_PLACE        ((void *)&mpipriv1_.in_place)
#define UNWEIGHTED      ((void *)&mpifcmb5_)
#define WEIGHTS_EMPTY   ((void *)&mpifcmb9_)
#define STATUS_IGNORE   ((void *)mpipriv1_.status_ignore)
#define STATUSES_IGNORE ((void *)mpipriv2_.statuses_ignore)
#endif

void *wa_f_place(void *buffer)
{
    return buffer == BOTTOM     ? (void *)&weft_mpi_bottom_
           : buffer == IN_PLACE ? (void *)&weft_mpi_in_place_
                                : buffer;
}

void *wa_f_weights(void *weights)
{
    return weights == UNWEIGHTED      ? (void *)&weft_mpi_unweighted_
           : weights == WEIGHTS_EMPTY ? (void *)&weft_mpi_weights_empty_
                                      : weights;
}

MPI_Status *wa_f_status(void *status)
{
    return status == STATUS_IGNORE || status == STATUSES_IGNORE ? MPI_STATUS_IGNORE : status;
}

/* ---- functions ---- */

static void call_op(wl_any_function *function, void *in, void *inout, int count, int type)
{
    int theirs = wa_type_to_fortran(type);

    ((void (*)(void *, void *, int *, int *))function)(in, inout, &count, &theirs);
}

static const struct wl_adapter adapter = {.op = call_op};

void ABI(mpi_op_create_)(void *function, const int *commute, int *op, int *ierror)
{
    int created = WEFT_MPI_OP_NULL;

    *ierror = wa_code_out(weft_MPI_Op_create(function, *commute, &created));
    weft_mpi_adapt(created, &adapter);
    *op = wa_op_to_fortran(created);
}

void ABI(mpi_init_)(int *ierror)
{
    *ierror = wa_code_out(weft_MPI_Init(NULL, NULL));
}

void ABI(mpi_init_thread_)(const int *required, int *provided, int *ierror)
{
    *ierror = wa_code_out(weft_MPI_Init_thread(NULL, NULL, *required, provided));
}

double ABI(mpi_wtime_)(void)
{
    return weft_MPI_Wtime();
}

double ABI(mpi_wtick_)(void)
{
    return weft_MPI_Wtick();
}

/* The values of predefined attributes. */
void ABI(mpi_comm_get_attr_)(const int *comm, const int *keyval, MPI_Aint *value, int *flag,
                             int *ierror)
{
    int *found = NULL;
    int code = weft_MPI_Comm_get_attr(wa_comm_from_fortran(*comm), wa_keyval_in(*keyval),
                                      (void *)&found, flag);

    if (code == 0 && *flag && found != NULL) {
        *value = *found;
    }
    *ierror = wa_code_out(code);
}

void ABI(mpi_attr_get_)(const int *comm, const int *keyval, int *value, int *flag, int *ierror)
{
    MPI_Aint wide = *value;

    ABI(mpi_comm_get_attr_)(comm, keyval, &wide, flag, ierror);
    *value = (int)wide;
}
