/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dragonfly (Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly
 * topology", ISCA 2008): groups of routers. All routers of a group are joined to each other,
 * and every group is joined to every other (model/topo/global.h).
 *
 * Since any two groups are joined, no two routers are more than three hops apart: one hop
 * within the group, one to the other group, one within that group. Two hops are enough if a
 * link to the other group begins or ends at one of the two routers, or if both have a link
 * to the same router of a third group.
 */
#include "base/mem.h"
#include "model/topo/classes.h"
#include "model/topo/global.h"
#include "model/topo/routers.h"
#include "model/topo/topo.h"

#include <stdlib.h>

struct params {
    uint64_t h, a, p, g;
    int global;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, h, COUNT, .min = "1",
                 .doc = "Links from each router to other groups"),
    WF_PARAM_ROW(struct params, a, COUNT, .def = "0",
                 .doc =
                     "Routers in each group; 0 means 2h, which balances the load of the links"),
    WF_PARAM_ROW(struct params, p, COUNT, .def = "0",
                 .doc =
                     "Nodes at each router; 0 means h, which balances the load of the links"),
    WF_PARAM_ROW(struct params, g, COUNT, .def = "0",
                 .doc = "Number of groups, at most a*h + 1; 0 means that maximum"),
    WF_PARAM_ROW(struct params, global, ENUM, .def = "relative",
                 .choices = wf_topo_global_orders, .doc = WF_TOPO_GLOBAL_DOC),
    WF_PARAM_END,
};

struct dragonfly {
    struct wf_topo_routers net;
    struct wf_topo_global global;
    uint32_t locals; /* ports to the routers of the same group; they come first */
};

static const struct dragonfly *to_dragonfly(const struct wf_topo_routers *net)
{
    return (const struct dragonfly *)net;
}

static uint32_t group_of(const struct dragonfly *fly, uint32_t router)
{
    return router / fly->global.routers;
}

/* The port to another router of the same group. These ports are in ascending order of the
 * routers that they lead to. */
static uint32_t local_port(const struct dragonfly *fly, uint32_t from, uint32_t to)
{
    return to % fly->global.routers - (to > from ? 1 : 0);
}

static uint32_t dragonfly_neighbor(const struct wf_topo_routers *net, uint32_t router,
                                   uint32_t port)
{
    const struct dragonfly *fly = to_dragonfly(net);

    if (port >= fly->locals) {
        return wf_topo_global_far(&fly->global, router)[port - fly->locals];
    }
    uint32_t place = router % fly->global.routers;
    return router - place + port + (port >= place ? 1 : 0);
}

static uint32_t dragonfly_link_class(const struct wf_topo_routers *net, uint32_t router,
                                     uint32_t port)
{
    return port < to_dragonfly(net)->locals ? WF_TOPO_CLASS_LOCAL : WF_TOPO_CLASS_GLOBAL;
}

/* A range of entries in a list of far ends. The list is ascending. */
struct range {
    uint32_t first, n;
};

/* The entries whose routers are begin .. end - 1. Lists are short: counting all entries is quicker
 * than a search, whose branches cannot be predicted. */
static struct range find_range(const struct dragonfly *fly, uint32_t router, uint32_t begin,
                               uint32_t end)
{
    const uint32_t *far = wf_topo_global_far(&fly->global, router);
    uint32_t before = 0, below = 0;

    for (uint32_t i = 0; i < fly->global.ports; i++) {
        before += far[i] < begin ? 1 : 0;
        below += far[i] < end ? 1 : 0;
    }
    return (struct range){before, below - before};
}

static struct range find_group(const struct dragonfly *fly, uint32_t router, uint32_t group)
{
    uint32_t begin = group * fly->global.routers;

    return wf_topo_global_leads(&fly->global, router, group)
               ? find_range(fly, router, begin, begin + fly->global.routers)
               : (struct range){0, 0};
}

static bool is_joined(const struct dragonfly *fly, uint32_t a, uint32_t b)
{
    return find_range(fly, a, b, b + 1).n != 0;
}

/* The first entry in the list of `a`, from index `from` on, that the list of `b` also
 * contains; WF_TOPO_NO_PORT if there is none. */
