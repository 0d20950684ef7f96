/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/measure.h"

#include "base/int128.h"
#include "base/mem.h"

#include <stdlib.h>

void wf_topo_measure_product(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                             uint64_t *out)
{
    for (size_t i = 0; i + 1 < (size_t)n_a + n_b; i++) {
        out[i] = 0;
    }
    for (uint32_t i = 0; i < n_a; i++) {
        for (uint32_t j = 0; j < n_b; j++) {
            out[i + j] += a[i] * b[j];
        }
    }
}

void wf_topo_measure(const struct wf_topo *topo, struct wf_topo_measure *out)
{
    wf_u128 sum = 0;
    uint32_t n = 0;

    if (topo->ops->pairs != NULL) {
        out->counts = topo->ops->pairs(topo, &n);
        out->diameter = n - 1;
    } else {
        out->diameter = topo->ops->diameter(topo);
        out->counts = wf_xcalloc((size_t)out->diameter + 1, sizeof(*out->counts));
        topo->ops->histogram(topo, out->counts);
    }
    out->sources = out->counts[0] < topo->n_nodes ? (uint32_t)out->counts[0] : topo->n_nodes;
    double pairs = (double)out->sources * ((double)topo->n_nodes - 1);
    for (uint32_t d = 0; d <= out->diameter; d++) {
        sum += (wf_u128)out->counts[d] * d;
    }
    out->sum_low = (uint64_t)sum;
    out->sum_high = (uint64_t)(sum >> 64);
    out->average = pairs > 0 ? (double)sum / pairs : 0;
}

void wf_topo_measure_release(struct wf_topo_measure *measure)
{
    free(measure->counts);
    measure->counts = NULL;
}
