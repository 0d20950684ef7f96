/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dragonfly of the Cray XC (Faanes et al., "Cray Cascade: a scalable HPC system based on a
 * Dragonfly network", SC 2012): a group is a grid of routers, each joined to all others of its
 * row (a chassis) and of its column. Groups are joined as in a dragonfly (model/topo/global.h).
 *
 * Two routers of a group are at most two hops apart, and two routers of different groups at
 * most five. All groups are alike, so a table of the distances from the routers of one group
 * is enough; a breadth-first search from each of them makes it.
 */
#include "base/mem.h"
#include "model/topo/classes.h"
#include "model/topo/global.h"
#include "model/topo/routers.h"
#include "model/topo/table.h"
#include "model/topo/topo.h"
#include "model/topo/vector.h"

#include <stdlib.h>
#include <string.h>

enum { FAR = 255 };

struct params {
    uint64_t h, columns, rows, p, g;
    int global;
};

/* All groups are alike in these orders. The numbers are those of enum wf_topo_global_order less
 * one. */
static const char *const orders[] = {"relative", "circulant", NULL};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, h, COUNT, .min = "1",
                 .doc = "Links from each router to other groups"),
    WF_PARAM_ROW(struct params, columns, COUNT, .def = "16", .min = "1",
                 .doc = "Routers in a row of a group: the blades of a chassis"),
    WF_PARAM_ROW(struct params, rows, COUNT, .def = "6", .min = "1",
                 .doc = "Rows of a group: its chassis"),
    WF_PARAM_ROW(struct params, p, COUNT, .def = "4", .min = "1",
                 .doc = "Nodes at each router"),
    WF_PARAM_ROW(struct params, g, COUNT, .def = "0",
                 .doc = "Number of groups, at most columns*rows*h + 1; 0 means that maximum"),
    WF_PARAM_ROW(struct params, global, ENUM, .def = "relative", .choices = orders,
                 .doc = "To which groups the links of a group go in turn: 1, 2, 3, ... further "
                        "on; or +1, -1, +2, -2, ... further on"),
    WF_PARAM_END,
};

static const char *const class_names[] = {"terminal", "row", "column", "global"};
enum { CLASS_TERMINAL, CLASS_ROW, CLASS_COLUMN, CLASS_GLOBAL, N_CLASSES };

struct cascade {
    struct wf_topo_routers net;
    struct wf_topo_global global;
    uint32_t columns, rows;
    /* [routers of a group][n_routers] distance from a router of group 0 */
    uint8_t *hops;
};

static const struct cascade *to_cascade(const struct wf_topo_routers *net)
{
    return (const struct cascade *)net;
}

/* The ports of a router: to the other routers of its row, to those of its column, to other
 * groups; each part in ascending order of what it leads to. */
static uint32_t cascade_neighbor(const struct wf_topo_routers *net, uint32_t router,
                                 uint32_t port)
{
    const struct cascade *cascade = to_cascade(net);
    uint32_t place = router % cascade->global.routers;
    uint32_t column = place % cascade->columns, row = place / cascade->columns;

    if (port < cascade->columns - 1) {
        return router - column + port + (port >= column ? 1 : 0);
    }
    port -= cascade->columns - 1;
    if (port < cascade->rows - 1) {
        uint32_t to = port + (port >= row ? 1 : 0);
        return router - row * cascade->columns + to * cascade->columns;
    }
    return wf_topo_global_far(&cascade->global, router)[port - (cascade->rows - 1)];
}

static uint32_t cascade_link_class(const struct wf_topo_routers *net, uint32_t router,
                                   uint32_t port)
{
    const struct cascade *cascade = to_cascade(net);

    return port < cascade->columns - 1                   ? CLASS_ROW
           : port < cascade->columns + cascade->rows - 2 ? CLASS_COLUMN
                                                         : CLASS_GLOBAL;
}

/* Turns both routers by as many groups as bring the first one into group 0. */
static uint32_t cascade_distance(const struct wf_topo_routers *net, uint32_t from, uint32_t to)
{
    const struct cascade *cascade = to_cascade(net);
    uint32_t place = from % cascade->global.routers, turned = from - place;

    to = to >= turned ? to - turned : to + (net->n_routers - turned);
    return cascade->hops[(size_t)place * net->n_routers + to];
}

/* The first minimal port, counted cyclically from the one that `spread` chooses. */
static uint32_t cascade_next_port(const struct wf_topo_routers *net, uint32_t from, uint32_t to,
                                  uint32_t spread)
{
    uint32_t left = cascade_distance(net, from, to), port = spread % net->degree;

    while (!wf_topo_routers_leads_nearer(net, from, port, to, left)) {
        port = port + 1 < net->degree ? port + 1 : 0;
    }
    return port;
}

static void cascade_histogram(const struct wf_topo_routers *net, uint64_t *pairs)
{
    const struct cascade *cascade = to_cascade(net);
    size_t n = (size_t)cascade->global.routers * net->n_routers;

    for (size_t i = 0; i < n; i++) {
        if (cascade->hops[i] > 0) {
            pairs[cascade->hops[i]] += cascade->global.groups;
        }
    }
}

