/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Kernels with which the tests try a device. */

#include "model/net/router/gpu/kernel.h"

#include <stdint.h>

/* Threads exchange numbers in turns: cells[turn & 1][i] becomes the sum of its neighbours' numbers
 * of the turn before. `n` numbers; `count` is for the barrier. */
struct ring_args {
    uint32_t *cells;
    uint32_t *count;
    uint32_t n, turns;
};

/* Each block sorts numbers into classes, in its shared memory; the sums of all go to `sums`. */
enum { CLASSES = 16 };
struct count_args {
    uint64_t *sums; /* by class */
    uint64_t *most; /* the largest number */
    uint32_t *bits; /* all bits that are set in any number */
    uint32_t n;
};

static inline uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * UINT32_C(0x7feb352d);
    x = (x ^ x >> 15) * UINT32_C(0x846ca68b);
    return x ^ x >> 16;
}
