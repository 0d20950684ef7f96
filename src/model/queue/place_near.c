/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/queue/nodes.h"
#include "model/topo/topo.h"

#include <stdlib.h>
#include <string.h>

enum { CENTRES = 4 };

/* The nodes around one of a few free nodes at equal places of the list: those with the smallest
 * sum of distances from it. To try every node would take the square of their number. */
static void choose(const struct wf_queue_nodes *nodes, uint32_t n, uint64_t draw, uint32_t *out)
{
    const struct wf_topo *topo = nodes->config->topo;
    const uint32_t *list = wf_queue_nodes_list(nodes);
    uint32_t *distances = nodes->scratch, longest = topo->ops->diameter(topo);
    uint32_t *counts = wf_xcalloc(longest + (size_t)1, sizeof(*counts));
    uint64_t best = UINT64_MAX;

    for (uint32_t c = 0; c < CENTRES; c++) {
        uint32_t centre = list[(uint64_t)nodes->n_free * c / CENTRES], radius = 0;
        uint64_t sum = 0;

        memset(counts, 0, (longest + (size_t)1) * sizeof(*counts));
        for (uint32_t i = 0; i < nodes->n_free; i++) {
            distances[i] = wf_queue_nodes_distance(nodes, centre, list[i]);
            counts[distances[i]]++;
        }
        /* Nodes nearer than the radius are taken, and `left` of those at the radius. */
        uint32_t left = n;
        for (; left > counts[radius]; radius++) {
            sum += (uint64_t)counts[radius] * radius;
            left -= counts[radius];
        }
        sum += (uint64_t)left * radius;
        if (sum >= best) {
            continue;
        }
        best = sum;
        for (uint32_t i = 0, taken = 0; taken < n; i++) {
            bool at_edge = distances[i] == radius && left > 0;

            if (distances[i] < radius || at_edge) {
                out[taken++] = list[i];
                left -= at_edge ? 1 : 0;
            }
        }
    }
    free(counts);
}

const struct wf_queue_place wf_queue_place_near = {
    .name = "near",
    .summary = "The nodes with the fewest hops from one of four free nodes",
    .needs_topo = true,
    .choose = choose,
};
