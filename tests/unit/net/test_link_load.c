/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/stats/link_load.h"

#include "engine/core/worker.h"

#include "harness/wf_test.h"

#include <string.h>

enum { SEED = 3, CASES = 60, LOADS = 300, NODES = 40, TIMES = 4096 };

/* The packets that were added, one by one. */
struct oracle {
    uint64_t of_node[NODES];
    int64_t at[LOADS * 8];
    uint64_t bytes[LOADS * 8];
    size_t n;
};

static void add(struct oracle *oracle, const struct wf_net_departures *load)
{
    oracle->of_node[load->node] += load->n * load->bytes;
    for (uint64_t i = 0; i < load->n; i++) {
        oracle->at[oracle->n] = load->at + (int64_t)i * load->spacing;
        oracle->bytes[oracle->n++] = load->bytes;
    }
}

static bool has_loads(const struct wf_net_link_load *detail, const struct oracle *oracle)
{
    uint64_t expected[WF_NET_LOAD_WINDOWS] = {0};

    for (size_t i = 0; i < oracle->n; i++) {
        expected[oracle->at[i] >> (10 + detail->wider)] += oracle->bytes[i];
    }
    return memcmp(expected, detail->load, sizeof(expected)) == 0;
}

/* Everybody sent what is said of him, or `lost` more at most. */
static bool has_fillers(const struct wf_net_link_load *detail, const struct oracle *oracle)
{
    uint64_t senders = 0;

    for (uint64_t node = 0; node < NODES; node++) {
        uint64_t said = 0;
        for (int i = 0; i < WF_NET_LOAD_SENDERS; i++) {
            said += detail->by[i].node == node ? detail->by[i].bytes : 0;
        }
        senders += oracle->of_node[node] > 0;
        if (said > oracle->of_node[node] || said + detail->lost < oracle->of_node[node]) {
            return false;
        }
    }
    return senders > WF_NET_LOAD_SENDERS || detail->lost == 0;
}

static void all_is_counted(void)
{
    static struct oracle oracle;
    struct wf_ctx ctx;

    memset(&ctx, 0, sizeof(ctx));
    for (uint64_t c = 0; c < CASES; c++) {
        struct wf_net_link_load detail = {.lost = 0};
        uint64_t nodes = wf_test_rand(SEED, c, 0) % NODES + 1;
        memset(&oracle, 0, sizeof(oracle));
        for (uint64_t i = 1; i <= LOADS; i++) {
            uint64_t random = wf_test_rand(SEED, c, i);
            const struct wf_net_departures load = {
                .at = (int64_t)(i * (c + 1) * 777 + random % 1000),
                .spacing = (int64_t)(random >> 10 & 1023),
                .n = (random >> 20 & 7) + 1,
                .bytes = random >> 40 & 511,
                .node = (uint32_t)((random >> 50) * (random >> 52) % nodes)};
            wf_net_link_load_add(&ctx, &detail, &load);
            add(&oracle, &load);
        }
        CHECK(has_loads(&detail, &oracle));
        CHECK(has_fillers(&detail, &oracle));
    }
}

int main(void)
{
    RUN(all_is_counted);
    return wf_test_done();
}
