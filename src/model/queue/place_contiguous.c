/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/nodes.h"

/* The shortest run of consecutive free nodes that is long enough; if there is none, the lowest
 * free nodes: a job never waits for its nodes to be neighbours. */
static void choose(const struct wf_queue_nodes *nodes, uint32_t n, uint64_t draw, uint32_t *out)
{
    uint32_t best_length = UINT32_MAX, taken = 0;
    size_t best = 0;

    for (size_t i = 0; i < nodes->n_runs && best_length > n; i++) {
        uint32_t length = nodes->free[i].last - nodes->free[i].first + 1;

        if (length >= n && length < best_length) {
            best = i;
            best_length = length;
        }
    }
    for (; taken < n; best++) {
        for (uint32_t node = nodes->free[best].first;
             node <= nodes->free[best].last && taken < n; node++) {
            out[taken++] = node;
        }
    }
}

const struct wf_queue_place wf_queue_place_contiguous = {
    .name = "contiguous",
    .summary = "The shortest run of free nodes that is long enough, else the lowest free nodes",
    .choose = choose,
};
