/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* From the output of the ping-pong program of `weft calibrate` to a machine file. */

#include "study/fit.h"

#include <stdio.h>

enum { WF_CALIBRATION_SAMPLES_MAX = 128 };

struct wf_calibration {
    struct wf_fit_sample samples[WF_CALIBRATION_SAMPLES_MAX];
    struct wf_fit_input input; /* points to these samples */
    struct wf_fit fit;
};

/* Reads the measurements until the end of `in`, in lines such as "half 1024 2310.5". Unknown
 * lines are skipped. */
void wf_calibration_read(struct wf_calibration *calibration, FILE *in);

/* Fits. False if there are too few measurements or if they contradict each other. */
bool wf_calibration_fit(struct wf_calibration *calibration);

/* Writes a machine file for a host with the MPI library `mpi` ("mpich", "openmpi"), with the
 * measurements as comments. Errors of `out` itself are found by the caller (ferror). */
void wf_calibration_write(const struct wf_calibration *calibration, const char *host,
                          const char *mpi, FILE *out);
