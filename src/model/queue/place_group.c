/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/nodes.h"

#include <string.h>

/* The group to take next: the one with the fewest free nodes of those that are large enough for
 * the rest of the job, else the one with the most. */
static uint32_t best_group(const uint32_t *counts, uint32_t n_groups, uint32_t rest)
{
    uint32_t best = 0;

    for (uint32_t g = 1; g < n_groups; g++) {
        bool better = counts[best] < rest ? counts[g] > counts[best]
                                          : counts[g] >= rest && counts[g] < counts[best];

        best = better ? g : best;
    }
    return best;
}

static void choose(const struct wf_queue_nodes *nodes, uint32_t n, uint64_t draw, uint32_t *out)
{
    uint32_t *counts = nodes->scratch;
    const uint32_t *list = wf_queue_nodes_list(nodes);

    memset(counts, 0, nodes->n_groups * sizeof(*counts));
    for (uint32_t i = 0; i < nodes->n_free; i++) {
        counts[nodes->group_of[list[i]]]++;
    }
    for (uint32_t taken = 0; taken < n;) {
        uint32_t group = best_group(counts, nodes->n_groups, n - taken);

        for (uint32_t i = 0; i < nodes->n_free && taken < n; i++) {
            if (nodes->group_of[list[i]] == group) {
                out[taken++] = list[i];
            }
        }
        counts[group] = 0;
    }
}

const struct wf_queue_place wf_queue_place_group = {
    .name = "group",
    .summary = "As few groups as possible: of a dragonfly, or nodes of a switch or plane",
    .needs_topo = true,
    .choose = choose,
};
