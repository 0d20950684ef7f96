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

#include <stddef.h>

/* The path of the library for the MPI `mpi`: "mpich", "openmpi", or "auto" for the one that
 * `command`, null-terminated, uses. The caller frees it. WF_EUSAGE if the MPI is not known or
 * there is no library for it. */
enum wf_status wf_study_capture_library(const char *mpi, char *const *command, char **path,
                                        struct wf_err *err);

/* The MPI of the programs of a null-terminated command; null if it cannot be told. */
const char *wf_study_mpi_of(char *const *command);

/* The names of all MPI libraries that weft knows: number 0, 1, ...; null after the last. */
const char *wf_study_mpi_name(size_t i);

/* The path of the program that `weft calibrate` runs under that MPI; null if it was not built.
 * The caller frees it. */
char *wf_study_mpi_patterns(const char *mpi);

/* WF_EUSAGE: weft was built without that MPI. */
enum wf_status wf_study_mpi_not_built(const char *mpi, struct wf_err *err);
