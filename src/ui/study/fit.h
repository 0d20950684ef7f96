/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The parameters of LogGP and the limit of the eager protocol from measured times of messages.
 *
 * As docs/models/mpi.md has it, a message of k bytes whose receive is posted takes
 *
 *     L + 2o + t(k)            up to eager_max
 *     3L + 2o + t(k)           above
 *
 * where t(k) is the time of the bytes after the first: points with straight lines between them
 * (model/net/loggp.c). o is measured by itself; L is the rest of the time of one byte, and t(k) the
 * rest of the time of k bytes. Noise only adds time, and no message is faster than a shorter
 * one. Where a longer message was faster, the shorter one was disturbed, and the time of the
 * longer counts for both. Points are added one by one where the error is largest, until all
 * errors are below a bound.
 *
 * An exchange in both directions takes, as model/net/loggp.h has it,
 *
 *     max(L, h(k)) + 2o + t(k)                    up to eager_max
 *     2 max(L, h(1)) + max(L, h(k)) + 2o + t(k)   above
 *
 * where h(k) is how long a message delays the opposite direction. Its points are chosen in the
 * same way from the remaining time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_FIT_POINTS_MAX = 40 };

struct wf_fit_sample {
    uint64_t bytes;
    double ns;   /* time of one message */
    double both; /* time of two messages, one in each direction; 0: not measured */
};

/* The measurements. */
struct wf_fit_input {
    const struct wf_fit_sample *samples; /* by increasing length; the first has one byte */
    size_t n;                            /* at least four */
    double send, take, stream;           /* ns: calls with one byte; interval in a stream */
    uint64_t eager_max;                  /* the longest message sent eagerly; 0: unknown */
};

struct wf_fit_points {
    struct {
        uint64_t bytes;
        double ns;
    } at[WF_FIT_POINTS_MAX];
    size_t n;
};

struct wf_fit {
    double L, o, g;     /* ns */
    double G;           /* ns per byte, after the last point */
    double shared;      /* part of t(k) that delays the other direction, after the last point */
    bool has_limit;     /* there are two protocols, eager and rendezvous */
    uint64_t eager_max; /* valid if has_limit */
    struct wf_fit_points tail, held; /* t(k); h(k), empty if `both` was not measured */
    double mean_error, max_error;    /* relative errors over the samples */
};

/* Fits the parameters. False if the times contradict each other. */
bool wf_fit(const struct wf_fit_input *measured, struct wf_fit *out);

/* The time of a message according to the fit, in ns. */
double wf_fit_time(const struct wf_fit *fit, uint64_t bytes);

/* The time of an exchange in both directions according to the fit, in ns. */
double wf_fit_both(const struct wf_fit *fit, uint64_t bytes);
