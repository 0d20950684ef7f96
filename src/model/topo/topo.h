/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The interface of topologies.
 *
 * A topology is a graph of vertices joined by links through numbered ports. Vertices 0 to
 * n_nodes - 1 are the compute nodes. In a direct network (ring, torus) every vertex is both
 * a node and its router. In an indirect network (star, fat tree, dragonfly) the vertices
 * from n_nodes on are the switches, and the links between nodes and switches count as hops.
 *
 * A topology computes its answers from these numbers and never changes after creation. Every
 * call below except creation is safe from any thread and always gives the same answer.
 *
 * To add a topology: one .c file with a const struct wf_topo_ops, one line in
 * model/topo/topologies.def. The conformance test then covers it, with the instances named in its
 * `examples`.
 */

#include "base/param.h"
#include "base/registry.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_TOPO_LINK_MAX  UINT32_C(0xfffffffe)
#define WF_TOPO_NO_PORT   UINT32_C(0xffffffff)
#define WF_TOPO_NO_VERTEX UINT32_C(0xffffffff)
/* A distance in a network that is not connected. Only wf_topo_damaged_create_all() makes such a
 * network. */
#define WF_TOPO_UNREACHED UINT32_C(0xffffffff)
enum { WF_TOPO_COORDS_MAX = 8 };

/* How a topology is drawn, and therefore what coords() means. Nodes of indirect networks have
 * the coordinates of their switch, except in levels. */
enum wf_topo_shape {
    WF_TOPO_SHAPE_GRID,   /* one coordinate per dimension, the first varying fastest */
    WF_TOPO_SHAPE_LEVELS, /* level (0 at the bottom), then place in the level */
    WF_TOPO_SHAPE_GROUPS, /* group, then place in the group */
    WF_TOPO_SHAPE_CIRCLE, /* place on the circle; a hub is at the place WF_TOPO_NO_VERTEX */
};

/* How shortest routes depend on each other. From this net/vc derives the virtual channels that
 * keep routing free of deadlock (src/model/net/vc/kind.c). */
enum wf_topo_vc_class {
    WF_TOPO_VC_ANY,          /* nothing is known: all routes are examined */
    WF_TOPO_VC_LOWEST_PORT,  /* next_port() is the lowest of the minimal ports */
    WF_TOPO_VC_ONE_HOP,      /* every two nodes are neighbours */
    WF_TOPO_VC_TREE,         /* routes lead up, then down; there is one route for each pair */
    WF_TOPO_VC_FAT_TREE,     /* routes lead up, then down */
    WF_TOPO_VC_TREES,        /* between routers routes lead up, across, then down */
    WF_TOPO_VC_GRID,         /* a struct wf_topo_grid */
    WF_TOPO_VC_TWISTED_GRID, /* a grid whose rings are shifted where they close */
    WF_TOPO_VC_ROUTERS,      /* a struct wf_topo_routers */
    WF_TOPO_VC_DRAGONFLY,    /* a struct wf_topo_routers in groups; coordinate 0 is the group */
    WF_TOPO_VC_HYPERX,       /* a struct wf_topo_routers in dimensions, one hop in each */
    WF_TOPO_VC_CLASSES
};

struct wf_topo;

/* Properties of one link; 0 stands for the value of the network model. */
struct wf_topo_link_props {
    int64_t latency;    /* picoseconds */
    uint64_t bandwidth; /* as WF_PARAM_RATE */
};

/* Members marked `may be null` have a default; all others are required. Topologies that no spec names
 * (nested and damaged ones) have no args, examples, params and create. */
struct wf_topo_ops {
    const char *name;           /* as written in a spec: "torus" in "torus:8x8x8" */
    const char *args, *summary; /* the spec's syntax and one line, for --help */
    enum wf_topo_shape shape;
    enum wf_topo_vc_class vc_class;
    const char *usual_routing;   /* routing policy that such machines use; null: minimal */
    bool one_path;               /* there is one shortest path between any two vertices */
    const char *const *examples; /* specs of small instances that together show every case,
                                    null-terminated; empty if files are needed */

    /* A spec may give row 0 without its name ("8x8x8" for "size=8x8x8"). */
    const struct wf_param *params;
    size_t params_size;

    /* Builds a topology. `params` is borrowed. Numbers that make no sense or a network of more
     * than WF_TOPO_LINK_MAX directed links are WF_EINVAL. On success the caller owns *out and
     * releases it with wf_topo_free(); on failure *out is left alone. wf_topo_keep() helps. */
    enum wf_status (*create)(const void *params, struct wf_topo **out, struct wf_err *err);
    void (*destroy)(struct wf_topo *topo); /* may be null: free() */
    /* Makes tables for the three functions below that take long, which the first call of one of
     * them would make otherwise. May be null: there are none. */
    void (*prepare)(const struct wf_topo *topo);

    /* The number of the first directed link that leaves `vertex`, 0 <= vertex <= n_vertices.
     * Links are numbered by vertex, then by port. May be null: vertex * n_ports. */
    uint32_t (*first_link)(const struct wf_topo *topo, uint32_t vertex);
    /* The vertex at the far end of the cable in `port` of `vertex`; WF_TOPO_NO_VERTEX if there
     * is no cable. No two ports of a vertex lead to the same vertex, none to itself. */
    uint32_t (*neighbor)(const struct wf_topo *topo, uint32_t vertex, uint32_t port);

