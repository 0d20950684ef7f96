/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Signed fixed-point numbers with 87 bits before the point and 40 after it. Products and
 * quotients are rounded to the nearest, halves away from zero. Values that are too large become
 * the largest.
 */

#include "base/int128.h"

#include <stdbool.h>
#include <stdint.h>

enum { WF_FIXED_BITS = 40 };

/* Zero is not negative. */
struct wf_fixed {
    wf_u128 size; /* at most WF_FIXED_MAX */
    bool negative;
};

#define WF_FIXED_MAX (~(wf_u128)0 >> 1)

/* num / den, both at most WF_FIXED_MAX; den is not 0. */
struct wf_fixed wf_fixed_ratio(wf_u128 num, wf_u128 den);
static inline struct wf_fixed wf_fixed_whole(uint64_t value)
{
    return (struct wf_fixed){(wf_u128)value << WF_FIXED_BITS, false};
}

struct wf_fixed wf_fixed_negate(struct wf_fixed a);
struct wf_fixed wf_fixed_add(struct wf_fixed a, struct wf_fixed b);
struct wf_fixed wf_fixed_multiply(struct wf_fixed a, struct wf_fixed b);
struct wf_fixed wf_fixed_divide(struct wf_fixed a, struct wf_fixed b); /* b is not 0 */
bool wf_fixed_less(struct wf_fixed a, struct wf_fixed b);

/* The magnitude, rounded to `bits` <= WF_FIXED_BITS binary places, at most `max`. */
uint64_t wf_fixed_round(struct wf_fixed a, unsigned bits, uint64_t max);
