/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Division by a number that stays the same: a multiplication with its reciprocal takes a few
 * cycles where a division takes tens of them. Exact for all 32-bit numbers: the reciprocal is too
 * large by less than 1, hence the quotient by less than n / 2^64.
 */

#include "base/int128.h"

#include <stdint.h>

/* 2^64 / divisor, rounded up; 0 for the divisor 1. The divisor is not 0. */
static inline uint64_t wf_reciprocal_of(uint32_t divisor)
{
    return divisor > 1 ? UINT64_MAX / divisor + 1 : 0;
}

/* n / divisor, by the reciprocal of the divisor. */
static inline uint32_t wf_reciprocal_divide(uint32_t n, uint64_t reciprocal)
{
    return reciprocal == 0 ? n : (uint32_t)(((wf_u128)n * reciprocal) >> 64);
}
