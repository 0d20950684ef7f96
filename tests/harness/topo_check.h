/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Checks the promises of every topology (model/topo/topo.h) for one instance by brute force. */

#include "model/topo/classes.h"
#include "model/topo/measure.h"
#include "model/topo/topo.h"

#include "harness/topo_oracle.h"
#include "harness/wf_test.h"

/* Checks ports, links and neighbours. */
static inline void topo_check_links(const struct wf_topo *topo)
{
    uint32_t most = 0;
    uint64_t directed = 0;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        CHECK(wf_topo_first_link(topo, v) <= wf_topo_first_link(topo, v + 1));
        most = n_ports > most ? n_ports : most;
        for (uint32_t p = 0; p < n_ports; p++) {
            uint32_t to = topo->ops->neighbor(topo, v, p), back = 0;
            if (to == WF_TOPO_NO_VERTEX) {
                continue;
            }
            CHECK(to < topo->n_vertices && to != v);
            directed++;
            for (uint32_t other = p + 1; other < n_ports; other++) {
                CHECK(topo->ops->neighbor(topo, v, other) != to);
            }
            while (back < wf_topo_ports(topo, to) && topo->ops->neighbor(topo, to, back) != v) {
                back++;
            }
            CHECK(topo->oneway || back < wf_topo_ports(topo, to));
            CHECK(wf_topo_link_class(topo, v, p) < wf_topo_n_classes(topo));
            CHECK(topo->oneway ||
                  wf_topo_link_class(topo, v, p) == wf_topo_link_class(topo, to, back));
        }
    }
    CHECK_U64(most, topo->n_ports);
    CHECK_U64(topo->oneway ? directed : directed / 2, topo->n_links);
    CHECK_U64(wf_topo_first_link(topo, 0), 0);
}

/* Checks the routes from `at` to `dst`, given the true distances to `dst`. */
static inline void topo_check_route(const struct topo_oracle *oracle, uint32_t at, uint32_t dst,
                                    uint32_t *ports)
{
    const struct wf_topo *topo = oracle->topo;
    uint32_t n = wf_topo_minimal_ports(topo, at, dst, ports), expected = 0;
    uint32_t next = topo->ops->next_port(topo, at, dst);
    bool contains_next = false;

    CHECK_U64(topo->ops->distance(topo, at, dst), oracle->dist[at]);
    if (at == dst) {
        CHECK_U64(next, WF_TOPO_NO_PORT);
        CHECK_U64(n, 0);
        return;
    }
    for (uint32_t p = 0; p < wf_topo_ports(topo, at); p++) {
        uint32_t to = topo->ops->neighbor(topo, at, p);
        if (to != WF_TOPO_NO_VERTEX && oracle->dist[to] + 1 == oracle->dist[at]) {
            CHECK(expected < n && ports[expected] == p);
            contains_next |= p == next;
            expected++;
        }
    }
    CHECK_U64(n, expected);
    CHECK(contains_next);
}

static inline void topo_check_measure(const struct wf_topo_measure *measure, uint32_t diameter,
                                      const uint64_t *counts)
{
    CHECK_U64(measure->diameter, diameter);
    for (uint32_t d = 0; d <= diameter; d++) {
        CHECK_U64(measure->counts[d], counts[d]);
    }
}

/* Checks all routes, the histogram and the diameter. */
static inline void topo_check_distances(const struct wf_topo *topo)
{
    struct topo_oracle oracle;
    struct wf_topo_measure measure;
    uint32_t *ports = malloc(((size_t)topo->n_ports + 1) * sizeof(*ports));
    uint64_t *counts = calloc(topo->n_vertices, sizeof(*counts));
    uint32_t diameter = 0;

    topo_oracle_init(&oracle, topo);
    for (uint32_t dst = 0; dst < topo->n_vertices; dst++) {
        if (dst >= topo->n_nodes && dst != topo->gate) {
            continue;
        }
        topo_oracle_search(&oracle, dst);
        for (uint32_t at = 0; at < topo->n_vertices && !wf_test_failed; at++) {
            topo_check_route(&oracle, at, dst, ports);
            if (at < topo->n_nodes && dst < topo->n_nodes &&
                oracle.dist[at] < topo->n_vertices) {
                counts[oracle.dist[at]]++;
                diameter = oracle.dist[at] > diameter ? oracle.dist[at] : diameter;
            }
        }
    }
    wf_topo_measure(topo, &measure);
    topo_check_measure(&measure, diameter, counts);
    wf_topo_measure_release(&measure);
    topo_oracle_fini(&oracle);
    free(ports);
    free(counts);
}

