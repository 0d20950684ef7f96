/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/nested.h"

#include "base/mem.h"
#include "model/topo/classes.h"
#include "model/topo/damaged.h"
#include "model/topo/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_topo_ops nested_ops;

/*
 * Vertices: the nodes copy by copy, then the inner switches copy by copy, then the outer
 * switches. The nodes of the outer network are no vertices of their own: the gates stand for
 * them.
 */
struct nested {
    struct wf_topo topo;
    struct wf_topo *outer;
    struct wf_topo *inner;
    uint32_t inner_switches; /* in one copy */
    uint32_t inner_links;    /* numbers of directed links in one copy */
    uint32_t node_links;     /* how many of them leave nodes. Stored, since computing both at
                                each level would double the work with each level */
    char **classes; /* names: those of the outer network, then those of the inner one */
};

static const struct nested *to_nested(const struct wf_topo *topo)
{
    return (const struct nested *)topo;
}

static bool is_nested(const struct wf_topo *topo)
{
    return topo->ops == &nested_ops;
}

/* Where a vertex is: in a copy of the inner network, or a switch of the outer network. */
struct place {
    uint32_t copy;  /* WF_TOPO_NO_VERTEX: in no copy */
    uint32_t inner; /* vertex of the inner network */
    uint32_t outer; /* vertex of the outer network: the copy's node or the switch */
};

static struct place place_of(const struct nested *nested, uint32_t vertex)
{
    uint32_t each = nested->inner->n_nodes, copies = nested->outer->n_nodes;
    uint32_t nodes = nested->topo.n_nodes;

    if (vertex < nodes) {
        return (struct place){vertex / each, vertex % each, vertex / each};
    }
    vertex -= nodes;
    if (vertex < copies * nested->inner_switches) {
        uint32_t copy = vertex / nested->inner_switches;
        return (struct place){copy, each + vertex % nested->inner_switches, copy};
    }
    vertex -= copies * nested->inner_switches;
    return (struct place){WF_TOPO_NO_VERTEX, WF_TOPO_NO_VERTEX, copies + vertex};
}

static uint32_t vertex_in_copy(const struct nested *nested, uint32_t copy, uint32_t inner)
{
    uint32_t each = nested->inner->n_nodes;

    return inner < each ? copy * each + inner
                        : nested->topo.n_nodes + copy * nested->inner_switches + (inner - each);
}

static uint32_t vertex_of_outer(const struct nested *nested, uint32_t outer)
{
    uint32_t copies = nested->outer->n_nodes;

    return outer < copies
               ? vertex_in_copy(nested, outer, nested->inner->gate)
               : nested->topo.n_nodes + copies * nested->inner_switches + (outer - copies);
}

static void nested_destroy(struct wf_topo *topo)
{
    struct nested *nested = (struct nested *)topo;

    for (uint32_t i = 0; i < nested->topo.n_classes; i++) {
        free(nested->classes[i]);
    }
    free(nested->classes);
    wf_topo_free(nested->outer);
    wf_topo_free(nested->inner);
    free(nested);
}

/* The number of links of the outer network that leave the nodes before the copy; their gates
 * have these links. */
static uint32_t gate_links(const struct nested *nested, uint32_t copies)
{
    return wf_topo_first_link(nested->outer, copies);
}

static uint32_t nested_first_link(const struct wf_topo *topo, uint32_t vertex)
{
    const struct nested *nested = to_nested(topo);
    const struct wf_topo *inner = nested->inner;
    uint32_t copies = nested->outer->n_nodes, each = inner->n_nodes;
    uint32_t node_links = nested->node_links;
    bool node_is_gate = inner->gate < each;

    if (vertex == topo->n_vertices) {
        return copies * nested->inner_links +
               wf_topo_first_link(nested->outer, nested->outer->n_vertices);
    }
    if (vertex < topo->n_nodes) {
        uint32_t copy = vertex / each, in = vertex % each;
        uint32_t gates = copy + (in > inner->gate ? 1 : 0);
        return copy * node_links + wf_topo_first_link(inner, in) +
               (node_is_gate ? gate_links(nested, gates) : 0);
    }

    struct place place = place_of(nested, vertex);
    if (place.copy == WF_TOPO_NO_VERTEX) {
        return copies * nested->inner_links + wf_topo_first_link(nested->outer, place.outer);
    }
    uint32_t gates = node_is_gate ? copies : place.copy + (place.inner > inner->gate ? 1 : 0);
    return copies * node_links + place.copy * (nested->inner_links - node_links) +
           (wf_topo_first_link(inner, place.inner) - node_links) + gate_links(nested, gates);
}

