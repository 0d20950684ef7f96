/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

/*
 * MPI-4.0 for programs that run as virtual ranks. Programs are compiled with weftcc and include
 * this file as <mpi.h>.
 *
 * The symbols of the functions begin with weft_, as in weft_MPI_Send. So programs never call
 * functions of another MPI library, which weft itself may be linked with.
 */

#include "mpi_constants.h"
#include "mpi_errors.h"
#include "mpi_objects.h"
#include "mpi_tools.h"

#include <stddef.h>

#define WEFT_MPI(name) __asm__("weft_" #name)

#define MPI_VERSION    4
#define MPI_SUBVERSION 0

/* Handles are integers, the same in Fortran. */
typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Group, MPI_Info, MPI_Errhandler,
    MPI_Win, MPI_Message, MPI_File, MPI_Session;
typedef int MPI_Fint;
typedef ptrdiff_t MPI_Aint, MPI_Count, MPI_Offset;

/* Consists of integers, because in Fortran it is an array. */
typedef struct MPI_Status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int weft_cancelled;
    unsigned weft_bytes[2]; /* the lower half first */
} MPI_Status;
typedef MPI_Status MPI_F08_status;

#define MPI_F_STATUS_SIZE       6
#define MPI_STATUS_IGNORE       ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE     ((MPI_Status *)0)
#define MPI_F_STATUS_IGNORE     ((MPI_Fint *)0)
#define MPI_F_STATUSES_IGNORE   ((MPI_Fint *)0)
#define MPI_F08_STATUS_IGNORE   ((MPI_F08_status *)0)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)0)
#define MPI_ERRCODES_IGNORE     ((int *)0)
#define MPI_ARGV_NULL           ((char **)0)
#define MPI_ARGVS_NULL          ((char ***)0)
#define MPI_BOTTOM              ((void *)0)
#define MPI_IN_PLACE            ((void *)-1)
#define MPI_UNWEIGHTED          ((int *)-2)
#define MPI_WEIGHTS_EMPTY       ((int *)-3)

/* Types of the program's functions that the library calls. */
typedef void MPI_User_function(void *in, void *inout, int *count, MPI_Datatype *type);
typedef void MPI_User_function_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *type);
typedef int MPI_Comm_copy_attr_function(MPI_Comm old, int keyval, void *extra_state,
                                        void *value_in, void *value_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int keyval, void *value,
                                          void *extra_state);
typedef MPI_Comm_copy_attr_function MPI_Type_copy_attr_function, MPI_Win_copy_attr_function,
    MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Type_delete_attr_function,
    MPI_Win_delete_attr_function, MPI_Delete_function;
typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *code, ...);
typedef MPI_Comm_errhandler_function MPI_Win_errhandler_function, MPI_File_errhandler_function,
    MPI_Session_errhandler_function, MPI_Handler_function, MPI_Comm_errhandler_fn,
    MPI_Win_errhandler_fn, MPI_File_errhandler_fn;
typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);
typedef int MPI_Datarep_conversion_function(void *user, MPI_Datatype type, int count,
                                            void *file, MPI_Offset position, void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *user, MPI_Datatype type, MPI_Count count,
                                              void *file, MPI_Offset position,
                                              void *extra_state);
typedef int MPI_Datarep_extent_function(MPI_Datatype type, MPI_Aint *extent, void *extra_state);
#define MPI_CONVERSION_FN_NULL   ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)
#define MPI_NULL_COPY_FN         ((MPI_Comm_copy_attr_function *)0)
#define MPI_NULL_DELETE_FN       ((MPI_Comm_delete_attr_function *)0)
#define MPI_DUP_FN               weft_mpi_dup_fn
#define MPI_COMM_NULL_COPY_FN    MPI_NULL_COPY_FN
#define MPI_COMM_NULL_DELETE_FN  MPI_NULL_DELETE_FN
#define MPI_COMM_DUP_FN          MPI_DUP_FN
#define MPI_TYPE_NULL_COPY_FN    MPI_NULL_COPY_FN
#define MPI_TYPE_NULL_DELETE_FN  MPI_NULL_DELETE_FN
#define MPI_TYPE_DUP_FN          MPI_DUP_FN
#define MPI_WIN_NULL_COPY_FN     MPI_NULL_COPY_FN
#define MPI_WIN_NULL_DELETE_FN   MPI_NULL_DELETE_FN
#define MPI_WIN_DUP_FN           MPI_DUP_FN