/* Checks that no partition of the nodes into halves cuts fewer links than the bisection. Two
 * partitions are tried: lower and upper numbers, even and odd numbers. */
static inline void topo_check_bisection(const struct wf_topo *topo)
{
    uint32_t half = topo->n_nodes / 2;
    uint64_t middle = 0, parity = 0;

    if (topo->bisection == 0 || topo->n_nodes % 2 != 0 || !wf_topo_is_direct(topo)) {
        return;
    }
    for (uint32_t v = 0; v < topo->n_nodes; v++) {
        for (uint32_t p = 0; p < wf_topo_ports(topo, v); p++) {
            uint32_t to = topo->ops->neighbor(topo, v, p);
            middle += to != WF_TOPO_NO_VERTEX && v < half && to >= half;
            parity += to != WF_TOPO_NO_VERTEX && v % 2 == 0 && to % 2 == 1;
        }
    }
    CHECK(topo->bisection <= middle && topo->bisection <= parity);
}

static inline void topo_check_places(const struct wf_topo *topo)
{
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t coord[WF_TOPO_COORDS_MAX];
        uint32_t n = topo->ops->coords(topo, v, coord);
        CHECK(n >= 1 && n <= WF_TOPO_COORDS_MAX);
    }
}

/* Checks that classes have different names, and that each is found by its name. */
static inline void topo_check_class_names(const struct wf_topo *topo)
{
    uint32_t n = wf_topo_n_classes(topo);

    CHECK(n >= 1);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = wf_topo_class_name(topo, i);
        uint32_t found = n;
        CHECK(name[0] != '\0' && strlen(name) <= WF_TOPO_CLASS_NAME_MAX + 3);
        CHECK(wf_topo_class_find(topo, name, strlen(name), &found, NULL) == WF_OK);
        CHECK_U64(found, i);
    }
}

/* Checks that class_hops() counts the links of the route by next_port(), and that a route in
 * dimensions takes all links of a dimension one after another. */
static inline void topo_check_class_hops(const struct wf_topo *topo)
{
    enum { CLASSES_MAX = 64 };

    for (uint32_t src = 0; topo->ops->class_hops != NULL && src < topo->n_nodes; src++) {
        for (uint32_t dst = 0; dst < topo->n_nodes; dst++) {
            uint32_t counted[CLASSES_MAX] = {0}, walked[CLASSES_MAX] = {0}, changes = 0;
            uint32_t last = CLASSES_MAX, used = 0;
            topo->ops->class_hops(topo, src, dst, counted);
            for (uint32_t at = src; at != dst;) {
                uint32_t port = topo->ops->next_port(topo, at, dst);
                uint32_t number = wf_topo_link_class(topo, at, port);
                walked[number]++;
                changes += number != last;
                last = number;
                at = topo->ops->neighbor(topo, at, port);
            }
            for (uint32_t i = 0; i < wf_topo_n_classes(topo); i++) {
                CHECK_U64(counted[i], walked[i]);
                used += walked[i] > 0;
            }
            CHECK(topo->ops->shape != WF_TOPO_SHAPE_GRID || changes == used);
        }
    }
}

static inline void topo_check(const struct wf_topo *topo)
{
    topo_check_class_names(topo);
    topo_check_class_hops(topo);
    CHECK(topo->n_nodes >= 1 && topo->n_nodes <= topo->n_vertices);
    CHECK(topo->gate < topo->n_vertices);
    topo_check_links(topo);
    topo_check_distances(topo);
    topo_check_bisection(topo);
    topo_check_places(topo);
}
