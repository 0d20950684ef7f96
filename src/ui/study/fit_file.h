/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A machine file of LogGP from messages between two ranks. */

#include "ui/study/fit.h"

#include <stdio.h>

enum { WF_FIT_SAMPLES_MAX = 128 };

struct wf_fit_machine {
    struct wf_fit_sample samples[WF_FIT_SAMPLES_MAX];
    struct wf_fit_input input; /* points to these samples */
    struct wf_fit fit;
};

/* Fits the parameters. False if there are too few measurements or if they contradict each
 * other. */
bool wf_fit_machine(struct wf_fit_machine *machine);

/* Writes a machine file for a host with the MPI library `mpi` ("mpich", "openmpi"), with the
 * measurements as comments. The caller checks `out` for errors (ferror). */
void wf_fit_machine_write(const struct wf_fit_machine *machine, const char *host,
                          const char *mpi, FILE *out);

/* Writes points as a value of net.sizes or net.held: "4096:12ps,...". */
void wf_fit_points_write(const struct wf_fit_points *points, FILE *out);