/* The number of ports of a vertex that belong to the inner network; they come first. */
static uint32_t ports_inside(const struct nested *nested, struct place place)
{
    return place.copy != WF_TOPO_NO_VERTEX ? wf_topo_ports(nested->inner, place.inner) : 0;
}

static uint32_t nested_neighbor(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct nested *nested = to_nested(topo);
    struct place place = place_of(nested, vertex);
    uint32_t inner_ports = ports_inside(nested, place);

    if (port < inner_ports) {
        uint32_t to = nested->inner->ops->neighbor(nested->inner, place.inner, port);
        return to != WF_TOPO_NO_VERTEX ? vertex_in_copy(nested, place.copy, to) : to;
    }
    uint32_t to = nested->outer->ops->neighbor(nested->outer, place.outer, port - inner_ports);
    return to != WF_TOPO_NO_VERTEX ? vertex_of_outer(nested, to) : to;
}

static uint32_t to_gate(const struct wf_topo *inner, uint32_t at)
{
    return inner->ops->distance(inner, at, inner->gate);
}

static uint32_t nested_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    const struct nested *nested = to_nested(topo);
    const struct wf_topo *outer = nested->outer, *inner = nested->inner;
    struct place a = place_of(nested, at), b = place_of(nested, dst);
    uint32_t hops = 0;

    if (a.copy == b.copy && a.copy != WF_TOPO_NO_VERTEX) {
        return inner->ops->distance(inner, a.inner, b.inner);
    }
    if (a.copy != WF_TOPO_NO_VERTEX) {
        hops += to_gate(inner, a.inner);
    }
    if (b.copy != WF_TOPO_NO_VERTEX) {
        hops += inner->ops->distance(inner, inner->gate, b.inner);
    }
    return hops + outer->ops->distance(outer, a.outer, b.outer);
}

/* The next part of a route. Its level is 0 in the outer network and 1 in the inner one. */
static struct wf_topo_part next_part(const struct nested *nested, uint32_t at, uint32_t dst)
{
    const struct wf_topo *inner = nested->inner;
    struct place a = place_of(nested, at), b = place_of(nested, dst);

    if (a.copy == b.copy && a.copy != WF_TOPO_NO_VERTEX) {
        return (struct wf_topo_part){inner, 1, a.inner, b.inner, 0};
    }
    if (a.copy != WF_TOPO_NO_VERTEX && a.inner != inner->gate) {
        return (struct wf_topo_part){inner, 1, a.inner, inner->gate, 0};
    }
    return (struct wf_topo_part){nested->outer, 0, a.outer, b.outer, ports_inside(nested, a)};
}

static uint32_t nested_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    struct wf_topo_part part = next_part(to_nested(topo), at, dst);
    uint32_t port = part.topo->ops->next_port(part.topo, part.at, part.dst);

    return port == WF_TOPO_NO_PORT ? port : part.first_port + port;
}

static uint32_t nested_minimal_ports(const struct wf_topo *topo, uint32_t at, uint32_t dst,
                                     uint32_t *ports)
{
    struct wf_topo_part part = next_part(to_nested(topo), at, dst);
    uint32_t n = wf_topo_minimal_ports(part.topo, part.at, part.dst, ports);

    for (uint32_t i = 0; i < n; i++) {
        ports[i] += part.first_port;
    }
    return n;
}

/* Counts the nodes of a network by their distance to (`in` false) or from its gate; *n
 * entries. */
static uint64_t *count_to_gate(const struct wf_topo *topo, bool in, uint32_t *n)
{
    uint64_t *counts = NULL;

    *n = 0;
    if (is_nested(topo)) { /* routes pass the gates of both networks */
        uint32_t n_outer, n_inner;
        uint64_t *outer = count_to_gate(to_nested(topo)->outer, in, &n_outer);
        uint64_t *inner = count_to_gate(to_nested(topo)->inner, in, &n_inner);

        *n = n_outer + n_inner - 1;
        counts = wf_xcalloc(*n, sizeof(*counts));
        wf_topo_measure_product(outer, n_outer, inner, n_inner, counts);
        free(outer);
        free(inner);
        return counts;
    }
    for (uint32_t node = 0; node < topo->n_nodes; node++) {
        uint32_t hops = in ? topo->ops->distance(topo, topo->gate, node) : to_gate(topo, node);
        if (hops >= *n) {
            counts = wf_xrealloc(counts, (size_t)hops + 1, sizeof(*counts));
            memset(counts + *n, 0, (hops + 1 - *n) * sizeof(*counts));
            *n = hops + 1;
        }
        counts[hops]++;
    }
    return counts;
}

