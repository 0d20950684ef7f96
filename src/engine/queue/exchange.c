/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/exchange.h"

#include <assert.h>

static void add(struct wf_exchanges *exchanges, uint32_t n, uint32_t first, uint32_t second)
{
    uint32_t at = exchanges->n[n]++;

    assert(at < WF_EXCHANGE_STEPS);
    exchanges->first[n][at] = (uint8_t)first;
    exchanges->second[n][at] = (uint8_t)second;
}

/* One step of merging each two neighbouring runs of `run` entries: compares entries at the distance
 * `apart` that belong to the same two runs. */
static void add_merge_step(struct wf_exchanges *exchanges, uint32_t n, uint32_t run,
                           uint32_t apart)
{
    for (uint32_t begin = apart % run; begin + apart < n; begin += 2 * apart) {
        for (uint32_t i = begin; i < begin + apart && i + apart < n; i++) {
            if (i / (2 * run) == (i + apart) / (2 * run)) {
                add(exchanges, n, i, i + apart);
            }
        }
    }
}

/* Batcher's odd-even merge sort (Knuth, "The Art of Computer Programming", vol. 3, 5.3.4). */
void wf_exchanges_init(struct wf_exchanges *exchanges)
{
    for (uint32_t n = 0; n <= WF_EXCHANGE_MAX; n++) {
        exchanges->n[n] = 0;
        for (uint32_t run = 1; run < n; run *= 2) {
            for (uint32_t apart = run; apart >= 1; apart /= 2) {
                add_merge_step(exchanges, n, run, apart);
            }
        }
    }
}
