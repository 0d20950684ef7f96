/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/routers.h"

#include "model/topo/classes.h"
#include "model/topo/vector.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct wf_topo_routers *to_routers(const struct wf_topo *topo)
{
    return (const struct wf_topo_routers *)topo;
}

enum wf_status wf_topo_routers_init(struct wf_topo_routers *net, const struct wf_topo_ops *ops,
                                    const struct wf_topo_routers_ops *router,
                                    struct wf_topo_routers_size size, struct wf_err *err)
{
    char what[64];
    uint64_t links = 1, ports = size.degree;

    memset(net, 0, sizeof(*net));
    (void)snprintf(what, sizeof(what), "%s: links", ops->name);
    if (size.nodes == 0 || size.n_routers == 0) {
        return wf_err_set(err, WF_EINVAL, "%s: a network without %s", ops->name,
                          size.nodes == 0 ? "nodes: give every router at least one"
                                          : "routers");
    }
    /* The links of a node are numbered at both of its ends. */
    if (size.nodes <= WF_TOPO_LINK_MAX && size.degree <= WF_TOPO_LINK_MAX) {
        ports += 2 * size.nodes;
    } else {
        ports = UINT64_MAX;
    }
    WF_TRY(wf_topo_vector_multiply(what, &links, size.n_routers, WF_TOPO_LINK_MAX, err));
    WF_TRY(wf_topo_vector_multiply(what, &links, ports, WF_TOPO_LINK_MAX, err));
    net->router = router;
    net->n_routers = (uint32_t)size.n_routers;
    net->nodes = (uint32_t)size.nodes;
    net->degree = (uint32_t)size.degree;
    net->topo.ops = ops;
    net->topo.n_nodes = net->n_routers * net->nodes;
    net->topo.n_vertices = net->topo.n_nodes + net->n_routers;
    net->topo.n_ports = net->nodes + net->degree;
    net->topo.n_links = net->topo.n_nodes;
    net->topo.classes = wf_topo_class_groups;
    net->topo.n_classes = WF_TOPO_CLASS_GROUPS;
    return WF_OK;
}

uint32_t wf_topo_routers_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    if (vertex <= topo->n_nodes) {
        return vertex;
    }
    return topo->n_nodes + (vertex - topo->n_nodes) * topo->n_ports;
}

uint32_t wf_topo_routers_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct wf_topo_routers *net = to_routers(topo);
    uint32_t router = wf_topo_routers_of(net, vertex);

    assert(vertex < topo->n_vertices && port < wf_topo_ports(topo, vertex));
    if (vertex < topo->n_nodes) {
        return topo->n_nodes + router;
    }
    if (port < net->nodes) {
        return router * net->nodes + port;
    }
    uint32_t to = net->router->neighbor(net, router, port - net->nodes);
    return to == WF_TOPO_NO_VERTEX ? WF_TOPO_NO_VERTEX : topo->n_nodes + to;
}

uint32_t wf_topo_routers_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct wf_topo_routers *net = to_routers(topo);

    if (at == dst) {
        return 0;
    }
    return (at < topo->n_nodes ? 2 : 1) + net->router->distance(net,
                                                                wf_topo_routers_of(net, at),
                                                                wf_topo_routers_of(net, dst));
}

uint32_t wf_topo_routers_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct wf_topo_routers *net = to_routers(topo);
    uint32_t from = wf_topo_routers_of(net, at), to = wf_topo_routers_of(net, dst);

    if (at == dst) {
        return WF_TOPO_NO_PORT;
    }
    if (at < topo->n_nodes) {
        return 0;
    }
    return from == to ? dst % net->nodes
                      : net->nodes + net->router->next_port(net, from, to, dst);
}

bool wf_topo_routers_leads_nearer(const struct wf_topo_routers *net, uint32_t from,
                                  uint32_t port, uint32_t to, uint32_t left)
{
    uint32_t via = net->router->neighbor(net, from, port);

    return via != WF_TOPO_NO_VERTEX && net->router->distance(net, via, to) + 1 == left;
}

static uint32_t try_ports(const struct wf_topo_routers *net, uint32_t from, uint32_t to,
                          uint32_t *ports)
{
    uint32_t left = net->router->distance(net, from, to), n = 0;

    if (left == 1) {
        ports[0] = net->router->next_port(net, from, to, 0);
        return 1;
    }
    for (uint32_t port = 0; port < net->degree; port++) {
        if (wf_topo_routers_leads_nearer(net, from, port, to, left)) {
            ports[n++] = port;
        }
    }
    return n;
}

uint32_t wf_topo_routers_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                       uint32_t *ports)
{
    const struct wf_topo_routers *net = to_routers(topo);
    uint32_t from = wf_topo_routers_of(net, at), to = wf_topo_routers_of(net, dst);

    if (at == dst) {
        return 0;
    }
    if (at < topo->n_nodes || from == to) {
        ports[0] = wf_topo_routers_next_port(topo, at, dst);
        return 1;
    }
    uint32_t n = net->router->minimal_ports != NULL
                     ? net->router->minimal_ports(net, from, to, ports)
                     : try_ports(net, from, to, ports);
    for (uint32_t i = 0; i < n; i++) {
        ports[i] += net->nodes;
    }
    return n;
}

uint32_t wf_topo_routers_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct wf_topo_routers *net = to_routers(topo);

    return vertex < topo->n_nodes || port < net->nodes
               ? WF_TOPO_CLASS_TERMINAL
               : net->router->link_class(net, vertex - topo->n_nodes, port - net->nodes);
}

uint32_t wf_topo_routers_diameter(const struct wf_topo *topo)
{
    return topo->n_nodes == 1 ? 0 : to_routers(topo)->diameter + 2;
}

void wf_topo_routers_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    const struct wf_topo_routers *net = to_routers(topo);
    uint64_t pairs[WF_TOPO_ROUTERS_DIAMETER_MAX + 1] = {0}, nodes = net->nodes;
    uint32_t diameter = wf_topo_routers_diameter(topo);

    memset(counts, 0, ((size_t)diameter + 1) * sizeof(*counts));
    counts[0] = topo->n_nodes;
    if (diameter > 0) {
        counts[2] = topo->n_nodes * (nodes - 1);
        net->router->histogram(net, pairs);
    }
    for (uint32_t d = 1; d <= net->diameter; d++) {
        counts[d + 2] = pairs[d] * nodes * nodes;
    }
}

uint32_t wf_topo_routers_coords(const struct wf_topo *topo, uint32_t vertex,
                                uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct wf_topo_routers *net = to_routers(topo);
    uint32_t router = wf_topo_routers_of(net, vertex);

    coord[0] = router / net->group;
    coord[1] = router % net->group;
    return 2;
}