/* Handles are the same in C and Fortran. */
#define MPI_Comm_c2f(handle)        ((MPI_Fint)(handle))
#define MPI_Comm_f2c(handle)        ((MPI_Comm)(handle))
#define MPI_Type_c2f(handle)        ((MPI_Fint)(handle))
#define MPI_Type_f2c(handle)        ((MPI_Datatype)(handle))
#define MPI_Op_c2f(handle)          ((MPI_Fint)(handle))
#define MPI_Op_f2c(handle)          ((MPI_Op)(handle))
#define MPI_Request_c2f(handle)     ((MPI_Fint)(handle))
#define MPI_Request_f2c(handle)     ((MPI_Request)(handle))
#define MPI_Group_c2f(handle)       ((MPI_Fint)(handle))
#define MPI_Group_f2c(handle)       ((MPI_Group)(handle))
#define MPI_Info_c2f(handle)        ((MPI_Fint)(handle))
#define MPI_Info_f2c(handle)        ((MPI_Info)(handle))
#define MPI_Errhandler_c2f(handle)  ((MPI_Fint)(handle))
#define MPI_Errhandler_f2c(handle)  ((MPI_Errhandler)(handle))
#define MPI_Win_c2f(handle)         ((MPI_Fint)(handle))
#define MPI_Win_f2c(handle)         ((MPI_Win)(handle))
#define MPI_Message_c2f(handle)     ((MPI_Fint)(handle))
#define MPI_Message_f2c(handle)     ((MPI_Message)(handle))
#define MPI_Session_c2f(handle)     ((MPI_Fint)(handle))
#define MPI_Session_f2c(handle)     ((MPI_Session)(handle))
#define PMPI_Session_c2f(handle)    MPI_Session_c2f(handle)
#define PMPI_Session_f2c(handle)    MPI_Session_f2c(handle)
#define MPI_File_c2f(handle)        ((MPI_Fint)(handle))
#define MPI_File_f2c(handle)        ((MPI_File)(handle))
#define PMPI_Comm_c2f(handle)       MPI_Comm_c2f(handle)
#define PMPI_Comm_f2c(handle)       MPI_Comm_f2c(handle)
#define PMPI_Type_c2f(handle)       MPI_Type_c2f(handle)
#define PMPI_Type_f2c(handle)       MPI_Type_f2c(handle)
#define PMPI_Op_c2f(handle)         MPI_Op_c2f(handle)
#define PMPI_Op_f2c(handle)         MPI_Op_f2c(handle)
#define PMPI_Request_c2f(handle)    MPI_Request_c2f(handle)
#define PMPI_Request_f2c(handle)    MPI_Request_f2c(handle)
#define PMPI_Group_c2f(handle)      MPI_Group_c2f(handle)
#define PMPI_Group_f2c(handle)      MPI_Group_f2c(handle)
#define PMPI_Info_c2f(handle)       MPI_Info_c2f(handle)
#define PMPI_Info_f2c(handle)       MPI_Info_f2c(handle)
#define PMPI_Errhandler_c2f(handle) MPI_Errhandler_c2f(handle)
#define PMPI_Errhandler_f2c(handle) MPI_Errhandler_f2c(handle)
#define PMPI_Win_c2f(handle)        MPI_Win_c2f(handle)
#define PMPI_Win_f2c(handle)        MPI_Win_f2c(handle)
#define PMPI_Message_c2f(handle)    MPI_Message_c2f(handle)
#define PMPI_Message_f2c(handle)    MPI_Message_f2c(handle)
#define PMPI_File_c2f(handle)       MPI_File_c2f(handle)
#define PMPI_File_f2c(handle)       MPI_File_f2c(handle)

#ifdef __cplusplus
extern "C" {
#endif

int weft_mpi_dup_fn(MPI_Comm old, int keyval, void *extra_state, void *value_in,
                    void *value_out, int *flag);

/* All functions, each as MPI_ and as PMPI_. Generated from
 * src/mpi/lib/bindings/functions.txt. */
#include "mpi_functions.h"

#ifdef __cplusplus
}
#endif

#endif
