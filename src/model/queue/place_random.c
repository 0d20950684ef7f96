/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "model/queue/nodes.h"

#include <string.h>

static void choose(const struct wf_queue_nodes *nodes, uint32_t n, uint64_t draw, uint32_t *out)
{
    uint32_t *list = nodes->scratch;

    memcpy(list, wf_queue_nodes_list(nodes), nodes->n_free * sizeof(*list));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = i + wf_rng_below32(wf_rng_next(&draw), nodes->n_free - i);

        out[i] = list[other];
        list[other] = list[i];
    }
}

const struct wf_queue_place wf_queue_place_random = {
    .name = "random",
    .summary = "Random free nodes",
    .choose = choose,
};
