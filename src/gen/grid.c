/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/grid.h"

#include <assert.h>

/* The largest divisor of n not above its square root. */
static uint32_t low_half(uint32_t n)
{
    uint32_t best = 1;

    for (uint32_t d = 1; (uint64_t)d * d <= n; d++) {
        if (n % d == 0) {
            best = d;
        }
    }
    return best;
}

void wf_grid_factor3(uint32_t n, uint32_t size[3])
{
    uint64_t best = UINT64_MAX;

    assert(n >= 1);
    /* With c given, a * b is given too, and the surface a * b + c * (a + b) is least when a and
     * b are as near to each other as they can be. */
    for (uint32_t c = 1; (uint64_t)c * c * c <= n; c++) {
        if (n % c != 0) {
            continue;
        }
        uint32_t b = low_half(n / c);
        uint32_t a = n / c / b;
        uint64_t surface = (uint64_t)n / c + (uint64_t)c * ((uint64_t)a + b);
        if (surface <= best && b >= c) {
            best = surface;
            size[0] = a;
            size[1] = b;
            size[2] = c;
        }
    }
}
