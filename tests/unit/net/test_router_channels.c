/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The router's own routing schemes. The test finds which channel may follow which, by following
 * packets between all nodes through every channel that they may request. Without a bubble the
 * channels must have no cycle. With a bubble there may be cycles around single rings only,
 * which the bubble keeps moving. For adaptive routing this applies to the escape channels,
 * which must always be among the choices. tests/conformance/test_route.c tests the routing
 * policies.
 */
#include "model/net/router/events/model.h"

#include "harness/route_graph.h"
#include "harness/wf_test.h"

#include <stdlib.h>

struct walk {
    const struct wf_router_net *model;
    struct wf_router_packet packet;
    struct route_set *edges;
    struct route_set seen; /* of this packet */
    bool rings;            /* edges within a ring count */
    bool counts;           /* this edge does, as far as the scheme goes */
    bool faulty;           /* a route does not go on */
};

static uint64_t channel_id(const struct wf_router_net *model, uint32_t vertex, uint32_t channel)
{
    return (uint64_t)vertex * model->topo->n_ports * model->rules.vcs + channel;
}

static void follow(struct walk *walk, uint32_t at, uint32_t input, uint64_t from);

static void take(struct walk *walk, uint32_t at, uint32_t input, uint64_t from,
                 uint32_t channel)
{
    const struct wf_router_net *model = walk->model;
    uint32_t port = channel / model->rules.vcs, vc = channel % model->rules.vcs;
    uint32_t next = model->topo->ops->neighbor(model->topo, at, port);
    uint64_t to = channel_id(model, at, channel);
    bool escapes = model->rules.escapes == 0 ||
                   (vc == 0 && (input == WF_ROUTER_NONE || input % model->rules.vcs == 0));
    bool in_ring = model->grid != NULL && input != WF_ROUTER_NONE &&
                   input == (port ^ 1) * model->rules.vcs + vc;

    if (next == WF_TOPO_NO_VERTEX) {
        walk->faulty = true;
        return;
    }
    if (input != WF_ROUTER_NONE && escapes && walk->counts && (walk->rings || !in_ring)) {
        (void)route_set_find(walk->edges, from, to);
    }
    follow(walk, next, wf_router_in_port(model, at, port) * model->rules.vcs + vc, to);
}

static void follow(struct walk *walk, uint32_t at, uint32_t input, uint64_t from)
{
    uint16_t channels[WF_ROUTER_INPUTS_MAX];
    uint32_t escape;

    if (at == walk->packet.dst || walk->faulty) {
        return;
    }
    uint32_t *known = route_set_find(&walk->seen, from, at);
    if (*known != 0) {
        return;
    }
    *known = 1;
    uint32_t n =
        wf_router_channels_of(walk->model, at, &walk->packet, input, channels, &escape);
    walk->faulty = n == 0 || (walk->model->rules.escapes > 0 && escape == WF_ROUTER_NONE);
    for (uint32_t i = 0; i < n; i++) {
        /* Who may take either of two classes is waited for in the upper one alone. */
        walk->counts = walk->model->rules.scheme != WF_ROUTER_DATELINE_FREE || i + 1 == n;
        take(walk, at, input, from, channels[i]);
    }
    if (escape != WF_ROUTER_NONE) {
        take(walk, at, input, from, escape);
    }
}

/* Whether a packet may go down in a dimension, or up. */
static bool may_go(const struct wf_topo_grid *grid, uint32_t dim, uint32_t a, uint32_t b,
                   bool down)
{
    uint32_t size = grid->size[dim], from = wf_topo_grid_coord(grid, a, dim);
    uint32_t to = wf_topo_grid_coord(grid, b, dim), up = (to + size - from) % size;

    if (!grid->wrap[dim] || size <= 2) {
        return down == (to < from);
    }
    return down ? 2 * up >= size : 2 * up <= size;
}

static void follow_all(struct walk *walk, uint32_t src)
{
    const struct wf_topo_grid *grid = walk->model->grid;
    uint32_t n_directions = grid != NULL ? UINT32_C(1) << grid->n_dims : 1;

    for (uint32_t directions = 0; directions < n_directions; directions++) {
        bool possible = true;
        for (uint32_t d = 0; grid != NULL && d < grid->n_dims; d++) {
            possible =
                possible && may_go(grid, d, src, walk->packet.dst, (directions >> d & 1) != 0);
        }
        if (possible) {
            walk->packet.on.down = directions;
            route_set_init(&walk->seen, 256);
            follow(walk, src, WF_ROUTER_NONE, UINT64_MAX - 1);
            route_set_fini(&walk->seen);
        }
    }
}

static void must(enum wf_status status)
{
    if (status != WF_OK) {
        abort();
    }
}

