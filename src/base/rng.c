/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include <math.h>
#include <stddef.h>

double wf_rng_exponential(uint64_t random)
{
    return wf_rng_exponential_of(random);
}

/* The value of a polynomial, the highest coefficient first. */
static double horner(const double *c, size_t n, double x)
{
    double sum = c[0];

    for (size_t i = 1; i < n; i++) {
        sum = sum * x + c[i];
    }
    return sum;
}

/* Algorithm AS 241, PPND16 (Wichura, "The percentage points of the normal distribution", Applied
 * Statistics 37, 1988): rational approximations for the middle and two parts of the tails. */
enum { AS241_TERMS = 8 };

static const double middle_num[AS241_TERMS] = {
    2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
    4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
    1.3314166789178437745e2, 3.3871328727963666080e0};
static const double middle_den[AS241_TERMS] = {5.2264952788528545610e3, 2.8729085735721942674e4,
                                               3.9307895800092710610e4, 2.1213794301586595867e4,
                                               5.3941960214247511077e3, 6.8718700749205790830e2,
                                               4.2313330701600911252e1, 1.0};
static const double near_num[AS241_TERMS] = {
    7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
    1.27045825245236838258e0,  3.64784832476320460504e0,  5.76949722146069140550e0,
    4.63033784615654529590e0,  1.42343711074968357734e0};
static const double near_den[AS241_TERMS] = {
    1.05075007164441684324e-9, 5.47593808499534494600e-4,
    1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940e0,
    2.05319162663775882187e0,  1.0};
static const double far_num[AS241_TERMS] = {
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
    2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
    5.46378491116411436990e0,  6.65790464350110377720e0};
static const double far_den[AS241_TERMS] = {
    2.04426310338993978564e-15, 1.42151175831644588870e-7,
    1.84631831751005468180e-5,  7.86869131145613259100e-4,
    1.48753612908506148525e-2,  1.36929880922735805310e-1,
    5.99832206555887937690e-1,  1.0};

double wf_rng_normal(uint64_t random)
{
    /* The distance from the median, from -1/2 to 1/2. */
    double q = ((double)(random >> 11) + 0.5) * (1.0 / 9007199254740992.0) - 0.5;
    double size = q < 0 ? -q : q;

    if (size <= 0.425) {
        double r = 0.180625 - q * q;
        return q * horner(middle_num, AS241_TERMS, r) / horner(middle_den, AS241_TERMS, r);
    }

    /* The probability of the tail is (tail + 1) / 2^64. */
    uint64_t tail = random < UINT64_MAX / 2 ? random : UINT64_MAX - random;
    double r = sqrt(wf_rng_exponential(tail));
    double z =
        r <= 5.0
            ? horner(near_num, AS241_TERMS, r - 1.6) / horner(near_den, AS241_TERMS, r - 1.6)
            : horner(far_num, AS241_TERMS, r - 5.0) / horner(far_den, AS241_TERMS, r - 5.0);
    return q < 0 ? -z : z;
}

double wf_rng_exp(double x)
{
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    double halves = x / (ln2_high + ln2_low);
    int n = (int)(halves < 0 ? halves - 0.5 : halves + 0.5);
    /* |r| <= 0.35: the first omitted term is below 1e-17. */
    double r = (x - (double)n * ln2_high) - (double)n * ln2_low;
    double sum = 1.0;

    for (int k = 14; k > 0; k--) {
        sum = 1.0 + sum * r / (double)k;
    }
    return ldexp(sum, n);
}
