/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/latency.h"

#include "base/mem.h"
#include "model/net/links.h"
#include "model/net/topology.h"
#include "model/topo/classes.h"
#include "model/topo/nested.h"

#include <stdlib.h>

enum { LATENCY_HEAD }; /* all hops are done, the bytes follow */

/* How the links of a level are counted: all are equal, those of a class are, or none. */
enum counting { BY_HOPS, BY_CLASS, BY_LINK };

/* The cost of a hop, and the bandwidth. */
struct cost {
    int64_t latency;
    uint64_t bandwidth;
};

struct level {
    const struct wf_topo *topo;
    enum counting counting;
    bool has_dimensions;
    struct cost classes[WF_TOPO_COORDS_MAX]; /* if counted by hops: only the first */
};

struct latency {
    struct wf_net net;
    const struct wf_topo *topo;
    struct wf_net_links links;
    bool plain;         /* one level, all its links are equal, corners cost nothing */
    uint64_t bandwidth; /* of all links and within a node; 0: they differ */
    int64_t message_latency, corner_latency;
    uint32_t n_levels;
    struct level levels[]; /* outermost first */
};

/* The latency of a route, and its lowest bandwidth. */
struct path {
    int64_t latency;
    uint64_t bandwidth;
};

#define ROW(name_, type_, member_)             \
    .name = (name_), .type = WF_PARAM_##type_, \
    .offset = offsetof(struct wf_net_latency_params, member_)

static const struct wf_param params_table[] = {
    {ROW("link_latency", TIMES, link_latency), .def = "100ns", .min = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Time per hop; in a hierarchy, one value for all levels or one for each, "
            "outermost first"},
    {ROW("bandwidth", RATES, bandwidth), .def = "10GB/s", .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "Bandwidth of a link; in a hierarchy as link_latency. The lowest on its route "
            "applies to a message"},
    WF_NET_LINKS_ROW(struct wf_net_latency_params),
    {ROW("message_latency", TIME, message_latency), .def = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY, .doc = "Time per message to another node"},
    {ROW("corner_latency", TIME, corner_latency), .def = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Time for each turn of the route into another dimension of a grid"},
    WF_PARAM_END,
};

static const struct latency *to_latency(const struct wf_net *net)
{
    return (const struct latency *)net;
}

static int64_t times(int64_t each, uint32_t n)
{
    return n != 0 && each > WF_TIME_MAX / n ? WF_TIME_MAX : each * n;
}

static void add_hops(struct path *path, const struct cost *cost, uint32_t hops)
{
    path->latency = wf_time_add(path->latency, times(cost->latency, hops));
    if (hops > 0 && cost->bandwidth < path->bandwidth) {
        path->bandwidth = cost->bandwidth;
    }
}

static void add_corner(const struct latency *model, struct path *path)
{
    path->latency = wf_time_add(path->latency, model->corner_latency);
}

/* Adds a leg whose links are counted by class. If corners cost time, the classes are
 * dimensions. */
static void add_classes(const struct latency *model, const struct wf_topo_leg *leg,
                        struct path *path)
{
    const struct level *level = &model->levels[leg->level];
    uint32_t hops[WF_TOPO_COORDS_MAX] = {0};
    bool turns = false;

    leg->topo->ops->class_hops(leg->topo, leg->from, leg->to, hops);
    for (uint32_t i = 0; i < wf_topo_n_classes(leg->topo); i++) {
        add_hops(path, &level->classes[i], hops[i]);
        if (hops[i] > 0 && turns) {
            add_corner(model, path);
        }
        turns = turns || hops[i] > 0;
    }
}

static struct cost cost_of(const struct latency *model, uint32_t level, uint32_t vertex,
                           uint32_t port)
{
    struct wf_net_link link = wf_net_links_in_level(&model->links, level, vertex, port);
    bool waits = wf_net_links_has_router(&model->links, level, vertex);

    return (struct cost){wf_time_add(link.latency, waits ? link.delay : 0), link.bandwidth};
}

/* The dimension of a link; WF_TOPO_NO_PORT for a link between a node and its router. */
static uint32_t dimension_of(const struct wf_topo *topo, uint32_t vertex, uint32_t port)
{
    uint32_t number = wf_topo_link_class(topo, vertex, port);

    return wf_topo_is_direct(topo) || number != WF_TOPO_CLASS_TERMINAL ? number
                                                                       : WF_TOPO_NO_PORT;
}

/* Adds a leg link by link. */
static void add_links(const struct latency *model, const struct wf_topo_leg *leg,
                      struct path *path)
{
    const struct wf_topo *topo = leg->topo;
    bool turns = model->levels[leg->level].has_dimensions && model->corner_latency > 0;
    uint32_t last = WF_TOPO_NO_PORT;

    for (uint32_t at = leg->from; at != leg->to;) {
        uint32_t port = topo->ops->next_port(topo, at, leg->to);
        const struct cost cost = cost_of(model, leg->level, at, port);

        add_hops(path, &cost, 1);
        if (turns) {
            uint32_t dimension = dimension_of(topo, at, port);
            if (last != WF_TOPO_NO_PORT && dimension != WF_TOPO_NO_PORT && dimension != last) {
                add_corner(model, path);
            }
            last = dimension;
        }
        at = topo->ops->neighbor(topo, at, port);
    }
}

static struct path find_path(const struct latency *model, uint32_t src, uint32_t dst)
{
    struct wf_topo_leg legs[WF_TOPO_LEGS_MAX];
    struct path path = {.latency = src != dst ? model->message_latency : 0,
                        .bandwidth = UINT64_MAX};

    if (model->plain) {
        add_hops(&path, &model->levels[0].classes[0],
                 model->topo->ops->distance(model->topo, src, dst));
        path.bandwidth = src != dst ? path.bandwidth : model->links.levels[0].bandwidth;
        return path;
    }

    uint32_t n = wf_topo_legs(model->topo, src, dst, legs);
    for (uint32_t i = 0; i < n; i++) {
        const struct wf_topo_leg *leg = &legs[i];
        const struct level *level = &model->levels[leg->level];

        if (level->counting == BY_LINK) {
            add_links(model, leg, &path);
        } else if (level->counting == BY_CLASS) {
            add_classes(model, leg, &path);
        } else {
            add_hops(&path, &level->classes[0],
                     leg->topo->ops->distance(leg->topo, leg->from, leg->to));
        }
    }
    if (n == 0) { /* within a node */
        path.bandwidth = model->links.levels[model->n_levels - 1].bandwidth;
    }
    return path;
}

/* ---- creation ---- */

/* The least latency of any link of the level. */
static int64_t least_latency(const struct latency *model, uint32_t number)
{
    const struct level *level = &model->levels[number];
    const struct wf_topo *topo = level->topo;
    int64_t least = level->classes[0].latency;

    for (uint32_t i = 1; level->counting == BY_CLASS && i < wf_topo_n_classes(topo); i++) {
        int64_t own = level->classes[i].latency;
        least = own < least ? own : least;
    }
    for (uint32_t v = 0; level->counting == BY_LINK && v < topo->n_vertices; v++) {
        uint32_t n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            int64_t own = cost_of(model, number, v, port).latency;
            least = own < least ? own : least;
        }
    }
    return least;
}

