/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The smaller and the larger of two numbers, and a product that stops at UINT64_MAX. */

#include <stdint.h>

static inline int64_t wf_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline uint32_t wf_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline int64_t wf_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t wf_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t wf_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t wf_times_u64(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}
