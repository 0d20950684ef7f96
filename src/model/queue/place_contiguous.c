/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/nodes.h"

#include <string.h>

/* The shortest run of consecutive free nodes that is long enough; if there is none, the lowest
 * free nodes: a job never waits for its nodes to be neighbours. */
static void choose(const struct wf_queue_nodes *nodes, uint32_t n, uint64_t draw, uint32_t *out)
{
    const uint32_t *list = nodes->free_list;
    uint32_t best = 0, best_length = UINT32_MAX;

    for (uint32_t i = 0, end; i < nodes->n_free; i = end) {
        for (end = i + 1; end < nodes->n_free && list[end] == list[end - 1] + 1; end++) {
        }
        if (end - i >= n && end - i < best_length) {
            best = i;
            best_length = end - i;
        }
    }
    memcpy(out, list + best, n * sizeof(*out));
}

const struct wf_queue_place wf_queue_place_contiguous = {
    .name = "contiguous",
    .summary = "The shortest run of free nodes that is long enough, else the lowest free nodes",
    .choose = choose,
};