static uint32_t next_shared(const struct dragonfly *fly, uint32_t a, uint32_t b, uint32_t from)
{
    const uint32_t *x = wf_topo_global_far(&fly->global, a),
                   *y = wf_topo_global_far(&fly->global, b);
    uint32_t n = fly->global.ports;

    if (!wf_topo_global_share(&fly->global, a, b)) {
        return WF_TOPO_NO_PORT;
    }
    for (uint32_t i = from, j = 0; i < n && j < n && x[i] != WF_TOPO_NO_VERTEX;) {
        if (x[i] == y[j]) {
            return i;
        }
        uint32_t is_less = x[i] < y[j] ? 1 : 0; /* added: a branch could not be predicted */
        i += is_less;
        j += 1 - is_less;
    }
    return WF_TOPO_NO_PORT;
}

static uint32_t dragonfly_distance(const struct wf_topo_routers *net, uint32_t from,
                                   uint32_t to)
{
    const struct dragonfly *fly = to_dragonfly(net);
    uint32_t a = group_of(fly, from), b = group_of(fly, to);

    if (a == b) {
        return from == to ? 0 : 1;
    }
    bool leads = wf_topo_global_leads(&fly->global, from, b);
    bool led = wf_topo_global_leads(&fly->global, to, a);
    if (leads && led && is_joined(fly, from, to)) {
        return 1;
    }
    return leads || led || next_shared(fly, from, to, 0) != WF_TOPO_NO_PORT ? 2 : 3;
}

/* The path of two hops through a third group. If there are several such paths, they share
 * the load. */
static uint32_t pick_shared(const struct dragonfly *fly, uint32_t from, uint32_t to,
                            uint32_t spread)
{
    uint32_t start = spread % fly->global.ports;
    uint32_t i = next_shared(fly, from, to, start);

    return i != WF_TOPO_NO_PORT || start == 0 ? i : next_shared(fly, from, to, 0);
}

/* Paths with one link between groups are preferred to those with two. */
static uint32_t dragonfly_next_port(const struct wf_topo_routers *net, uint32_t from,
                                    uint32_t to, uint32_t spread)
{
    const struct dragonfly *fly = to_dragonfly(net);
    uint32_t a = group_of(fly, from), b = group_of(fly, to);

    if (a == b) {
        return local_port(fly, from, to);
    }
    struct range leads = find_group(fly, from, b), led = find_group(fly, to, a);
    if (leads.n > 0 && led.n > 0) {
        struct range joined = find_range(fly, from, to, to + 1);
        if (joined.n != 0) {
            return fly->locals + joined.first;
        }
    }
    if (leads.n + led.n > 0) {
        uint32_t pick = spread % (leads.n + led.n);
        return pick < leads.n ? fly->locals + leads.first + pick
                              : local_port(fly, from,
                                           wf_topo_global_far(&fly->global,
                                                              to)[led.first + pick - leads.n]);
    }
    uint32_t shared = pick_shared(fly, from, to, spread);
    if (shared != WF_TOPO_NO_PORT) {
        return fly->locals + shared;
    }
    uint32_t link = spread % wf_topo_global_count(&fly->global, a, b);
    return local_port(fly, from, wf_topo_global_exit(&fly->global, a, b, link));
}

/* Whether a router of another group than `to` has two hops to it. It has no link to it. */
static bool is_two_hops_from(const struct dragonfly *fly, uint32_t via, uint32_t to)
{
    return wf_topo_global_leads(&fly->global, via, group_of(fly, to)) ||
           wf_topo_global_leads(&fly->global, to, group_of(fly, via)) ||
           next_shared(fly, via, to, 0) != WF_TOPO_NO_PORT;
}

/* What a packet with two hops left may take: the routers of its group that have a link to `to`, and its own
 * links into the group of `to` and to other neighbours of `to`. */
static uint32_t ports_of_two(const struct dragonfly *fly, uint32_t from, uint32_t to,
                             uint32_t *ports)
{
    const uint32_t *far = wf_topo_global_far(&fly->global, from);
    const uint32_t *led = wf_topo_global_far(&fly->global, to);
    struct range own = find_group(fly, to, group_of(fly, from));
    uint32_t n = 0, most = fly->global.ports;

    for (uint32_t i = 0; i < own.n; i++) {
        ports[n++] = local_port(fly, from, led[own.first + i]);
    }
    for (uint32_t i = 0, j = 0; i < most && far[i] != WF_TOPO_NO_VERTEX; i++) {
        while (j < most && led[j] < far[i]) {
            j++;
        }
        if (group_of(fly, far[i]) == group_of(fly, to) || (j < most && led[j] == far[i])) {
            ports[n++] = fly->locals + i;
        }
    }
    return n;
}

