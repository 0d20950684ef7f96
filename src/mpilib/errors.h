/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Error handling (MPI-3.1, 8.3 to 8.5): error handlers, error codes and their texts. */

#include "mpilib/abi/adapter.h"
#include "mpilib/communicator.h"

/* An error in a call on a communicator (0: none). The communicator's error handler decides: the
 * program ends with the message, or the code is returned, after the program's own handler has
 * been called if it has one. */
int wl_error(struct wl_rank *rank, MPI_Comm comm, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Calls an error handler that the program has created, with the handle of the object. Does
 * nothing for a predefined one. */
void wl_errhandler_call(const struct wl_rank *rank, MPI_Errhandler handle, int object,
                        int code);
/* Whether the program goes on after errors in calls on the communicator. */
bool wl_errors_return(struct wl_rank *rank, MPI_Comm comm);
/* Where the adapter of an error handler is; null if the program has not created such a one. */
const struct wl_adapter **wl_errhandler_adapter(const struct wl_rank *rank, int handle);
