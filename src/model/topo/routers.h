/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Networks of routers that all have the same number of nodes: the code that dragonfly,
 * hyperx and slimfly share. Such a network defines how routers are joined; this code adds
 * nodes, vertex numbers and ports.
 *
 * Nodes are numbered router by router, the routers follow as vertices. The ports of a router
 * are those of its nodes first, then those to other routers.
 */

#include "model/topo/topo.h"

enum { WF_TOPO_ROUTERS_DIAMETER_MAX = WF_TOPO_COORDS_MAX };

struct wf_topo_routers;

/* Routers and their ports to other routers are both numbered from 0. */
struct wf_topo_routers_ops {
    /* The router at the far end; WF_TOPO_NO_VERTEX without a cable. */
    uint32_t (*neighbor)(const struct wf_topo_routers *net, uint32_t router, uint32_t port);
    /* Hops between routers; 0 from one to itself. */
    uint32_t (*distance)(const struct wf_topo_routers *net, uint32_t from, uint32_t to);
    /* As in struct wf_topo_ops, for from != to. `spread` may choose among equally good
     * ports; it is the same number at all hops of a route to a node. */
    uint32_t (*next_port)(const struct wf_topo_routers *net, uint32_t from, uint32_t to,
                          uint32_t spread);
    /* May be null: all ports are tried. */
    uint32_t (*minimal_ports)(const struct wf_topo_routers *net, uint32_t from, uint32_t to,
                              uint32_t *ports);
    /* The class of a link between routers; it is not WF_TOPO_CLASS_TERMINAL, which is that of
     * the links of nodes. */
    uint32_t (*link_class)(const struct wf_topo_routers *net, uint32_t router, uint32_t port);
    /* Adds to pairs[d], 1 <= d <= net->diameter, the ordered pairs of routers at distance d. */
    void (*histogram)(const struct wf_topo_routers *net, uint64_t *pairs);
};

/* The common head of these networks. */
struct wf_topo_routers {
    struct wf_topo topo;
    const struct wf_topo_routers_ops *router;
    uint32_t n_routers;
    uint32_t nodes;    /* nodes of each router */
    uint32_t degree;   /* ports of each router to other routers */
    uint32_t diameter; /* largest distance between routers; the network sets it */
    uint32_t group;    /* routers of a group, if there are groups; the network sets it */
};

/* The input of wf_topo_routers_init(). The numbers may be too large: the function checks
 * them. */
struct wf_topo_routers_size {
    uint64_t n_routers, nodes, degree;
};

/* Sets the common head except bisection and diameter. n_links gets the links of nodes only. The
 * classes of links are terminal, local and global.
 * Fails with WF_EINVAL if the number of nodes or routers is 0 or there are too many links. */
enum wf_status wf_topo_routers_init(struct wf_topo_routers *net, const struct wf_topo_ops *ops,
                                    const struct wf_topo_routers_ops *router,
                                    struct wf_topo_routers_size size, struct wf_err *err);

/* The router that a vertex is or is attached to. */
static inline uint32_t wf_topo_routers_of(const struct wf_topo_routers *net, uint32_t vertex)
{
    return vertex < net->topo.n_nodes ? vertex / net->nodes : vertex - net->topo.n_nodes;
}

/* Whether a port of the router `from` leads to a router at `left` - 1 hops from `to`. */
bool wf_topo_routers_leads_nearer(const struct wf_topo_routers *net, uint32_t from,
                                  uint32_t port, uint32_t to, uint32_t left);

/* coords() of networks with groups: the group, then the place in the group. */
uint32_t wf_topo_routers_coords(const struct wf_topo *topo, uint32_t vertex,
                                uint32_t coord[WF_TOPO_COORDS_MAX]);

/* The members of struct wf_topo_ops. */
uint32_t wf_topo_routers_first_link(const struct wf_topo *topo, uint32_t vertex);
uint32_t wf_topo_routers_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port);
uint32_t wf_topo_routers_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst);
uint32_t wf_topo_routers_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst);
uint32_t wf_topo_routers_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                       uint32_t *ports);
uint32_t wf_topo_routers_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port);
uint32_t wf_topo_routers_diameter(const struct wf_topo *topo);
void wf_topo_routers_histogram(const struct wf_topo *topo, uint64_t *counts);

/* All of them, for an initializer. */
#define WF_TOPO_ROUTERS_OPS                                                               \
    .first_link = wf_topo_routers_first_link, .neighbor = wf_topo_routers_neighbor,       \
    .distance = wf_topo_routers_distance, .next_port = wf_topo_routers_next_port,         \
    .minimal_ports = wf_topo_routers_minimal_ports, .diameter = wf_topo_routers_diameter, \
    .histogram = wf_topo_routers_histogram, .link_class = wf_topo_routers_link_class
