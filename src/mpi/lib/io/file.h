/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Files (MPI-4.0, 14). They are files of the host, where contents are at once. Opening, reading, writing,
 * sync and closing are operations of the simulation, which takes the time of its storage model for
 * them; a collective access synchronizes the ranks like a barrier. The shared file pointer is a
 * number at the first rank that has opened the file: an access by another rank is a message
 * there and back, like MPI_Fetch_and_op().
 *
 *   file.c        opening and closing, sizes, properties, errors
 *   file_view.c   which part of a file a rank sees
 *   file_access.c reading and writing, file pointers
 */

#include "mpi/lib/comm/communicator.h"
#include "mpi/lib/type/datatype.h"

struct wl_file {
    int fd;
    int amode;
    bool atomic;
    bool external; /* the view's data is in external32 */
    MPI_Comm comm; /* its own */
    char *name;
    uint32_t
        number; /* of the file in the simulation: the same for the same last part of the name */
    MPI_File handle;
    /* The view: which part of the file the rank sees. */
    MPI_Offset displacement;
    const struct wl_type *etype, *filetype; /* held */
    MPI_Offset position;                    /* in etypes */
    int64_t shared_position;                /* likewise, for all; at the first rank... */
    int64_t *shared;                        /* ...where it is there */
    MPI_Errhandler errhandler;              /* 0: errors return */
    MPI_Status split;                       /* of a split collective that has begun */
    struct wl_use *uses;                    /* its buffer, with --check */
};

/* The file of a handle; the program ends if there is none. */
struct wl_file *wl_file_of(const struct wl_rank *rank, MPI_File handle);

/* An error of a file. Ends the program if errors are fatal, else calls its error handler. */
int wl_file_error(const struct wl_rank *rank, const struct wl_file *file, int code,
                  const char *text);
/* Likewise, the error of errno. */
int wl_file_fail(const struct wl_rank *rank, const struct wl_file *file);

/* The simulated time of an operation on the file with this number. */
void wl_file_take_time(struct wl_rank *rank, uint32_t number, enum wf_op_kind kind,
                       MPI_Offset offset, size_t bytes);

/* Likewise of a descriptor, if it is that of a regular file. `at` -1: `bytes` before its position. */
void wl_file_take_posix_time(struct wl_rank *rank, int fd, enum wf_op_kind kind, MPI_Offset at,
                             size_t bytes);

/* Waits for all ranks that have opened the file. */
void wl_file_synchronize(struct wl_rank *rank, const struct wl_file *file);

/* The offset in the file of byte `at` of the view. Sets *run to how many bytes follow it there. */
MPI_Offset wl_file_place(const struct wl_file *file, MPI_Offset at, size_t *run);
/* Advances the shared file pointer. Returns where it was. */
MPI_Offset wl_file_advance_shared(struct wl_rank *rank, const struct wl_file *file,
                                  MPI_Offset n);

/* The arguments of a read or a write. */
struct wl_file_access {
    MPI_File file;
    void *to;         /* of a read; or null */
    const void *from; /* of a write; or null */
    MPI_Count count;
    MPI_Datatype type;
    MPI_Offset offset; /* in etypes, or one of those below */
    bool collective;
};

/* In place of an offset: the individual file pointer, the shared one, and the shared one for
 * all ranks in their order. */
#define WL_FILE_POSITION INT64_MIN
#define WL_FILE_SHARED   (INT64_MIN + 1)
#define WL_FILE_ORDERED  (INT64_MIN + 2)

/* All functions of MPI that read and write: those that wait, those with a request, and the two
 * halves of split collectives. */
int wl_file_access(struct wl_rank *rank, const struct wl_file_access *what, MPI_Status *status);
int wl_file_iaccess(struct wl_rank *rank, const struct wl_file_access *what,
                    MPI_Request *handle);
int wl_file_access_begin(struct wl_rank *rank, const struct wl_file_access *what);
int wl_file_access_end(struct wl_rank *rank, MPI_File file, MPI_Status *status);
