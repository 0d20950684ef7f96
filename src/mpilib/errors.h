/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_ERRORS_H
#define WF_MPILIB_ERRORS_H

/* What happens with errors of the program: its error handlers say. */

#include "mpilib/communicator.h"

/* An error in a call on a communicator: ends the program with words, or returns the code, after
 * the program's own function has been called if there is one. */
int wl_error(struct wl_rank *rank, MPI_Comm comm, int code, const char *function,
             const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Whether errors in calls on the communicator do not end the program. */
bool wl_errors_return(struct wl_rank *rank, MPI_Comm comm);

#endif
