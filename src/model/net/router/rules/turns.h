/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Turns: who comes first in a cyclic order of the numbers below n, one by one for any n, or at once
 * for sets of words. `first` has its turn; in sets it may also be the number after the last. */

#include <stdint.h>

/* The next number. */
static inline uint32_t wf_router_after(uint32_t number, uint32_t n)
{
    return number + 1 == n ? 0 : number + 1;
}

/* How far a number is behind `first`. */
static inline uint32_t wf_router_behind(uint32_t number, uint32_t first, uint32_t n)
{
    return number >= first ? number - first : number + n - first;
}

/* One more candidate: the first in turn so far, + 1. `best` is that of those before it; 0: there
 * are none. */
static inline uint32_t wf_router_in_turn(uint32_t best, uint32_t number, uint32_t first,
                                         uint32_t n)
{
    return best == 0 ||
                   wf_router_behind(number, first, n) < wf_router_behind(best - 1, first, n)
               ? number + 1
               : best;
}

/* The first in turn of a set that is not empty: a bit for each number. */
static inline uint32_t wf_router_first_in(uint64_t set, uint32_t first)
{
    uint64_t turned = set >> (first & 63) | set << (-first & 63);

    return ((uint32_t)__builtin_ctzll(turned) + first) & 63;
}

/* Likewise for n up to 32. */
static inline uint32_t wf_router_first_in_word(uint32_t set, uint32_t first, uint32_t n)
{
    uint32_t from = first == n ? 0 : first, later = set >> from << from;

    return (uint32_t)__builtin_ctz(later != 0 ? later : set);
}
