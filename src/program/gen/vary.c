/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/vary.h"

#include "base/int128.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"

#include <assert.h>

/* Any number: no user can set how amounts vary. */
#define SEED            UINT64_C(0x77656674)
#define TABLE_RANKS_MAX (UINT32_C(1) << 24)

uint32_t wf_gen_share(double share)
{
    assert(share >= 0 && share <= 1);
    return (uint32_t)(share * WF_GEN_SHARE_ONE + 0.5);
}

uint64_t wf_gen_vary(uint64_t mean, uint32_t spread, uint64_t stream, uint64_t number)
{
    uint64_t reach = (uint64_t)((wf_u128)mean * spread / WF_GEN_SHARE_ONE);

    assert(mean <= INT64_MAX / 2 && spread <= WF_GEN_SHARE_ONE);
    return mean - reach + wf_rng_below(wf_rng_draw(SEED, stream, number), 2 * reach + 1);
}

uint64_t *wf_gen_vary_table(size_t n, uint64_t mean, uint32_t spread)
{
    uint64_t *table = wf_xmalloc(n * sizeof(*table));

    for (size_t i = 0; i < n; i++) {
        table[i] = wf_gen_vary(mean, spread, 0, i);
    }
    return table;
}

enum wf_status wf_gen_check_table(const char *name, uint32_t n_ranks, struct wf_err *err)
{
    if (n_ranks > TABLE_RANKS_MAX) {
        return wf_err_set(
            err, WF_ELIMIT,
            "gen:%s: blocks and neighbours can be listed for up to %u ranks; there are %u",
            name, TABLE_RANKS_MAX, n_ranks);
    }
    return WF_OK;
}

uint64_t wf_gen_times_over(uint64_t a, uint64_t b, uint64_t c)
{
    wf_u128 result = ((wf_u128)a * b + (c - 1)) / c;

    return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

uint64_t wf_gen_expected(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? 0 : a * b;
}

enum wf_status wf_gen_check_computing(const char *name, int64_t compute, uint64_t times,
                                      struct wf_err *err)
{
    if (wf_times_u64((uint64_t)compute, times) > (uint64_t)WF_TIME_MAX) {
        return wf_err_set(err, WF_ELIMIT,
                          "gen:%s: to compute %llu times may take longer than the 106 days "
                          "that simulated time can hold; compute for less time or less often",
                          name, (unsigned long long)times);
    }
    return WF_OK;
}

uint32_t wf_gen_log2_up(uint32_t n)
{
    uint32_t bits = 0;

    while ((UINT64_C(1) << bits) < n) {
        bits++;
    }
    return bits;
}
