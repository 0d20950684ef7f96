/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_TOPO_WALK_H
#define WF_TESTS_HARNESS_TOPO_WALK_H

/* For topologies that are too large for topo_check.h: some ways instead of all. */

#include "topo/topo.h"

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

/* A spec must be refused as invalid, with words that contain `words`. */
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

/* A hop by next_port is by one of the minimal ports and over a cable that leads back; returns
 * where it ends. `ports` has room for n_ports. */
static inline uint32_t topo_check_hop(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                      uint32_t *ports)
{
    uint32_t port = topo->ops->next_port(topo, at, dst), found = 0, back = 0;
    uint32_t n = wf_topo_minimal_ports(topo, at, dst, ports);
    uint32_t to = topo->ops->neighbor(topo, at, port);

    for (uint32_t k = 0; k < n; k++) {
        found += ports[k] == port ? 1 : 0;
    }
    while (to < topo->n_vertices && back < wf_topo_ports(topo, to) &&
           topo->ops->neighbor(topo, to, back) != at) {
        back++;
    }
    if (found != 1 || to >= topo->n_vertices || back == wf_topo_ports(topo, to)) {
        printf("# hop from %u towards %u by port %u to %u\n", at, dst, port, to);
        wf_test_failed = 1;
    }
    return to;
}

/* Walks from any vertices to any nodes by next_port arrive in distance hops. */
static inline void topo_check_walks(const struct wf_topo *topo, uint64_t n)
{
    uint32_t *ports = malloc(topo->n_ports * sizeof(*ports));

    for (uint64_t i = 0; i < n && !wf_test_failed; i++) {
        uint32_t at = (uint32_t)(wf_test_rand(1, 0, i) % topo->n_vertices);
        uint32_t dst = (uint32_t)(wf_test_rand(1, 1, i) % topo->n_nodes);
        uint32_t left = topo->ops->distance(topo, at, dst);
        while (left > 0 && !wf_test_failed) {
            at = topo_check_hop(topo, at, dst, ports);
            left--;
        }
        if (at != dst) {
            printf("# walk %llu ends at %u, not at %u\n", (unsigned long long)i, at, dst);
            wf_test_failed = 1;
        }
    }
    free(ports);
}

#endif