static const struct wf_topo_routers_ops router_ops = {
    .neighbor = cascade_neighbor,
    .distance = cascade_distance,
    .next_port = cascade_next_port,
    .link_class = cascade_link_class,
    .histogram = cascade_histogram,
};

/* Fills in the distances from one router; returns the largest. */
static uint32_t search(const struct cascade *cascade, uint32_t from, uint32_t *queue)
{
    const struct wf_topo_routers *net = &cascade->net;
    uint8_t *hops = cascade->hops + (size_t)from * net->n_routers;
    uint32_t n = 1;

    memset(hops, FAR, net->n_routers);
    queue[0] = from;
    hops[from] = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t port = 0; port < net->degree; port++) {
            uint32_t via = cascade_neighbor(net, queue[i], port);
            if (via != WF_TOPO_NO_VERTEX && hops[via] == FAR) {
                hops[via] = (uint8_t)(hops[queue[i]] + 1);
                queue[n++] = via;
            }
        }
    }
    return hops[queue[n - 1]];
}

static void make_table(struct cascade *cascade)
{
    uint32_t *queue = wf_xcalloc(cascade->net.n_routers, sizeof(*queue));

    cascade->hops = wf_xmalloc((size_t)cascade->global.routers * cascade->net.n_routers);
    for (uint32_t from = 0; from < cascade->global.routers; from++) {
        uint32_t farthest = search(cascade, from, queue);
        cascade->net.diameter =
            farthest > cascade->net.diameter ? farthest : cascade->net.diameter;
    }
    free(queue);
}

static enum wf_status cascade_create(const void *params, struct wf_topo **out,
                                     struct wf_err *err)
{
    const struct params *given = params;
    uint64_t a = 1;
    struct cascade cascade = {.columns = (uint32_t)given->columns,
                              .rows = (uint32_t)given->rows};

    WF_TRY(wf_topo_vector_multiply("cascade: columns", &a, given->columns, WF_TOPO_TABLE_MAX,
                                   err));
    WF_TRY(wf_topo_vector_multiply("cascade: rows", &a, given->rows, WF_TOPO_TABLE_MAX, err));
    struct wf_topo_global_size size = {given->g, a, given->h};
    WF_TRY(wf_topo_global_plan(&cascade.global, wf_topo_cascade_ops.name, size,
                               (enum wf_topo_global_order)(given->global + 1), err));
    uint64_t routers = cascade.global.groups * a, table = routers;
    uint64_t degree = given->columns + given->rows - 2 + given->h;
    WF_TRY(wf_topo_vector_multiply("cascade: table of distances", &table, a, WF_TOPO_TABLE_MAX,
                                   err));
    WF_TRY(wf_topo_routers_init(&cascade.net, &wf_topo_cascade_ops, &router_ops,
                                (struct wf_topo_routers_size){routers, given->p, degree}, err));
    wf_topo_global_join(&cascade.global);
    cascade.net.topo.n_links +=
        routers * (given->columns + given->rows - 2) / 2 + cascade.global.n_links;
    cascade.net.topo.classes = class_names;
    cascade.net.topo.n_classes = N_CLASSES;
    cascade.net.group = cascade.global.routers;
    make_table(&cascade);
    *out = wf_topo_keep(&cascade, sizeof(cascade));
    return WF_OK;
}

static void cascade_destroy(struct wf_topo *topo)
{
    struct cascade *cascade = (struct cascade *)topo;

    wf_topo_global_release(&cascade->global);
    free(cascade->hops);
    free(cascade);
}

static const char *const examples[] = {
    "cascade:1,columns=3,rows=2,p=2",
    "cascade:2,columns=2,rows=2,p=1",
    "cascade:1,columns=4,rows=3,p=1,g=5",
    "cascade:2,columns=4,rows=2,p=1,g=4",
    "cascade:3,columns=3,rows=3,p=2,g=8,global=circulant",
    "cascade:3,columns=3,rows=1,p=1,g=7",
    "cascade:2,columns=1,rows=4,p=1,g=3,global=circulant",
    "cascade:2,columns=3,rows=3,p=1,g=1",
    "cascade:1,columns=1,rows=1,p=1,g=1",
    "cascade:5,columns=1,rows=1,p=2,g=2",
    NULL,
};

const struct wf_topo_ops wf_topo_cascade_ops = {
    .name = "cascade",
    .args = "<h>[,columns=<n>][,rows=<n>][,p=<nodes per router>][,g=<groups>][,global=<order>]",
    .summary = "a dragonfly whose groups are grids of routers, as in the Cray XC",
    .shape = WF_TOPO_SHAPE_GROUPS,
    .vc_class = WF_TOPO_VC_ROUTERS,
    .usual_routing = "ugal_l",
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = cascade_create,
    .destroy = cascade_destroy,
    .coords = wf_topo_routers_coords,
    WF_TOPO_ROUTERS_OPS,
};
