/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_STUDY_FIT_H
#define WF_STUDY_FIT_H

/*
 * The parameters of LogGP and the limit of the eager protocol from measured times of messages.
 *
 * As docs/models/mpi.md has it, a message of k bytes whose receive is posted takes
 *
 *     L + 2o + t(k)            up to eager_max
 *     3L + 2o + t(k)           above
 *
 * where t(k) is what its bytes but the first take: points with straight lines in between
 * (net/loggp.c). o is measured by itself, L is what remains of a single byte, t(k) of the
 * others. Noise only adds, and no message is faster than a shorter one: where it seems to be,
 * the shorter one was disturbed and counts as long as the longer. Points are chosen one after
 * the other where the error is largest, until all are below a bound.
 *
 * An exchange in both directions takes, as net/loggp.h has it,
 *
 *     max(L, h(k)) + 2o + t(k)                    up to eager_max
 *     2 max(L, h(1)) + max(L, h(k)) + 2o + t(k)   above
 *
 * where h(k) is how long a message holds up the other direction. It is what remains, in points
 * that are chosen in the same way.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_FIT_POINTS_MAX = 40 };

struct wf_fit_sample {
    uint64_t bytes;
    double ns;   /* of a message */
    double both; /* of two, one in each direction; 0 if that was not measured */
};

/* What was measured. */
struct wf_fit_input {
    const struct wf_fit_sample *samples; /* by increasing length, the first of a byte */
    size_t n;                            /* at least four */
    double send, take, stream;           /* ns: calls with a byte; between two of many */
    uint64_t eager_max;                  /* the longest that nobody waits for; 0: unknown */
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
    double G;           /* ns per byte, behind the last point */
    double shared;      /* of t(k): the other direction rests, behind the last point */
    bool has_limit;     /* there are two protocols */
    uint64_t eager_max; /* if so */
    struct wf_fit_points tail, held; /* t(k); h(k), none if both was not measured */
    double mean_error, max_error;    /* relative, of the samples */
};

/* False if the times make no sense. */
bool wf_fit(const struct wf_fit_input *measured, struct wf_fit *out);

/* What the fit says that a message takes, in ns. */
double wf_fit_time(const struct wf_fit *fit, uint64_t bytes);

/* ...and an exchange in both directions. */
double wf_fit_both(const struct wf_fit *fit, uint64_t bytes);

#endif