static uint32_t dragonfly_minimal_ports(const struct wf_topo_routers *net, uint32_t from,
                                        uint32_t to, uint32_t *ports)
{
    const struct dragonfly *fly = to_dragonfly(net);
    const uint32_t *far = wf_topo_global_far(&fly->global, from);
    uint32_t left = dragonfly_distance(net, from, to), n = 0;
    uint32_t place = from % fly->global.routers;

    if (left == 1) {
        ports[0] = dragonfly_next_port(net, from, to, 0);
        return 1;
    }
    if (left == 2) {
        return ports_of_two(fly, from, to, ports);
    }
    for (uint32_t port = 0; port < fly->locals; port++) {
        if (is_two_hops_from(fly, from - place + port + (port >= place ? 1 : 0), to)) {
            ports[n++] = port;
        }
    }
    for (uint32_t i = 0; i < fly->global.ports && far[i] != WF_TOPO_NO_VERTEX; i++) {
        if (is_two_hops_from(fly, far[i], to)) {
            ports[n++] = fly->locals + i;
        }
    }
    return n;
}

/* The routers around one router, each counted once. */
struct ball {
    uint32_t *seen; /* [n_routers] the number of the last count that met the router */
    uint32_t stamp;
    uint32_t n;
};

static void see(struct ball *ball, uint32_t router)
{
    if (ball->seen[router] != ball->stamp) {
        ball->seen[router] = ball->stamp;
        ball->n++;
    }
}

static void see_far(const struct dragonfly *fly, struct ball *ball, uint32_t router)
{
    const uint32_t *far = wf_topo_global_far(&fly->global, router);

    for (uint32_t i = 0; i < fly->global.ports && far[i] != WF_TOPO_NO_VERTEX; i++) {
        see(ball, far[i]);
    }
}

static void see_group(const struct dragonfly *fly, struct ball *ball, uint32_t router)
{
    uint32_t begin = router - router % fly->global.routers;

    for (uint32_t i = 0; i < fly->global.routers; i++) {
        see(ball, begin + i);
    }
}

/* Counts the routers at one and at two hops from a router: n[1] and n[2]. */
static void count_near(const struct dragonfly *fly, struct ball *ball, uint32_t from,
                       uint64_t n[3])
{
    const uint32_t *far = wf_topo_global_far(&fly->global, from);
    uint32_t begin = from - from % fly->global.routers;

    ball->stamp++;
    ball->n = 0;
    see_group(fly, ball, from);
    see_far(fly, ball, from);
    n[1] = ball->n - 1;
    for (uint32_t i = 0; i < fly->global.routers; i++) {
        see_far(fly, ball, begin + i);
    }
    for (uint32_t i = 0; i < fly->global.ports && far[i] != WF_TOPO_NO_VERTEX; i++) {
        see_group(fly, ball, far[i]);
        see_far(fly, ball, far[i]);
    }
    n[2] = ball->n - 1 - n[1];
}

/* The number of routers from which the network may look different. If groups are arranged
 * relative to each other, all groups are alike and one of them is enough; in the absolute
 * order they are not. */
static uint32_t n_unlike(const struct dragonfly *fly)
{
    return fly->global.order == WF_TOPO_GLOBAL_ABSOLUTE ? fly->net.n_routers
                                                        : fly->global.routers;
}

static void dragonfly_histogram(const struct wf_topo_routers *net, uint64_t *pairs)
{
    const struct dragonfly *fly = to_dragonfly(net);
    uint64_t weight = net->n_routers / n_unlike(fly);
    struct ball ball = {.seen = wf_xcalloc(net->n_routers, sizeof(uint32_t))};

    for (uint32_t from = 0; from < n_unlike(fly); from++) {
        uint64_t n[3];
        count_near(fly, &ball, from, n);
        pairs[1] += weight * n[1];
        pairs[2] += weight * n[2];
        pairs[3] += weight * (net->n_routers - 1 - n[1] - n[2]);
    }
    free(ball.seen);
}

/* Looks for a router at three hops. In a large network the search ends at the first router,
 * since it has some at that distance. */
