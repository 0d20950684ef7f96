/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/exchange.h"

#include "harness/wf_test.h"

/* Whether the zeros and ones in `bits` come out sorted, each with its event. A network that sorts
 * these sorts everything (Knuth, vol. 3, 5.3.4, theorem Z). */
static bool sorts(const struct wf_exchanges *exchanges, uint32_t n, uint32_t bits)
{
    static char events[WF_EXCHANGE_MAX];
    struct wf_window_entry entries[WF_EXCHANGE_MAX];
    uint32_t seen = 0;

    for (uint32_t i = 0; i < n; i++) {
        entries[i] = (struct wf_window_entry){bits >> i & 1, (void *)&events[i]};
    }
    wf_exchange_sort(exchanges, entries, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t event = (uint32_t)((char *)entries[i].ev - events);
        seen |= UINT32_C(1) << event;
        if ((bits >> event & 1) != entries[i].order ||
            (i > 0 && entries[i].order < entries[i - 1].order)) {
            return false;
        }
    }
    return seen == (UINT32_C(1) << n) - 1;
}

static void every_network_sorts_all_zeros_and_ones(void)
{
    struct wf_exchanges exchanges;

    wf_exchanges_init(&exchanges);
    for (uint32_t n = 0; n <= WF_EXCHANGE_MAX; n++) {
        bool all = true;
        for (uint32_t bits = 0; bits < UINT32_C(1) << n; bits++) {
            all = all && sorts(&exchanges, n, bits);
        }
        CHECK(all);
    }
}

static void networks_are_as_short_as_is_known(void)
{
    struct wf_exchanges exchanges;

    wf_exchanges_init(&exchanges);
    CHECK_U64(exchanges.n[0], 0);
    CHECK_U64(exchanges.n[1], 0);
    CHECK_U64(exchanges.n[2], 1);
    CHECK_U64(exchanges.n[4], 5);
    CHECK_U64(exchanges.n[8], 19);
    CHECK_U64(exchanges.n[16], 63);
}

int main(void)
{
    RUN(every_network_sorts_all_zeros_and_ones);
    RUN(networks_are_as_short_as_is_known);
    return wf_test_done();
}
