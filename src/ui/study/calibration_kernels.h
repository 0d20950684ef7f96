/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Times of BLAS routines on this machine as formulas of their arguments (docs/reference/kernels.md):
 * calls of random sizes are timed, in one process for each core, and polynomials fitted to them.
 * Measuring processes print a line for each call, which the process that fits reads.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WF_CALIBRATION_ARGUMENTS = 3, WF_CALIBRATION_TERMS = 5 };

/* A routine: its arguments in formulas, and the products of them that its time may depend on. */
struct wf_calibration_kernel {
    const char *name;
    const char *arguments[WF_CALIBRATION_ARGUMENTS];
    uint16_t terms[WF_CALIBRATION_TERMS]; /* wf_calibration_power() */
    uint32_t n_terms;
    double largest; /* argument */
    void (*call)(void (*routine)(void), double *at[3], const int v[WF_CALIBRATION_ARGUMENTS]);
};

static inline uint32_t wf_calibration_power(uint16_t term, uint32_t argument)
{
    return term >> (8 - 4 * argument) & 15;
}

extern const struct wf_calibration_kernel wf_calibration_kernels[]; /* the last has no name */

struct wf_calibration_call {
    uint32_t kernel, node;
    double values[WF_CALIBRATION_ARGUMENTS];
    double seconds;
    double when; /* in the measurement, from 0 to 1 */
    bool left_out;
};
struct wf_calibration_calls {
    struct wf_calibration_call *list;
    uint32_t n, capacity, n_nodes, n_interrupted;
    char library[200], missing[200], host[64];
};

/* The time of a routine on a node. */
struct wf_calibration_formula {
    double terms[WF_CALIBRATION_TERMS];  /* seconds; never negative */
    double spread[WF_CALIBRATION_TERMS]; /* likewise the standard deviation of a call */
    double error;                        /* half of the calls are closer, relatively */
    uint32_t n, n_left_out;
};

/* Measures for so many seconds on `processes` cores, and prints the calls to `out`. `library` is
 * null or empty for the first of the usual ones. */
enum wf_status wf_calibration_kernels_measure(const char *library, double seconds,
                                              uint32_t processes, FILE *out,
                                              struct wf_err *err);
/* Reads a line that was printed. Ignores others. */
void wf_calibration_kernels_take(struct wf_calibration_calls *calls, const char *line);

/* Fits a routine on a node, or on all nodes (UINT32_MAX); marks calls that are left out. False if
 * there are too few calls. */
bool wf_calibration_kernels_fit(struct wf_calibration_calls *calls, uint32_t kernel,
                                uint32_t node, struct wf_calibration_formula *out);
/* The time of the last third of the calls over that of the first, by the formulas: above 1 if the
 * machine became slower. */
double wf_calibration_kernels_drift(const struct wf_calibration_calls *calls);
/* Fits all, and writes a file of kernels. */
void wf_calibration_kernels_write(struct wf_calibration_calls *calls, FILE *out);
void wf_calibration_kernels_release(struct wf_calibration_calls *calls);
