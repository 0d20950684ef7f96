/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Error handling (MPI-3.1, 8.3 to 8.5): error handlers, error codes and their texts. */

#include "mpi/lib/abi/adapter.h"
#include "mpi/lib/comm/communicator.h"

/* An error in a call on a communicator (0: none). The communicator's error handler decides: the
 * program ends with the message, or the code is returned, after the program's own handler has
 * been called if it has one. */
int wl_error(struct wl_rank *rank, MPI_Comm comm, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* An error of a call on a communicator, window, file or session (0: none of them). Calls its error
 * handler; false if that is fatal. */
bool wl_error_returns(struct wl_rank *rank, int object, int code);

/* Calls an error handler that the program has created, with the handle of the object. Does
 * nothing for a predefined one. Returns the code, which the handler may have changed. */
int wl_errhandler_call(const struct wl_rank *rank, MPI_Errhandler handle, int object, int code);
/* Whether the program goes on after errors in calls on the communicator. */
bool wl_errors_return(struct wl_rank *rank, MPI_Comm comm);
/* That of a file, or of MPI_FILE_NULL if there is no such file (file.c). 0: errors return. */
MPI_Errhandler wl_file_errhandler(const struct wl_rank *rank, MPI_File handle);
/* Where the adapter of an error handler is; null if the program has not created such a one. */
const struct wl_adapter **wl_errhandler_adapter(const struct wl_rank *rank, int handle);