/* Whether a hop costs the same from every vertex: the delay of a router counts everywhere or
 * nowhere. */
static bool is_even(const struct latency *model, uint32_t number)
{
    const struct wf_topo *topo = model->levels[number].topo;
    bool everywhere = wf_net_links_has_router(&model->links, number, 0) &&
                      (topo->n_nodes == 1 || wf_net_links_has_router(&model->links, number, 1));
    bool nowhere = true;

    for (uint32_t i = 0; i < wf_topo_n_classes(topo); i++) {
        nowhere = nowhere && wf_net_links_of_class(&model->links, number, i).delay == 0;
    }
    return everywhere || nowhere;
}

static void make_level(struct latency *model, uint32_t number)
{
    struct level *level = &model->levels[number];
    const struct wf_topo *topo = wf_topo_level(model->topo, number);
    uint32_t n_classes = wf_topo_n_classes(topo);
    bool counts = topo->ops->class_hops != NULL && topo->ops->link_props == NULL &&
                  n_classes <= WF_TOPO_COORDS_MAX;

    level->topo = topo;
    level->has_dimensions = topo->ops->shape == WF_TOPO_SHAPE_GRID;
    level->counting = BY_LINK;
    if (is_even(model, number)) {
        bool corners = level->has_dimensions && model->corner_latency > 0;
        level->counting = wf_net_links_are_equal(&model->links, number) && !corners ? BY_HOPS
                          : counts                                                  ? BY_CLASS
                                                                                    : BY_LINK;
    }
    for (uint32_t i = 0; i < n_classes && i < WF_TOPO_COORDS_MAX; i++) {
        struct wf_net_link link = wf_net_links_of_class(&model->links, number, i);
        level->classes[i] =
            (struct cost){wf_time_add(link.latency, link.delay), link.bandwidth};
    }
}

/* The bandwidth of all messages, or 0 if some may differ. */
static uint64_t common_bandwidth(const struct latency *model)
{
    uint64_t common = model->links.levels[0].bandwidth;

    for (uint32_t i = 0; i < model->n_levels; i++) {
        const struct wf_topo *topo = model->levels[i].topo;
        if (topo->ops->link_props != NULL || model->links.levels[i].bandwidth != common) {
            return 0;
        }
        for (uint32_t c = 0; c < wf_topo_n_classes(topo); c++) {
            if (wf_net_links_of_class(&model->links, i, c).bandwidth != common) {
                return 0;
            }
        }
    }
    return common;
}

