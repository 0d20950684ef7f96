/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the bytes of a graph file are, the outcome is a network that keeps its
 * promises or an error with a place. */
#include "model/topo/graph.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checking takes time that grows with the square of the vertices. */
enum { CHECKED_MAX = 64 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

/* Walks from one vertex to another as next_port says. */
static void walk(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    uint32_t left = topo->ops->distance(topo, at, dst);

    require(left < topo->n_vertices);
    for (; left > 0; left--) {
        uint32_t port = topo->ops->next_port(topo, at, dst);
        require(port < wf_topo_ports(topo, at));
        at = topo->ops->neighbor(topo, at, port);
        require(at < topo->n_vertices);
    }
    require(at == dst);
    require(topo->ops->next_port(topo, at, dst) == WF_TOPO_NO_PORT);
}

static void check(const struct wf_topo *topo)
{
    uint32_t n = topo->n_vertices < CHECKED_MAX ? topo->n_vertices : CHECKED_MAX;

    require(topo->n_nodes >= 1 && topo->n_nodes <= topo->n_vertices);
    require(topo->gate < topo->n_vertices && topo->n_links >= 1 && topo->n_ports >= 1);
    for (uint32_t at = 0; at < n; at++) {
        for (uint32_t dst = 0; dst < n; dst++) {
            walk(topo, at, dst);
        }
        for (uint32_t port = 0; port < wf_topo_ports(topo, at); port++) {
            struct wf_topo_link_props props = topo->ops->link_props(topo, at, port);
            require(props.latency >= 0 && topo->ops->neighbor(topo, at, port) != at);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.status = WF_OK};

    enum wf_status status =
        wf_topo_graph_create_text("fuzz", (const char *)data, size, &topo, &err);
    if (status == WF_OK) {
        check(topo);
        wf_topo_free(topo);
    } else {
        require(status == WF_EINVAL && err.status == status && topo == NULL);
        require(strncmp(err.text, "fuzz:", 5) == 0 && strlen(err.text) > 10);
    }
    return 0;
}
