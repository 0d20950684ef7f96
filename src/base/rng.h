/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Counter-based random numbers: draw i of stream s is a pure function of the seed, s and i.
 * Undoing draws means restoring a counter, and streams do not influence each other.
 *
 * The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014), applied to the start of the stream and again
 * to each draw, so that streams are not shifted copies of each other.
 */

#include "base/int128.h"
#include "base/rng_pure.h"

#include <stdint.h>

/* `random` scaled to 0 .. n-1 without division; the bias is below n / 2^64. */
static inline uint64_t wf_rng_below(uint64_t random, uint64_t n)
{
    return (uint64_t)(((wf_u128)random * n) >> 64);
}

/* True with probability threshold / 2^32. */
static inline int wf_rng_chance(uint64_t random, uint32_t threshold)
{
    return (uint32_t)(random >> 32) < threshold;
}

/* An exponentially distributed number with mean 1 from one draw: -ln((random + 1) / 2^64), from
 * 0 to 44.4, with an error below 1e-12. Uses only the four basic operations of IEEE arithmetic,
 * so that every machine and C library gives the same result. */
double wf_rng_exponential(uint64_t random);

/* A normally distributed number with mean 0 and standard deviation 1 from one draw: the inverse
 * of its distribution function at random / 2^64, from -9.1 to 9.1, with an error below 1e-12
 * where 1e-15 of the probability or more is in the tail. Reproducible like the exponential one;
 * it also takes square roots, which IEEE rounds exactly. */
double wf_rng_normal(uint64_t random);

/* e^x for |x| <= 700 with a relative error below 1e-14; likewise reproducible. */
double wf_rng_exp(double x);
