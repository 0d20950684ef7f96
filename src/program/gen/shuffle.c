/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/shuffle.h"

#include "base/rng.h"

#include <assert.h>

/* How often each of the two digits is moved. */
enum { N_ROUNDS = 2 };

struct digits {
    uint32_t high, low;
};

void wf_gen_shuffle_init(struct wf_gen_shuffle *shuffle, uint32_t n)
{
    uint32_t low = 1;

    assert(n >= 1);
    while ((uint64_t)low * low < n) {
        low++;
    }
    *shuffle = (struct wf_gen_shuffle){.n = n, .low = low, .high = (n - 1) / low + 1};
}

/* How far move number `move` shifts one digit, given the other digit. */
static uint32_t distance(uint64_t key, uint32_t move, uint32_t other, uint32_t radix)
{
    uint64_t random = wf_rng_mix(key + ((uint64_t)move << 32 | other) * WF_RNG_GOLDEN);

    return (uint32_t)wf_rng_below(random, radix);
}

static uint32_t forward(uint32_t digit, uint32_t by, uint32_t radix)
{
    return digit < radix - by ? digit + by : digit - (radix - by);
}

static uint32_t backward(uint32_t digit, uint32_t by, uint32_t radix)
{
    return digit >= by ? digit - by : digit + (radix - by);
}

static uint64_t move_on(const struct wf_gen_shuffle *shuffle, uint64_t key, uint64_t x)
{
    struct digits at = {(uint32_t)(x / shuffle->low), (uint32_t)(x % shuffle->low)};

    for (uint32_t i = 0; i < N_ROUNDS; i++) {
        uint32_t by = distance(key, 2 * i, at.low, shuffle->high);
        at.high = forward(at.high, by, shuffle->high);
        by = distance(key, 2 * i + 1, at.high, shuffle->low);
        at.low = forward(at.low, by, shuffle->low);
    }
    return (uint64_t)at.high * shuffle->low + at.low;
}

static uint64_t move_back(const struct wf_gen_shuffle *shuffle, uint64_t key, uint64_t y)
{
    struct digits at = {(uint32_t)(y / shuffle->low), (uint32_t)(y % shuffle->low)};

    for (uint32_t i = N_ROUNDS; i-- > 0;) {
        uint32_t by = distance(key, 2 * i + 1, at.high, shuffle->low);
        at.low = backward(at.low, by, shuffle->low);
        by = distance(key, 2 * i, at.low, shuffle->high);
        at.high = backward(at.high, by, shuffle->high);
    }
    return (uint64_t)at.high * shuffle->low + at.low;
}

uint32_t wf_gen_shuffle_place(const struct wf_gen_shuffle *shuffle, uint64_t key, uint32_t x)
{
    uint64_t at = x;

    assert(x < shuffle->n);
    do {
        at = move_on(shuffle, key, at);
    } while (at >= shuffle->n);
    return (uint32_t)at;
}

uint32_t wf_gen_shuffle_number(const struct wf_gen_shuffle *shuffle, uint64_t key, uint32_t y)
{
    uint64_t at = y;

    assert(y < shuffle->n);
    do {
        at = move_back(shuffle, key, at);
    } while (at >= shuffle->n);
    return (uint32_t)at;
}
