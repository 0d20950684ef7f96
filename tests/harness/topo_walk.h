/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Creates topologies, and checks those that are too large for topo_check.h: some routes instead
 * of all. */

#include "model/topo/measure.h"
#include "model/topo/topo.h"

#include "harness/wf_test.h"

static inline struct wf_topo *topo_make(const char *spec)
{
    struct wf_topo *topo = NULL;
    struct wf_err err;

    if (wf_topo_create(spec, &topo, &err) != WF_OK) {
        (void)fprintf(stderr, "%s: %s\n", spec, err.text);
        abort();
    }
    return topo;
}

/* Checks that a spec is refused as invalid, with a message that contains `words`. */
static inline void topo_check_refused(const char *spec, const char *words)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.status = WF_OK};

    CHECK_U64(wf_topo_create(spec, &topo, &err), WF_EINVAL);
    CHECK(topo == NULL);
    if (strstr(err.text, words) == NULL) {
        printf("# %s: %s\n", spec, err.text);
    }
    CHECK(strstr(err.text, words) != NULL);
}

/* Checks that next_port is one of the minimal ports and that its cable leads back; returns
 * where the hop ends. One-way links do not lead back; with very many ports the search for the
 * way back takes too long. `ports` has n_ports entries, or one if there is one path. */
static inline uint32_t topo_check_hop(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                      uint32_t *ports)
{
    uint32_t port = topo->ops->next_port(topo, at, dst), found = 0, back = 0;
    uint32_t n = wf_topo_minimal_ports(topo, at, dst, ports);
    uint32_t to = topo->ops->neighbor(topo, at, port);
    uint32_t n_back = to < topo->n_vertices ? wf_topo_ports(topo, to) : 0;

    for (uint32_t k = 0; k < n; k++) {
        found += ports[k] == port ? 1 : 0;
    }
    while (!topo->oneway && n_back < 10000 && back < n_back &&
           topo->ops->neighbor(topo, to, back) != at) {
        back++;
    }
    if (found != 1 || back == n_back) {
        printf("# hop from %u towards %u by port %u to %u\n", at, dst, port, to);
        wf_test_failed = 1;
    }
    return to;
}

/* Checks that the walk from a vertex to a node by next_port arrives after `distance` hops. */
static inline void topo_check_walk(const struct wf_topo *topo, uint32_t from, uint32_t dst)
{
    uint32_t *ports = calloc(topo->ops->one_path ? 1 : topo->n_ports, sizeof(*ports));
    uint32_t at = from;

    for (uint32_t left = topo->ops->distance(topo, at, dst); left > 0 && !wf_test_failed;) {
        at = topo_check_hop(topo, at, dst, ports);
        left--;
    }
    if (at != dst) {
        printf("# a walk from %u ends at %u, not at %u\n", from, at, dst);
        wf_test_failed = 1;
    }
    free(ports);
}

/* Checks `n` walks from random vertices to random nodes. */
static inline void topo_check_walks(const struct wf_topo *topo, uint64_t n)
{
    for (uint64_t i = 0; i < n && !wf_test_failed; i++) {
        uint32_t at = (uint32_t)(wf_test_rand(1, 0, i) % topo->n_vertices);
        topo_check_walk(topo, at, (uint32_t)(wf_test_rand(1, 1, i) % topo->n_nodes));
    }
}

/* Checks the sum of the distances of all pairs. */
static inline void topo_check_sum(const struct wf_topo *topo, uint64_t sum)
{
    struct wf_topo_measure measure;

    wf_topo_measure(topo, &measure);
    CHECK_U64(measure.sum_low, sum);
    wf_topo_measure_release(&measure);
}

/* Checks the walks above, and that the histogram counts all pairs. */
static inline void topo_check_large(const struct wf_topo *topo, uint64_t n_walks)
{
    struct wf_topo_measure measure;
    uint64_t pairs = 0;

    topo_check_walks(topo, n_walks);
    wf_topo_measure(topo, &measure);
    for (uint32_t d = 0; d <= measure.diameter; d++) {
        pairs += measure.counts[d];
    }
    CHECK_U64(pairs, (uint64_t)topo->n_nodes * topo->n_nodes);
    CHECK(measure.counts[measure.diameter] > 0);
    wf_topo_measure_release(&measure);
}