static uint32_t nested_diameter(const struct wf_topo *topo)
{
    const struct nested *nested = to_nested(topo);
    uint32_t within = nested->inner->ops->diameter(nested->inner);
    uint32_t n_out, n_in;

    if (nested->outer->n_nodes == 1) {
        return within;
    }
    free(count_to_gate(nested->inner, false, &n_out));
    free(count_to_gate(nested->inner, true, &n_in));
    uint32_t between = nested->outer->ops->diameter(nested->outer) + (n_out - 1) + (n_in - 1);
    return between > within ? between : within;
}

/* Pairs within a copy, then pairs of different copies: out, across, in. */
static void nested_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    const struct nested *nested = to_nested(topo);
    const struct wf_topo *outer = nested->outer, *inner = nested->inner;
    uint32_t n_within = inner->ops->diameter(inner) + 1, n_out, n_in;
    uint32_t n_across = outer->ops->diameter(outer) + 1;
    uint64_t *within = wf_xcalloc(n_within, sizeof(*within));
    uint64_t *across = wf_xcalloc(n_across, sizeof(*across));
    uint64_t *out = count_to_gate(inner, false, &n_out),
             *in = count_to_gate(inner, true, &n_in);
    uint64_t *ends = wf_xcalloc((size_t)n_out + n_in, sizeof(*ends));
    uint32_t n_ends = n_out + n_in - 1, n_all = n_ends + n_across - 1;
    uint64_t *all = wf_xcalloc((size_t)n_all + 1, sizeof(*all));
    uint32_t diameter = nested_diameter(topo);

    inner->ops->histogram(inner, within);
    outer->ops->histogram(outer, across);
    across[0] = 0; /* leave out pairs of a copy with itself */
    wf_topo_measure_product(out, n_out, in, n_in, ends);
    wf_topo_measure_product(ends, n_ends, across, n_across, all);
    for (uint32_t d = 0; d <= diameter; d++) {
        counts[d] = (d < n_within ? within[d] * outer->n_nodes : 0) + (d < n_all ? all[d] : 0);
    }
    free(within);
    free(across);
    free(out);
    free(in);
    free(ends);
    free(all);
}

/* A hierarchy is drawn as its outer network, a copy at each node. */
static uint32_t nested_coords(const struct wf_topo *topo, uint32_t vertex,
                              uint32_t coord[WF_TOPO_COORDS_MAX])
{
    const struct nested *nested = to_nested(topo);
    struct place place = place_of(nested, vertex);

    coord[0] = place.copy != WF_TOPO_NO_VERTEX ? place.copy : place.outer;
    coord[1] = place.copy != WF_TOPO_NO_VERTEX ? place.inner : 0;
    return 2;
}

static struct wf_topo_link_props props_of(const struct wf_topo *topo, uint32_t vertex,
                                          uint32_t port)
{
    return topo->ops->link_props != NULL ? topo->ops->link_props(topo, vertex, port)
                                         : (struct wf_topo_link_props){0, 0};
}

static struct wf_topo_link_props nested_link_props(const struct wf_topo *topo, uint32_t vertex,
                                                   uint32_t port)
{
    const struct nested *nested = to_nested(topo);
    struct place place = place_of(nested, vertex);
    uint32_t inner_ports = ports_inside(nested, place);

    return port < inner_ports ? props_of(nested->inner, place.inner, port)
                              : props_of(nested->outer, place.outer, port - inner_ports);
}

static uint32_t nested_link_class(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    const struct nested *nested = to_nested(topo);
    struct place place = place_of(nested, vertex);
    uint32_t inner_ports = ports_inside(nested, place);

    return port < inner_ports
               ? wf_topo_n_classes(nested->outer) +
                     wf_topo_link_class(nested->inner, place.inner, port)
               : wf_topo_link_class(nested->outer, place.outer, port - inner_ports);
}

