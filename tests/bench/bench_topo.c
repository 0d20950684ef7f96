/* SPDX-License-Identifier: Apache-2.0 */
/* Distances between random pairs of nodes, per second of CPU. */
#include "base/clock.h"
#include "base/rng.h"
#include "model/topo/topo.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 1 << 16, ROUNDS = 64 };

static const char *const specs[] = {
    "ttorus:16x16x16,degree=1,jump=8/8/8",
    "ttorus:16x16x16,degree=2,jump=4/4/4",
    "ttorus:16x16x16,degree=1,jump=4/0/0",
    "torus:128x128x64",
    "mesh:128x128x64",
    "tree:1048576",
    "fattree:k=8,n=6",
    "dragonfly:22",
    "hyperx:32x32x32,p=8",
    "slimfly:29",
    "torus:8x8x8/star:4/mesh:8x8",
};

static void measure(const char *spec, uint32_t (*pairs)[2])
{
    struct wf_err err;
    struct wf_topo *topo = NULL;
    uint64_t sum = 0;

    if (wf_topo_create(spec, &topo, &err) != WF_OK) {
        (void)fprintf(stderr, "%s: %s\n", spec, err.text);
        exit(EXIT_FAILURE);
    }
    for (uint64_t i = 0; i < PAIRS; i++) {
        pairs[i][0] = (uint32_t)(wf_rng_mix(2 * i + 1) % topo->n_nodes);
        pairs[i][1] = (uint32_t)(wf_rng_mix(2 * i + 2) % topo->n_nodes);
    }
    double began = wf_clock_cpu();
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < PAIRS; i++) {
            sum += topo->ops->distance(topo, pairs[i][0], pairs[i][1]);
        }
    }
    double seconds = wf_clock_cpu() - began;
    printf("%-42s %10.2f million distances/s, mean %.3f\n", spec,
           (double)PAIRS * ROUNDS / seconds / 1e6, (double)sum / ((double)PAIRS * ROUNDS));
    wf_topo_free(topo);
}

int main(void)
{
    uint32_t(*pairs)[2] = malloc(PAIRS * sizeof(*pairs));

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]) && pairs != NULL; i++) {
        measure(specs[i], pairs);
    }
    free(pairs);
    return pairs == NULL;
}
