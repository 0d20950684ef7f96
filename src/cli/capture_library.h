/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which library `weft capture` preloads into a program.
 *
 * The MPI library of a program is found by asking the dynamic loader which libraries the
 * programs in the command line load; if that finds none (a script, an interpreter), by the name
 * of the launcher.
 */

#include "base/status.h"

/* The path of the library for the MPI `mpi`, "mpich" or "openmpi", or "auto": that of
 * `command`, null-terminated. The caller frees it. WF_EUSAGE if it is not known or there is
 * none. */
WF_NODISCARD
enum wf_status wf_capture_library(const char *mpi, char *const *command, char **path,
                                  struct wf_err *err);

/* The ping-pong program for `weft calibrate`, likewise, and in *name the MPI it is for. */
WF_NODISCARD
enum wf_status wf_capture_pingpong(const char *mpi, char *const *command, const char **name,
                                   char **path, struct wf_err *err);
