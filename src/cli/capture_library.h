/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Finds the library that `weft capture` preloads into a program.
 *
 * To find the MPI library of a program, the dynamic loader is asked which libraries the
 * programs on the command line load. If that gives no answer (a script, an interpreter), the
 * name of the launcher decides.
 */

#include "base/status.h"

/* The path of the library for the MPI `mpi`: "mpich", "openmpi", or "auto" for the one that
 * `command`, null-terminated, uses. The caller frees it. WF_EUSAGE if the MPI is not known or
 * there is no library for it. */
WF_NODISCARD
enum wf_status wf_capture_library(const char *mpi, char *const *command, char **path,
                                  struct wf_err *err);

/* The path of the ping-pong program for `weft calibrate`, found in the same way; *name is set
 * to the MPI that it is for. */
WF_NODISCARD
enum wf_status wf_capture_pingpong(const char *mpi, char *const *command, const char **name,
                                   char **path, struct wf_err *err);