static uint32_t find_diameter(const struct dragonfly *fly)
{
    struct ball ball = {.seen = wf_xcalloc(fly->net.n_routers, sizeof(uint32_t))};
    uint32_t diameter = 0;

    for (uint32_t from = 0; from < n_unlike(fly) && diameter < 3; from++) {
        uint64_t n[3];
        count_near(fly, &ball, from, n);
        uint32_t here = 1 + n[1] + n[2] < fly->net.n_routers ? 3
                        : n[2] > 0                           ? 2
                        : n[1] > 0                           ? 1
                                                             : 0;
        diameter = here > diameter ? here : diameter;
    }
    free(ball.seen);
    return diameter;
}

static const struct wf_topo_routers_ops router_ops = {
    .neighbor = dragonfly_neighbor,
    .distance = dragonfly_distance,
    .next_port = dragonfly_next_port,
    .minimal_ports = dragonfly_minimal_ports,
    .link_class = dragonfly_link_class,
    .histogram = dragonfly_histogram,
};

static enum wf_status dragonfly_create(const void *params, struct wf_topo **out,
                                       struct wf_err *err)
{
    const struct params *given = params;
    uint64_t a = given->a != 0 ? given->a : 2 * given->h;
    uint64_t p = given->p != 0 ? given->p : given->h;
    struct wf_topo_global_size size = {given->g, a, given->h};
    struct dragonfly fly = {.locals = 0};

    WF_TRY(wf_topo_global_plan(&fly.global, wf_topo_dragonfly_ops.name, size,
                               (enum wf_topo_global_order)given->global, err));
    uint64_t routers = fly.global.groups * a;
    WF_TRY(wf_topo_routers_init(&fly.net, &wf_topo_dragonfly_ops, &router_ops,
                                (struct wf_topo_routers_size){routers, p, a - 1 + given->h},
                                err));
    wf_topo_global_join(&fly.global);
    fly.net.group = (uint32_t)a;
    fly.locals = (uint32_t)a - 1;
    fly.net.topo.n_links += routers * (a - 1) / 2 + fly.global.n_links;
    fly.net.diameter = find_diameter(&fly);
    *out = wf_topo_keep(&fly, sizeof(fly));
    return WF_OK;
}

static void dragonfly_destroy(struct wf_topo *topo)
{
    wf_topo_global_release(&((struct dragonfly *)topo)->global);
    free(topo);
}

/* The last rows have fewer groups than can be joined. There, extra links remain for some
 * pairs of groups or for opposite groups, and some ports have no cable. */
static const char *const examples[] = {
    "dragonfly:2",
    "dragonfly:1",
    "dragonfly:a=4,p=2,h=2,g=9,global=absolute",
    "dragonfly:a=4,p=2,h=2,g=9,global=circulant",
    "dragonfly:h=3,a=3,p=1,global=circulant",
    "dragonfly:h=3,a=3,p=1",
    "dragonfly:h=5,a=1,p=2",
    "dragonfly:h=2,a=4,p=1,g=1",
    "dragonfly:h=1,a=1,p=1,g=1",
    "dragonfly:h=5,a=1,p=2,g=2",
    "dragonfly:h=2,a=4,p=1,g=2",
    "dragonfly:h=3,a=4,p=1,g=3",
    "dragonfly:h=2,a=5,p=1,g=7,global=absolute",
    "dragonfly:h=2,a=5,p=1,g=7,global=circulant",
    "dragonfly:h=3,a=3,p=1,g=8",
    "dragonfly:h=3,a=3,p=1,g=8,global=circulant",
    "dragonfly:h=3,a=3,p=1,g=8,global=absolute",
    "dragonfly:h=3,a=3,p=1,g=5,global=absolute",
    "dragonfly:h=5,a=2,p=1,g=3",
    "dragonfly:h=4,a=3,p=1,g=6,global=circulant",
    "dragonfly:h=4,a=8,p=1,g=6,global=circulant",
    NULL,
};

const struct wf_topo_ops wf_topo_dragonfly_ops = {
    .name = "dragonfly",
    .args = "<h>[,a=<routers per group>][,p=<nodes per router>][,g=<groups>][,global=<order>]",
    .summary = "groups of routers: one hop within a group, at most one between groups",
    .shape = WF_TOPO_SHAPE_GROUPS,
    .vc_class = WF_TOPO_VC_DRAGONFLY,
    .usual_routing = "ugal_l",
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = dragonfly_create,
    .destroy = dragonfly_destroy,
    .coords = wf_topo_routers_coords,
    WF_TOPO_ROUTERS_OPS,
};
