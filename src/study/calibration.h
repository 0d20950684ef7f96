/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Turns the output of the ping-pong program of `weft calibrate` into a machine file. */

#include "study/fit.h"

#include <stdio.h>

enum { WF_CALIBRATION_SAMPLES_MAX = 128 };

struct wf_calibration {
    struct wf_fit_sample samples[WF_CALIBRATION_SAMPLES_MAX];
    struct wf_fit_input input; /* points to these samples */
    struct wf_fit fit;
};

/* Reads the measurements until the end of `in`, from lines such as "half 1024 2310.5". Skips
 * unknown lines. */
void wf_calibration_read(struct wf_calibration *calibration, FILE *in);

/* Fits the parameters. False if there are too few measurements or if they contradict each
 * other. */
bool wf_calibration_fit(struct wf_calibration *calibration);

/* Writes a machine file for a host with the MPI library `mpi` ("mpich", "openmpi"), with the
 * measurements as comments. The caller checks `out` for errors (ferror). */
void wf_calibration_write(const struct wf_calibration *calibration, const char *host,
                          const char *mpi, FILE *out);