static const struct wf_topo_ops nested_ops = {
    .name = "nested",
    .summary = "a network in each node of another",
    .shape = WF_TOPO_SHAPE_GROUPS,
    .destroy = nested_destroy,
    .first_link = nested_first_link,
    .neighbor = nested_neighbor,
    .distance = nested_distance,
    .next_port = nested_next_port,
    .minimal_ports = nested_minimal_ports,
    .diameter = nested_diameter,
    .histogram = nested_histogram,
    .coords = nested_coords,
    .link_props = nested_link_props,
    .link_class = nested_link_class,
};

static uint64_t count_links(const struct wf_topo *topo)
{
    return wf_topo_first_link(topo, topo->n_vertices);
}

static uint32_t most_ports(const struct wf_topo *topo, uint32_t from, uint32_t to)
{
    uint32_t most = 0;

    for (uint32_t v = from; v < to; v++) {
        uint32_t n = wf_topo_ports(topo, v);
        most = n > most ? n : most;
    }
    return most;
}

/* A gate has its own ports and those of a node of the outer network. */
static uint32_t count_ports(const struct wf_topo *outer, const struct wf_topo *inner)
{
    uint32_t gates = wf_topo_ports(inner, inner->gate) + most_ports(outer, 0, outer->n_nodes);
    uint32_t switches = most_ports(outer, outer->n_nodes, outer->n_vertices);
    uint32_t most = gates > switches ? gates : switches;

    return inner->n_ports > most ? inner->n_ports : most;
}

/* The number of cables of a part, counted as in the whole network, where some links may be
 * one-way (`oneway`). */
static uint64_t cables(const struct wf_topo *topo, bool oneway)
{
    return oneway && !topo->oneway ? 2 * topo->n_links : topo->n_links;
}

/* If whole copies are on either side, the cut is that of the outer network. A cut through
 * copies costs at least a link each, and may be cheaper where the outer network is dense. */
static uint64_t bisection(const struct wf_topo *outer)
{
    uint64_t half = outer->n_nodes / 2;

    return outer->n_nodes % 2 == 0 && outer->bisection <= half ? outer->bisection : 0;
}

/* The name of a class of the inner network: "1.x" for "x", "3.x" for "2.x". */
static char *class_inside(const struct wf_topo *inner, uint32_t number)
{
    const char *name = wf_topo_class_name(inner, number);
    char text[WF_TOPO_CLASS_NAME_MAX + 16];
    char *rest = NULL;
    unsigned long level = is_nested(inner) ? strtoul(name, &rest, 10) : 0;

    (void)snprintf(text, sizeof(text), "%lu.%s", level + 1, rest != NULL ? rest + 1 : name);
    return wf_xstrdup(text);
}

static void name_classes(struct nested *nested)
{
    uint32_t n_outer = wf_topo_n_classes(nested->outer);
    uint32_t n_inner = wf_topo_n_classes(nested->inner);
    char text[WF_TOPO_CLASS_NAME_MAX + 16];

    nested->classes = wf_xcalloc((size_t)n_outer + n_inner, sizeof(char *));
    for (uint32_t i = 0; i < n_outer; i++) {
        (void)snprintf(text, sizeof(text), "0.%s", wf_topo_class_name(nested->outer, i));
        nested->classes[i] = wf_xstrdup(text);
    }
    for (uint32_t i = 0; i < n_inner; i++) {
        nested->classes[n_outer + i] = class_inside(nested->inner, i);
    }
    nested->topo.classes = (const char *const *)nested->classes;
    nested->topo.n_classes = n_outer + n_inner;
}

enum wf_status wf_topo_nested_create(struct wf_topo *outer, struct wf_topo *inner,
                                     struct wf_topo **out, struct wf_err *err)
{
    uint64_t copies = outer->n_nodes;
    uint64_t vertices = copies * inner->n_vertices + (outer->n_vertices - copies);
    uint64_t links = copies * count_links(inner) + count_links(outer);

    if (vertices > WF_TOPO_LINK_MAX || links > WF_TOPO_LINK_MAX) {
        wf_topo_free(outer);
        wf_topo_free(inner);
        return wf_err_set(err, WF_EINVAL, "nested networks with more than %u links",
                          (unsigned)WF_TOPO_LINK_MAX);
    }

    bool oneway = outer->oneway || inner->oneway;
    struct nested *nested = wf_xcalloc(1, sizeof(*nested));

