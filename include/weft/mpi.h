/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

/*
 * MPI for programs that run as virtual ranks. Programs are compiled with weftcc and include
 * this file as <mpi.h>.
 *
 * Every function has a symbol of its own name and one that begins with weft_; programs use the
 * latter, so that they can never meet another MPI in the process that simulates them.
 */

#include <stddef.h>

#define WEFT_MPI(name) __asm__("weft_" #name)

#define MPI_VERSION    3
#define MPI_SUBVERSION 1

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Group;
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Count, MPI_Offset;

typedef struct MPI_Status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int weft_cancelled;
    long long weft_bytes;
} MPI_Status;

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __cplusplus
}
#endif

#endif
