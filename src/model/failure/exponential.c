/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "model/failure/failure.h"

static double gap(const struct wf_failure_class *class, uint64_t random)
{
    return (double)class->mtbf * wf_rng_exponential(random);
}

const struct wf_failure_law wf_failure_law_exponential = {
    .name = "exponential",
    .summary = "Failures come at a constant rate",
    .memoryless = true,
    .gap = gap,
};
