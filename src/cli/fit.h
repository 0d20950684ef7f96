/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_FIT_H
#define WF_CLI_FIT_H

/*
 * The parameters of LogGP and the limit of the eager protocol from measured times of messages.
 *
 * As docs/models/mpi.md has it, a message of k bytes whose receive is posted takes
 *
 *     L + 2o + (k - 1) G            up to eager_max
 *     3L + 2o + (k - 1) G           above
 *
 * For each possible limit this is linear in L + 2o, 2L and G: least squares of the relative
 * errors give them, and the limit with the least sum is taken.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_sample {
    uint64_t bytes;
    double ns;
};

struct wf_fit {
    double L, o, g;               /* ns */
    double G;                     /* ns per byte */
    bool has_limit;               /* there are two protocols */
    uint64_t eager_max;           /* if so */
    double mean_error, max_error; /* relative, of the samples */
};

/* From at least four samples by increasing length; `send` is the time of a call that sends a
 * byte and `stream` that between two of many. False if they make no sense. */
bool wf_fit(const struct wf_sample *samples, size_t n, double send, double stream,
            struct wf_fit *out);

/* What the fit says that a message takes, in ns. */
double wf_fit_time(const struct wf_fit *fit, uint64_t bytes);

#endif
