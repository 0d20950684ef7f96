/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_REQUEST_GENERALIZED_H
#define WF_MPILIB_REQUEST_GENERALIZED_H

/* Requests that the program completes itself. */

#include "mpilib/request.h"

bool wl_grequest_complete(const struct wl_request *request);
/* Asks the program for the status and lets it release what is its own. Returns its code. */
int wl_grequest_conclude(struct wl_request *request);
/* The program wants it cancelled. */
int wl_grequest_cancel(const struct wl_request *request);

#endif
