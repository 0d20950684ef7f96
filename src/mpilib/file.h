/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_FILE_H
#define WF_MPILIB_FILE_H

/*
 * Files of the host. Reading and writing takes no simulated time; what is collective brings the
 * ranks together as a barrier does.
 */

#include "mpilib/communicator.h"
#include "mpilib/datatype.h"

struct wl_file {
    int fd;
    int amode;
    bool atomic;
    MPI_Comm comm; /* a communicator of its own */
    char *name;
    /* The view: what of the file the rank sees. */
    MPI_Offset displacement;
    const struct wl_type *etype, *filetype; /* held */
    MPI_Offset position;                    /* in etypes */
    MPI_Errhandler errhandler;              /* 0: errors return */
    MPI_Status split;                       /* of a collective that has begun */
};

/* The file of a handle; the program ends if there is none. */
struct wl_file *wl_file_of(const struct wl_rank *rank, MPI_File handle, const char *function);

/* What errno means; ends the program if the file's errors are fatal. */
int wl_file_error(const struct wl_rank *rank, const struct wl_file *file, const char *function);

/* Waits for all ranks that have it open. */
void wl_file_together(struct wl_rank *rank, const struct wl_file *file);

/* Where in the file byte `at` of what the view shows is, and how many follow it there. */
MPI_Offset wl_file_place(const struct wl_file *file, MPI_Offset at, size_t *run);

#endif
