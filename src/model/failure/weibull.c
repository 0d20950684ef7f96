/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "model/failure/failure.h"

#include <math.h>

/* ln x by the part of the generator that every machine computes alike. */
static double ln(double x)
{
    const double ln2 = 0.693147180559945309417, sqrt_half = 0.70710678118654752440;
    int halvings;
    double f = frexp(x, &halvings);

    if (f < sqrt_half) {
        f *= 2;
        halvings--;
    }
    return halvings * ln2 + wf_rng_log_near_one(f);
}

/* If E is exponential with mean 1, E^(1/shape) has a Weibull distribution with scale 1. */
static double gap(const struct wf_failure_class *class, uint64_t random)
{
    double e = wf_rng_exponential(random);

    return e > 0 ? (double)class->mtbf * class->stretch * wf_rng_exp(ln(e) / class->shape) : 0;
}

const struct wf_failure_law wf_failure_law_weibull = {
    .name = "weibull",
    .summary = "Weibull distribution; shape below 1: parts that failed fail again soon",
    .gap = gap,
};
