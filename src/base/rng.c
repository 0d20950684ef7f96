/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

/* With s = (f - 1) / (f + 1), ln f = 2 (s + s^3/3 + s^5/5 + ...). For f between sqrt(1/2) and
 * sqrt(2), |s| < 0.172, and the first omitted term is below 4e-14 of the sum. The sum is split
 * into four independent pairs, because the steps of Horner's method depend on each other. */
static double log_near_one(double f)
{
    double s = (f - 1.0) / (f + 1.0);
    double z = s * s;
    double zz = z * z;
    double low = (1.0 + z * (1.0 / 3)) + zz * (1.0 / 5 + z * (1.0 / 7));
    double high = (1.0 / 9 + z * (1.0 / 11)) + zz * (1.0 / 13 + z * (1.0 / 15));

    return 2.0 * s * (low + zz * zz * high);
}

double wf_rng_exponential(uint64_t random)
{
    const double ln2 = 0.693147180559945309417;
    const double sqrt_half = 0.707106781186547524401;

    if (random == UINT64_MAX) {
        return 0.0;
    }

    /* u = f / 2^halvings with f in [1/2, 1); a double holds 53 bits of f. */
    uint64_t u = random + 1;
    int halvings = __builtin_clzll(u);
    double f = (double)((u << halvings) >> 11) * (1.0 / 9007199254740992.0);

    if (f < sqrt_half) {
        f *= 2.0;
        halvings++;
    }
    return (double)halvings * ln2 - log_near_one(f);
}
