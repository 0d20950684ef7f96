/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The part of base/rng.h that is compiled for devices, too: static functions of fixed-width
 * integers and IEEE doubles, no library, no 128-bit numbers. Compile with -ffp-contract=off.
 */

#include <stdint.h>

#define WF_RNG_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t wf_rng_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Where a stream begins. */
static inline uint64_t wf_rng_start(uint64_t seed, uint64_t stream)
{
    return wf_rng_mix(seed + (stream + 1) * WF_RNG_GOLDEN);
}

/* The next draw of a stream; *place moves on. */
static inline uint64_t wf_rng_next(uint64_t *place)
{
    *place += WF_RNG_GOLDEN;
    return wf_rng_mix(*place);
}

static inline uint64_t wf_rng_draw(uint64_t seed, uint64_t stream, uint64_t draw)
{
    uint64_t place = wf_rng_start(seed, stream) + draw * WF_RNG_GOLDEN;

    return wf_rng_next(&place);
}

/* The same number as wf_rng_below(), for n below 2^32. */
static inline uint32_t wf_rng_below32(uint64_t random, uint32_t n)
{
    uint64_t high = (random >> 32) * n, low = (random & UINT32_MAX) * n;

    return (uint32_t)((high + (low >> 32)) >> 32);
}

/* With s = (f - 1) / (f + 1), ln f = 2 (s + s^3/3 + s^5/5 + ...). For f between sqrt(1/2) and
 * sqrt(2), |s| < 0.172, and the first omitted term is below 4e-14 of the sum. The sum is split
 * into four independent pairs, because the steps of Horner's method depend on each other. */
static inline double wf_rng_log_near_one(double f)
{
    double s = (f - 1.0) / (f + 1.0);
    double z = s * s;
    double zz = z * z;
    double low = (1.0 + z * (1.0 / 3)) + zz * (1.0 / 5 + z * (1.0 / 7));
    double high = (1.0 / 9 + z * (1.0 / 11)) + zz * (1.0 / 13 + z * (1.0 / 15));

    return 2.0 * s * (low + zz * zz * high);
}

/* wf_rng_exponential() */
static inline double wf_rng_exponential_of(uint64_t random)
{
    const double ln2 = 0.693147180559945309417;
    const uint64_t sqrt_half = UINT64_C(0x16a09e667f3bcd); /* sqrt(1/2) * 2^53 */
    const uint64_t half = UINT64_C(1021) << 52; /* of such a number it makes that double */

    if (random == UINT64_MAX) {
        return 0.0;
    }

    /* u = f / 2^halvings with f in [1/2, 1); a double holds 53 bits of f. If f is below sqrt(1/2)
     * it is doubled. The bits of the double are put together, which takes fewer and faster steps
     * than converting and comparing, and no branch, which would go one way as often as the other. */
    uint64_t u = random + 1;
    int halvings = __builtin_clzll(u);
    uint64_t bits = (u << halvings) >> 11;
    uint64_t less = bits < sqrt_half ? 1 : 0;
    union {
        uint64_t bits;
        double value;
    } f = {bits + half + (less << 52)};

    return (double)(halvings + (int)less) * ln2 - wf_rng_log_near_one(f.value);
}
