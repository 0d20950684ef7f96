/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a program finds that is to be recorded: a directory for its trace, and the environment that
 * mpi/capture/settings.h describes. */

#include "base/status.h"

#include <stdbool.h>

struct wf_study_capture {
    const char *clock;                     /* "cpu", "wall" or "none" */
    const char *ranks, *region, *counters; /* null or "": all, none, none */
    bool pcontrol, compare_clocks, all_polls, stacks;
};

/* Makes the directory; removes a trace in it if `force` allows that. */
enum wf_status wf_study_capture_directory(const char *path, bool force, struct wf_err *err);

/* The number of files with ranks in it. */
unsigned wf_study_capture_count(const char *path);

/* Sets the environment of the programs that this process starts. */
void wf_study_capture_environment(const struct wf_study_capture *how, const char *directory,
                                  const char *library);