enum outcome { SOUND, CYCLE, FAULTY };

static enum outcome try(const char *spec, int routing, uint64_t vcs, int request, bool rings)
{
    struct wf_router_params params;
    struct wf_topo *topo = NULL;
    struct wf_net *net = NULL;
    struct wf_err err;
    struct route_set edges;

    memset(&params, 0, sizeof(params));
    must(wf_param_defaults(wf_net_router_ops.params, &params, &err));
    params.routing = routing;
    params.vcs = vcs;
    params.request = request;
    must(wf_topo_create(spec, &topo, &err));
    const struct wf_net_env env = {.topo = topo, .n_nodes = topo->n_nodes};
    must(wf_net_router_ops.create(&params, &env, &net, &err));
    struct walk walk = {.model = wf_router_of(net), .edges = &edges, .rings = rings};

    route_set_init(&edges, 1024);
    for (uint32_t a = 0; a < topo->n_nodes; a++) {
        for (uint32_t b = 0; b < topo->n_nodes; b++) {
            walk.packet = (struct wf_router_packet){.dst = b, .msg = {.src_node = a}};
            follow_all(&walk, a);
        }
    }
    enum outcome outcome = walk.faulty ? FAULTY : route_has_cycle(&edges) ? CYCLE : SOUND;
    route_set_fini(&edges);
    wf_net_free(net);
    wf_topo_free(topo);
    wf_param_release(wf_net_router_ops.params, &params);
    return outcome;
}

static void no_scheme_waits_in_a_circle(void)
{
    static const struct {
        const char *spec;
        int routing;
        uint64_t vcs;
        int request;
        bool rings;
        enum outcome outcome;
    } cases[] = {
        {"mesh:4x3", WF_ROUTER_DOR, 1, WF_ROUTER_SMART, true, SOUND},
        {"mesh:3x3x3", WF_ROUTER_DOR, 4, WF_ROUTER_SMART, true, SOUND},
        {"torus:5x4", WF_ROUTER_DOR, 1, WF_ROUTER_SMART, true, CYCLE},
        {"torus:5x4", WF_ROUTER_OBLIVIOUS_1VC, 0, WF_ROUTER_SMART, false, SOUND},
        {"torus:5x4", WF_ROUTER_OBLIVIOUS_3VC, 0, WF_ROUTER_SMART, false, SOUND},
        {"torus:4x3x3", WF_ROUTER_DOR, 8, WF_ROUTER_SMART, false, SOUND},
        {"torus:5x4", WF_ROUTER_ADAPTIVE_3VC, 0, WF_ROUTER_SMART, false, SOUND},
        {"torus:5x4", WF_ROUTER_ADAPTIVE_3VC, 0, WF_ROUTER_SMART, true, CYCLE},
        {"torus:3x3x4", WF_ROUTER_ADAPTIVE, 2, WF_ROUTER_SHORTEST, false, SOUND},
        {"mesh:4x4", WF_ROUTER_ADAPTIVE, 8, WF_ROUTER_RANDOM, true, SOUND},
        {"torus:5x4", WF_ROUTER_DATELINE, 2, WF_ROUTER_SMART, true, SOUND},
        {"torus:6x5x3", WF_ROUTER_DATELINE, 8, WF_ROUTER_SMART, true, SOUND},
        {"torus:5x4", WF_ROUTER_DATELINE_FREE, 0, WF_ROUTER_SMART, true, SOUND},
        {"torus:7", WF_ROUTER_DATELINE_FREE, 0, WF_ROUTER_RANDOM, true, SOUND},
        {"fattree:k=2,n=3", WF_ROUTER_UPDOWN, 1, WF_ROUTER_SHORTEST, true, SOUND},
        {"fattree:4x3x2", WF_ROUTER_UPDOWN, 3, WF_ROUTER_RANDOM, true, SOUND},
        {"fattree:k=3,n=2", WF_ROUTER_UPDOWN, 2, WF_ROUTER_FIRST, true, SOUND},
        {"fattree:4x3x2", WF_ROUTER_UPDOWN, 1, WF_ROUTER_SOURCE, true, SOUND},
        {"tree:9,degree=2", WF_ROUTER_UPDOWN, 1, WF_ROUTER_SHORTEST, true, SOUND},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum outcome found = try(cases[i].spec, cases[i].routing, cases[i].vcs,
                                 cases[i].request, cases[i].rings);
        if (found != cases[i].outcome) {
            printf("# case %zu\n", i);
        }
        CHECK_U64(found, cases[i].outcome);
    }
}

int main(void)
{
    RUN(no_scheme_waits_in_a_circle);
    return wf_test_done();
}