static enum wf_status check_corners(const struct latency *model, struct wf_err *err)
{
    bool any = false;

    for (uint32_t i = 0; i < model->n_levels; i++) {
        any = any || model->levels[i].has_dimensions;
    }
    return any || model->corner_latency == 0
               ? WF_OK
               : wf_err_set(err, WF_EINVAL,
                            "net.corner_latency: a %s has no dimensions and so no corners; "
                            "expected 0, or a mesh, torus, ttorus or hyperx",
                            model->topo->ops->name);
}

static void latency_destroy(struct wf_net *net)
{
    struct latency *model = (struct latency *)net;

    wf_net_links_fini(&model->links);
    free(model);
}

static enum wf_status make_links(struct latency *model,
                                 const struct wf_net_latency_params *given,
                                 const struct wf_net_env *env, struct wf_err *err)
{
    const struct wf_net_links_config config = {
        .env = env,
        .links = given->links,
        .refused = {[WF_NET_LINK_BUFFER] =
                        "the network model 'latency' has no buffers; packet (with "
                        "net.buffers=credits) and router have"},
        .latency = &given->link_latency,
        .bandwidth = &given->bandwidth,
    };

    return wf_net_links_init(&model->links, &config, err);
}

static enum wf_status latency_create(const void *params, const struct wf_net_env *env,
                                     struct wf_net **out, struct wf_err *err)
{
    const struct wf_net_latency_params *given = params;
    int64_t least = WF_TIME_MAX;

    WF_TRY(wf_net_levels_check("latency", env, &given->link_latency, &given->bandwidth, err));

    uint32_t n_levels = wf_topo_n_levels(env->topo);
    struct latency *model = wf_xcalloc(1, sizeof(*model) + n_levels * sizeof(model->levels[0]));

    model->topo = env->topo;
    model->n_levels = n_levels;
    model->message_latency = given->message_latency;
    model->corner_latency = given->corner_latency;
    enum wf_status status = make_links(model, given, env, err);
    for (uint32_t i = 0; i < n_levels && status == WF_OK; i++) {
        make_level(model, i);
        int64_t here = least_latency(model, i);
        least = here < least ? here : least;
    }
    WF_THEN(status, check_corners(model, err));
    if (status != WF_OK) {
        latency_destroy(&model->net);
        return status;
    }
    model->bandwidth = common_bandwidth(model);
    model->plain = n_levels == 1 && model->levels[0].counting == BY_HOPS;
    model->net = (struct wf_net){
        .ops = &wf_net_latency_ops,
        .payload_max = sizeof(struct wf_net_message),
        .promise_ps = wf_time_add(least, model->message_latency),
        .ahead = WF_NET_ANY,
        .ends = wf_net_ends_of(env),
        .route_topo = n_levels == 1 ? env->topo : NULL,
        .link_classes = model->links.classes,
    };
    *out = &model->net;
    return WF_OK;
}

static int64_t latency_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                            uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    struct path path = find_path(to_latency(net), msg->src_node, dst_node);

    wf_net_schedule(net, ctx, dst_node, wf_time_add(start, path.latency), LATENCY_HEAD, msg);
    return wf_time_add(start, wf_transfer_ps(msg->bytes, path.bandwidth));
}

static void latency_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          const struct wf_event *ev)
{
    const struct latency *model = to_latency(net);
    const struct wf_net_message *msg = (const void *)ev->payload;
    uint64_t bandwidth =
        model->bandwidth != 0
            ? model->bandwidth
            : find_path(model, msg->src_node, wf_net_here(net, ctx, wf_net_nic(ev))).bandwidth;

    net->user.arrived(net->user.arg, ctx, node, msg,
                      wf_time_add(wf_now(ctx), wf_transfer_ps(msg->bytes, bandwidth)));
}

static struct wf_net_uncontended latency_uncontended(const struct wf_net *net,
                                                     uint32_t src_node, uint32_t dst_node,
                                                     uint64_t bytes)
{
    struct path path = find_path(to_latency(net), src_node, dst_node);

    return (struct wf_net_uncontended){path.latency, wf_transfer_ps(bytes, path.bandwidth)};
}

const struct wf_net_ops wf_net_latency_ops = {
    .name = "latency",
    .summary = "hops * link latency + bytes / bandwidth on a topology, no contention",
    .contention = WF_NET_NO_CONTENTION,
    .limits = "links carry any number of messages at once",
    .uses_topology = true,
    .params = params_table,
    .params_size = sizeof(struct wf_net_latency_params),
    .create = latency_create,
    .destroy = latency_destroy,
    .send = latency_send,
    .event = latency_event,
    .uncontended = latency_uncontended,
};
