/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fixed.h"

static struct wf_fixed make(wf_u128 size, bool negative)
{
    return (struct wf_fixed){size > WF_FIXED_MAX ? WF_FIXED_MAX : size, negative && size != 0};
}

/* Long division, bit by bit after the point. The remainder is below `den`, so that doubling it
 * does not overflow. */
struct wf_fixed wf_fixed_ratio(wf_u128 num, wf_u128 den)
{
    wf_u128 quotient = num / den, rest = num % den;

    if (quotient > WF_FIXED_MAX >> WF_FIXED_BITS) {
        return make(WF_FIXED_MAX, false);
    }
    for (int i = 0; i < WF_FIXED_BITS; i++) {
        rest <<= 1;
        quotient <<= 1;
        if (rest >= den) {
            rest -= den;
            quotient |= 1;
        }
    }
    return make(quotient + (rest >= den - rest ? 1 : 0), false);
}

struct wf_fixed wf_fixed_negate(struct wf_fixed a)
{
    return make(a.size, !a.negative);
}

struct wf_fixed wf_fixed_add(struct wf_fixed a, struct wf_fixed b)
{
    if (a.negative == b.negative) {
        return make(a.size + b.size, a.negative);
    }
    return a.size >= b.size ? make(a.size - b.size, a.negative)
                            : make(b.size - a.size, b.negative);
}

/* The product of two 128-bit numbers, in two halves. */
static void multiply(wf_u128 a, wf_u128 b, wf_u128 *high, wf_u128 *low)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
    uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    wf_u128 bottom = (wf_u128)a0 * b0, left = (wf_u128)a1 * b0, right = (wf_u128)a0 * b1;
    wf_u128 middle = (bottom >> 64) + (uint64_t)left + (uint64_t)right;

    *low = (middle << 64) | (uint64_t)bottom;
    *high = (wf_u128)a1 * b1 + (left >> 64) + (right >> 64) + (middle >> 64);
}

struct wf_fixed wf_fixed_multiply(struct wf_fixed a, struct wf_fixed b)
{
    const wf_u128 half = (wf_u128)1 << (WF_FIXED_BITS - 1);
    bool negative = a.negative != b.negative;
    wf_u128 high, low;

    multiply(a.size, b.size, &high, &low);
    low += half;
    high += low < half;
    if (high >> (WF_FIXED_BITS - 1) != 0) {
        return make(WF_FIXED_MAX, negative);
    }
    return make(high << (128 - WF_FIXED_BITS) | low >> WF_FIXED_BITS, negative);
}

struct wf_fixed wf_fixed_divide(struct wf_fixed a, struct wf_fixed b)
{
    return make(wf_fixed_ratio(a.size, b.size).size, a.negative != b.negative);
}

bool wf_fixed_less(struct wf_fixed a, struct wf_fixed b)
{
    if (a.negative != b.negative) {
        return a.negative;
    }
    return a.negative ? a.size > b.size : a.size < b.size;
}

uint64_t wf_fixed_round(struct wf_fixed a, unsigned bits, uint64_t max)
{
    unsigned dropped = WF_FIXED_BITS - bits;
    wf_u128 half = dropped > 0 ? (wf_u128)1 << (dropped - 1) : 0;
    wf_u128 rounded = (a.size + half) >> dropped;

    return rounded > max ? max : (uint64_t)rounded;
}