    nested->outer = outer;
    nested->inner = inner;
    nested->inner_switches = inner->n_vertices - inner->n_nodes;
    nested->inner_links = (uint32_t)count_links(inner);
    nested->node_links = wf_topo_first_link(inner, inner->n_nodes);
    nested->topo = (struct wf_topo){
        .ops = &nested_ops,
        .n_nodes = (uint32_t)(copies * inner->n_nodes),
        .n_vertices = (uint32_t)vertices,
        .n_ports = count_ports(outer, inner),
        .n_links = copies * cables(inner, oneway) + cables(outer, oneway),
        .bisection = bisection(outer),
        .oneway = oneway,
    };
    /* Messages leave the whole network through the copy at the gate of the outer one. */
    nested->topo.gate = vertex_of_outer(nested, outer->gate);
    name_classes(nested);
    *out = &nested->topo;
    return WF_OK;
}

uint32_t wf_topo_n_levels(const struct wf_topo *topo)
{
    return is_nested(topo) ? 1 + wf_topo_n_levels(to_nested(topo)->inner) : 1;
}

uint32_t wf_topo_port_level(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    vertex = wf_topo_damaged_vertex(topo, vertex); /* port numbers do not change */
    topo = wf_topo_damaged_whole(topo);
    if (!is_nested(topo)) {
        return 0;
    }

    const struct nested *nested = to_nested(topo);
    struct place place = place_of(nested, vertex);
    uint32_t inner_ports = ports_inside(nested, place);

    return port < inner_ports ? 1 + wf_topo_port_level(nested->inner, place.inner, port) : 0;
}

uint32_t wf_topo_first_class(const struct wf_topo *topo, uint32_t level)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < level; i++) {
        first += wf_topo_n_classes(wf_topo_level(topo, i));
    }
    return first;
}

const struct wf_topo *wf_topo_level(const struct wf_topo *topo, uint32_t level)
{
    for (; is_nested(topo); level--) {
        if (level == 0) {
            return to_nested(topo)->outer;
        }
        topo = to_nested(topo)->inner;
    }
    return topo;
}

static uint32_t add_leg(struct wf_topo_leg *legs, uint32_t n, struct wf_topo_leg leg)
{
    if (leg.from != leg.to) {
        legs[n++] = leg;
    }
    return n;
}

/* Adds the legs of a route in `route.topo`, which is the network of `route.level` with all
 * that is nested in it. */
static uint32_t add_legs(struct wf_topo_leg *legs, uint32_t n, struct wf_topo_leg route)
{
    if (!is_nested(route.topo)) {
        return add_leg(legs, n, route);
    }

    const struct nested *nested = to_nested(route.topo);
    const struct wf_topo *inner = nested->inner;
    struct place a = place_of(nested, route.from), b = place_of(nested, route.to);
    uint32_t below = route.level + 1;

    if (a.copy == b.copy && a.copy != WF_TOPO_NO_VERTEX) {
        return add_legs(legs, n, (struct wf_topo_leg){inner, below, a.inner, b.inner});
    }
    if (a.copy != WF_TOPO_NO_VERTEX) {
        n = add_legs(legs, n, (struct wf_topo_leg){inner, below, a.inner, inner->gate});
    }
    n = add_leg(legs, n, (struct wf_topo_leg){nested->outer, route.level, a.outer, b.outer});
    if (b.copy != WF_TOPO_NO_VERTEX) {
        n = add_legs(legs, n, (struct wf_topo_leg){inner, below, inner->gate, b.inner});
    }
    return n;
}

uint32_t wf_topo_legs(const struct wf_topo *topo, uint32_t src, uint32_t dst,
                      struct wf_topo_leg *legs)
{
    return add_legs(legs, 0, (struct wf_topo_leg){topo, 0, src, dst});
}

struct wf_topo_part wf_topo_next_part(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    struct wf_topo_part part = {topo, 0, at, dst, 0};

    while (is_nested(part.topo)) {
        uint32_t level = part.level;
        part = next_part(to_nested(part.topo), part.at, part.dst);
        part.level += level;
    }
    return part;
}

uint32_t wf_topo_turn_level(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    uint32_t level = 0;

    for (; is_nested(topo); level++) {
        const struct nested *nested = to_nested(topo);
        struct place a = place_of(nested, at), b = place_of(nested, dst);

        if (a.copy != b.copy || a.copy == WF_TOPO_NO_VERTEX) {
            break;
        }
        topo = nested->inner;
        at = a.inner;
        dst = b.inner;
    }
    return level;
}