    /* In the next three, `at` is any vertex, and `dst` a node or the gate. */

    /* The number of hops of a shortest path. */
    uint32_t (*distance)(const struct wf_topo *topo, uint32_t at, uint32_t dst);
    /* The port by which the one deterministic shortest route leaves; WF_TOPO_NO_PORT if at ==
     * dst. Dimension order where that exists. */
    uint32_t (*next_port)(const struct wf_topo *topo, uint32_t at, uint32_t dst);
    /* Sets `ports`, which has n_ports entries, to all ports with which a shortest path
     * begins, in ascending order, and returns their number. May be null: next_port() if
     * there is one path, else all ports are tried. */
    uint32_t (*minimal_ports)(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                              uint32_t *ports);

    /* The largest distance between nodes. */
    uint32_t (*diameter)(const struct wf_topo *topo);
    /* Sets counts[d], 0 <= d <= diameter, to the number of ordered pairs of nodes at
     * distance d; a node and itself are a pair at 0. It should not visit all pairs where the
     * structure allows that; model/topo/measure.h helps. */
    void (*histogram)(const struct wf_topo *topo, uint64_t *counts);
    /* Optional: both at once, if each takes a visit of all pairs. Returns the counts, which the
     * caller frees, and sets *n to their number, the diameter + 1. Where that would take too
     * long, it may count the pairs from some nodes only, as many as counts[0] says. */
    uint64_t *(*pairs)(const struct wf_topo *topo, uint32_t *n);

    /* Sets the coordinates of `vertex`, whose meaning depends on the shape, and returns
     * their number. */
    uint32_t (*coords)(const struct wf_topo *topo, uint32_t vertex,
                       uint32_t coord[WF_TOPO_COORDS_MAX]);

    /* The properties of a link. May be null: all links are alike. */
    struct wf_topo_link_props (*link_props)(const struct wf_topo *topo, uint32_t vertex,
                                            uint32_t port);

    /* The class of a link, a number below wf_topo_n_classes(). Both directions of a cable have
     * the same class. May be null: there is one class. */
    uint32_t (*link_class)(const struct wf_topo *topo, uint32_t vertex, uint32_t port);
    /* Adds to hops[c] the number of links of class c on the route by next_port(). If the
     * classes are dimensions, the route takes all links of a dimension one after another. May
     * be null: the route has to be followed link by link. */
    void (*class_hops)(const struct wf_topo *topo, uint32_t at, uint32_t dst, uint32_t *hops);
};

/* The common head of every topology; the concrete struct has it as its first member. */
struct wf_topo {
    const struct wf_topo_ops *ops;
    uint32_t n_nodes;
    uint32_t n_vertices; /* n_nodes in a direct network */
    uint32_t n_ports;    /* largest number of ports of a vertex */
    uint32_t gate;       /* the vertex through which messages enter and leave this network if it
                         is nested in another: its hub if it has one, else node 0 */
    uint64_t n_links;    /* cables between vertices. A cable used in both directions counts
                            once, except in networks where some links are one-way */
    uint64_t bisection;  /* fewest cables cut between two halves of the nodes; 0 if unknown */
    bool oneway;         /* links lead only from a vertex to its neighbours */
    /* Classes of links: links that machines build alike, such as all links of a dimension or
     * of a level (model/topo/classes.h). */
    const char *const *classes; /* their names; null: there is one class, "link" */
    uint32_t n_classes;         /* 0 if classes is null */
    char **names; /* of the vertices in the user's file; null: they have numbers */
};

static inline bool wf_topo_is_direct(const struct wf_topo *topo)
{
    return topo->n_vertices == topo->n_nodes;
}

/* All vertices of a direct network, the switches of an indirect one. */
static inline uint32_t wf_topo_n_routers(const struct wf_topo *topo)
{
    return wf_topo_is_direct(topo) ? topo->n_nodes : topo->n_vertices - topo->n_nodes;
}

/* ops->first_link or its default. */
static inline uint32_t wf_topo_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    return topo->ops->first_link != NULL ? topo->ops->first_link(topo, vertex)
                                         : vertex * topo->n_ports;
}

/* The number of ports of a vertex. Some of them may have no cable. */
static inline uint32_t wf_topo_ports(const struct wf_topo *topo, uint32_t vertex)
{
    return wf_topo_first_link(topo, vertex + 1) - wf_topo_first_link(topo, vertex);
}
/* ops->minimal_ports or its default. */
WF_PLUGIN_API uint32_t wf_topo_minimal_ports(const struct wf_topo *topo, uint32_t at,
                                             uint32_t dst, uint32_t *ports);

/* Builds the topology that `spec` describes (model/topo/spec.h). Ownership as in ops->create. */
enum wf_status wf_topo_create(const char *spec, struct wf_topo **out, struct wf_err *err);
void wf_topo_free(struct wf_topo *topo); /* null is allowed */

/* For create(): a copy on the heap of the concrete struct of `size` bytes at `built`. */
WF_PLUGIN_API struct wf_topo *wf_topo_keep(const void *built, size_t size);

#define WF_TOPOLOGY(name) extern const struct wf_topo_ops wf_topo_##name##_ops;
#include "model/topo/topologies.def"

extern struct wf_registry wf_topo_registry; /* for plug-ins */

/* The registered topologies in a fixed order, null-terminated. */
const struct wf_topo_ops *const *wf_topo_table(void);
