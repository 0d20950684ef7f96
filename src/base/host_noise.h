/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The noise of this host: how much the time of equal work varies. Compute times that are
 * measured here vary at least as much.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What equal work takes beyond its median, in percent: nine of ten pieces take at most
 * `percent` more, and the slowest takes `worst` more. */
struct wf_host_noise_spread {
    double percent, worst;
};

struct wf_host_noise {
    int64_t median_ns; /* processor time of a piece of work */
    struct wf_host_noise_spread cpu, wall;
    double waited; /* percent of the time in which the thread had no processor */
};

/* Measures it: a piece of work is done many times in this thread. Takes about 5 ms, and at most
 * 100 ms on a busy host. */
struct wf_host_noise wf_host_noise_measure(void);

enum { WF_HOST_NOISE_TEXT_MAX = 192 };

/* Writes a sentence and returns true if compute times measured on this host, in processor time
 * or in wall time, will not repeat: if a tenth of the work takes 5 % longer than the median, or
 * more, or if the thread waited for a processor for a tenth of the time. */
bool wf_host_noise_warning(const struct wf_host_noise *noise, bool cpu, char *text);

/* The spread of n > 0 times; sorts them. Sets *median. */
struct wf_host_noise_spread wf_host_noise_spread(int64_t *times, size_t n, int64_t *median);
