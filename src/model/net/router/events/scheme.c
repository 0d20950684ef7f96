/* SPDX-License-Identifier: Apache-2.0 */
/* Routings and what they need: a network where they work, virtual channels, flow control. */
#include "model/net/router/events/model.h"
#include "model/topo/nested.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const wf_router_routings[] = {
    "oblivious-1vc", "oblivious-3vc", "adaptive-3vc", "dor",     "adaptive",
    "dateline",      "dateline-free", "updown",       "minimal", "valiant",
    "ugal",          "ugal_l",        "ugal_g",       "par",     "ecmp",
    "table",         "usual",         "auto",         NULL,
};

static bool is_grid(const struct wf_topo *topo)
{
    return topo->ops->neighbor == wf_topo_grid_neighbor;
}

static bool is_tree(const struct wf_topo *topo)
{
    return topo->ops->shape == WF_TOPO_SHAPE_LEVELS && wf_topo_n_levels(topo) == 1;
}

struct scheme {
    int scheme;                                   /* one that is not a preset, used on... */
    bool (*works_on)(const struct wf_topo *topo); /* ...these networks; null: none */
    const char *policy; /* policy (model/net/route/route.h) on all other networks, or null */
    uint32_t vcs_least, vcs_default; /* virtual channels of the scheme */
    uint32_t vcs_fixed;              /* 0: any number from the minimum on */
    bool bubble;                     /* meaning of `auto` */
};

static const struct scheme schemes[] = {
    [WF_ROUTER_OBLIVIOUS_1VC] = {WF_ROUTER_DOR, is_grid, NULL, 1, 1, 1, true},
    [WF_ROUTER_OBLIVIOUS_3VC] = {WF_ROUTER_DOR, is_grid, NULL, 3, 3, 3, true},
    [WF_ROUTER_ADAPTIVE_3VC] = {WF_ROUTER_ADAPTIVE, is_grid, NULL, 3, 3, 3, true},
    [WF_ROUTER_DOR] = {WF_ROUTER_DOR, is_grid, NULL, 1, 1, 0, true},
    [WF_ROUTER_ADAPTIVE] = {WF_ROUTER_ADAPTIVE, is_grid, "adaptive", 2, 3, 0, true},
    [WF_ROUTER_DATELINE] = {WF_ROUTER_DATELINE, is_grid, NULL, 2, 2, 0, false},
    [WF_ROUTER_DATELINE_FREE] = {WF_ROUTER_DATELINE_FREE, is_grid, NULL, 2, 2, 2, false},
    [WF_ROUTER_UPDOWN] = {WF_ROUTER_UPDOWN, is_tree, "updown", 1, 1, 0, false},
    [WF_ROUTER_MINIMAL] = {WF_ROUTER_POLICY, NULL, "minimal", 1, 1, 0, false},
    [WF_ROUTER_VALIANT] = {WF_ROUTER_POLICY, NULL, "valiant", 1, 1, 0, false},
    [WF_ROUTER_UGAL] = {WF_ROUTER_POLICY, NULL, "ugal_l", 1, 1, 0, false},
    [WF_ROUTER_UGAL_L] = {WF_ROUTER_POLICY, NULL, "ugal_l", 1, 1, 0, false},
    [WF_ROUTER_UGAL_G] = {WF_ROUTER_POLICY, NULL, "ugal_g", 1, 1, 0, false},
    [WF_ROUTER_PAR] = {WF_ROUTER_POLICY, NULL, "par", 1, 1, 0, false},
    [WF_ROUTER_ECMP] = {WF_ROUTER_POLICY, NULL, "ecmp", 1, 1, 0, false},
    [WF_ROUTER_TABLE] = {WF_ROUTER_POLICY, NULL, "table", 1, 1, 0, false},
};

static int choose_routing(const struct wf_router_net *model)
{
    const char *usual =
        model->set.routing == WF_ROUTER_USUAL ? wf_route_usual(model->topo) : "";

    if (usual[0] == '\0' && model->set.routing != WF_ROUTER_AUTO_ROUTING) {
        return model->set.routing;
    }
    if (strcmp(usual, "ugal_l") == 0) {
        return WF_ROUTER_UGAL_L;
    }
    bool wormhole = model->set.switching == WF_ROUTER_WORMHOLE;

    if (strcmp(usual, "adaptive") == 0 &&
        (model->set.fail[0] != '\0' || !is_tree(model->topo))) {
        return WF_ROUTER_ADAPTIVE;
    }
    if (wf_fault_has_times(model->set.fail)) {
        return WF_ROUTER_MINIMAL;
    }
    return is_grid(model->topo)   ? wormhole ? WF_ROUTER_DATELINE : WF_ROUTER_OBLIVIOUS_1VC
           : is_tree(model->topo) ? WF_ROUTER_UPDOWN
                                  : WF_ROUTER_MINIMAL;
}

/* Routes for all epochs. A packet that finds another network than the router before takes
 * channels of the other set, so that the channels of one set are waited for in order. */
static enum wf_status make_faults(struct wf_router_net *model, const struct wf_route_ops *ops,
                                  struct wf_err *err)
{
    const struct wf_fault_config config = {
        .topo = model->topo,
        .fail = model->set.fail,
        .policy = ops,
        .n_vcs = WF_ROUTER_VCS_MAX / 2,
        .threshold = model->set.ugal_threshold,
    };

    WF_TRY(wf_fault_plan_create(&config, &model->faults, err));
    model->route = wf_fault_route(model->faults, 0);
    return WF_OK;
}

static enum wf_status make_policy(struct wf_router_net *model, const char *policy,
                                  struct wf_err *err)
{
    const struct wf_route_ops *ops = NULL;
    enum wf_status status = wf_route_find(policy, &ops, err);

    if (status == WF_OK && wf_fault_has_times(model->set.fail)) {
        WF_TRY(make_faults(model, ops, err));
    } else if (status == WF_OK) {
        status = wf_route_create(ops, model->topo, model->set.routing_file, &model->route, err);
    }
    if (status != WF_OK) {
        wf_err_prefix(err, "net.routing: ");
        return WF_EINVAL;
    }
    model->route->threshold = model->set.ugal_threshold;
    if (ops->asks_far) {
        model->notice_step =
            model->set.info_step > 0 ? model->set.info_step : model->set.packet;
    }
    return WF_OK;
}

static enum wf_status choose_vcs(const struct scheme *scheme, const char *name,
                                 struct wf_router_net *model, struct wf_err *err)
{
    uint32_t least = scheme->vcs_least, given = (uint32_t)model->set.vcs;
    uint32_t usual = scheme->vcs_default, fixed = scheme->vcs_fixed;
    uint32_t n_sets = model->faults != NULL ? 2 : 1;

    if (model->set.vcs > WF_ROUTER_VCS_MAX) {
        return wf_err_set(err, WF_EINVAL, "net.vcs: %" PRIu64 " is too large; expected 1 to %d",
                          model->set.vcs, WF_ROUTER_VCS_MAX);
    }
    if (model->set.switching == WF_ROUTER_WORMHOLE && model->rules.escapes > 0) {
        least = model->rules.escapes + 1;
        usual = model->rules.escapes + 2;
    }
    if (model->route != NULL) {
        model->rules.class_vcs =
            n_sets > 1 ? wf_fault_n_vcs(model->faults) : model->route->vcs.n_vcs;
        least = usual = n_sets * model->rules.class_vcs;
        fixed = 0;
    }
    if (least > WF_ROUTER_VCS_MAX) {
        return wf_err_set(err, WF_EINVAL,
                          "net.routing: %s needs %" PRIu32
                          " virtual channels on this topology; at most %d are possible",
                          name, least, WF_ROUTER_VCS_MAX);
    }
    model->rules.vcs = given != 0 ? given : usual;
    if (model->rules.vcs < least || (fixed > 0 && model->rules.vcs != fixed)) {
        return wf_err_set(err, WF_EINVAL,
                          "net.vcs: %" PRIu32 " virtual channels do not work with %s routing, "
                          "which needs %s%" PRIu32,
                          model->rules.vcs, name, fixed > 0 ? "" : "at least ", least);
    }
    model->rules.set_vcs = model->rules.vcs / n_sets;
    if ((model->rules.scheme == WF_ROUTER_DATELINE || n_sets > 1) &&
        model->rules.vcs % 2 != 0) {
        return wf_err_set(
            err, WF_EINVAL, "net.vcs: %" PRIu32 " virtual channels cannot be halved, as %s",
            model->rules.vcs, n_sets > 1 ? "failures in time need" : "dateline routing needs");
    }
    return WF_OK;
}

static enum wf_status choose_flow(const struct scheme *scheme, struct wf_router_net *model,
                                  struct wf_err *err)
{
    const struct wf_router_params *set = &model->set;

    model->rules.bubble = set->flow == WF_ROUTER_BUBBLE ||
                          (set->flow == WF_ROUTER_AUTO && scheme->bubble &&
                           model->grid != NULL && set->switching != WF_ROUTER_WORMHOLE);
    if (set->flow == WF_ROUTER_BUBBLE && model->grid == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "net.flow: bubble works on the rings of a grid in dimension order, "
                          "not with this routing on a %s",
                          model->topo->ops->name);
    }
    if (model->rules.bubble && set->queue < 2) {
        return wf_err_set(err, WF_EINVAL,
                          "net.queue: bubble flow control needs room for 2 packets");
    }
    if (set->restriction > 0 && (model->grid == NULL || set->restriction > set->queue)) {
        return wf_err_set(err, WF_EINVAL,
                          "net.restriction: expected at most the %" PRIu64
                          " packets of net.queue, on a grid",
                          set->queue);
    }
    return WF_OK;
}

/* A node of an indirect network receives the flits of its packets and forwards none. In trees
 * no route leads through a node. */
static enum wf_status check_ends(const struct wf_topo *topo, struct wf_err *err)
{
    if (!wf_topo_is_direct(topo) && !is_tree(topo) &&
        wf_net_ports_max(topo, 0, topo->n_nodes) > 1) {
        return wf_err_set(err, WF_EINVAL,
                          "net.switching: wormhole switching needs nodes that are all routers, "
                          "or have one link each; this %s has both switches and nodes with "
                          "several links",
                          topo->ops->name);
    }
    return WF_OK;
}

/* Bubble flow control moves whole packets and does not work with wormhole switching. */
static enum wf_status check_wormhole(struct wf_router_net *model, const char *name,
                                     struct wf_err *err)
{
    const struct wf_router_params *set = &model->set;
    bool rings = model->rules.rings != 0;
    bool works =
        model->rules.scheme == WF_ROUTER_DATELINE || model->rules.scheme == WF_ROUTER_UPDOWN ||
        model->rules.scheme == WF_ROUTER_POLICY || model->rules.scheme == WF_ROUTER_ADAPTIVE ||
        (model->rules.scheme == WF_ROUTER_DOR && (!rings || set->flow == WF_ROUTER_PLAIN));
    if (!works || set->flow == WF_ROUTER_BUBBLE || set->restriction > 0) {
        return wf_err_set(err, WF_EINVAL,
                          "net.switching: wormhole switching works with dateline and adaptive "
                          "routing on grids "
                          "(dor on meshes), updown on trees and the routing policies, such as "
                          "minimal, without "
                          "bubble flow control and restrictions; not with %s",
                          works ? "bubble flow control or restrictions" : name);
    }
    bool adaptive = model->rules.scheme == WF_ROUTER_ADAPTIVE;
    model->atomic = adaptive && set->escape == WF_ROUTER_MAY_LEAVE;
    model->rules.escapes = adaptive ? rings ? 2 : 1 : 0;
    return check_ends(model->topo, err);
}

/* The name of a parameter that is given but has no effect with this switching, or null. */
static const char *unused_by_switching(const struct wf_router_params *set)
{
    bool wormhole = set->switching == WF_ROUTER_WORMHOLE;
    const struct {
        const char *name;
        bool unused;
    } checks[] = {
        {"transit_priority", wormhole && set->transit_priority > 0},
        {"arbitration", wormhole && set->arbitration != WF_ROUTER_ROUND_ROBIN},
        {"injection_queues", wormhole && set->injection_queues > 1},
        {"turnaround", wormhole && set->turnaround > 0},
        {"speculative", !wormhole && set->speculative},
        {"hold_switch", !wormhole && set->hold_switch},
    };

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (checks[i].unused) {
            return checks[i].name;
        }
    }
    return NULL;
}

static enum wf_status check_switching(struct wf_router_net *model, const char *name,
                                      struct wf_err *err)
{
    bool wormhole = model->set.switching == WF_ROUTER_WORMHOLE;
    const char *unused = unused_by_switching(&model->set);

    if (unused != NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "net.%s: has no effect with %s switching; leave it out, or use "
                          "net.switching=%s",
                          unused, wormhole ? "wormhole" : "cut-through",
                          wormhole ? "cut-through" : "wormhole");
    }
    return wormhole ? check_wormhole(model, name, err) : WF_OK;
}

/* The topology is a grid on which the scheme is for grids. */
static enum wf_status use_grid(struct wf_router_net *model, struct wf_err *err)
{
    const struct wf_topo_grid *grid = (const struct wf_topo_grid *)model->topo;

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        if (grid->size[d] > UINT16_MAX) {
            return wf_err_set(err, WF_EINVAL,
                              "network model 'router' takes at most %d nodes in a dimension",
                              UINT16_MAX);
        }
        model->rules.rings |= (uint32_t)(grid->wrap[d] && grid->size[d] > 2) << d;
    }
    model->rules.n_dims = grid->n_dims;
    model->grid = grid;
    return WF_OK;
}

/* What the parameters alone tell. */
static void set_rules(const struct wf_router_params *set, struct wf_router_rules *rules)
{
    /* As the comparison `draw * 2^-53 < priority` has it. */
    rules->transit = (uint64_t)ceil(set->transit_priority * 0x1p53);
    rules->arbitration = (uint32_t)set->arbitration;
    rules->injection = (uint32_t)set->injection;
    rules->restriction = (uint32_t)set->restriction;
    rules->turnaround = (uint32_t)set->turnaround;
    rules->request = (uint32_t)set->request;
}

enum wf_status wf_router_choose_scheme(struct wf_router_net *model, struct wf_err *err)
{
    int routing = choose_routing(model);
    const char *name = wf_router_routings[routing];
    const struct scheme *scheme = &schemes[routing];
    bool changes = wf_fault_has_times(model->set.fail);
    bool own = scheme->works_on != NULL && scheme->works_on(model->topo) && !changes;

    if (changes && (scheme->policy == NULL || model->set.switching == WF_ROUTER_WORMHOLE)) {
        return wf_err_set(err, WF_EINVAL,
                          "net.fail: failures in time need cut-through switching and a routing "
                          "policy, such as minimal; not %s",
                          scheme->policy == NULL ? name : "wormhole switching");
    }
    if (!own && scheme->policy == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "net.routing: %s routing works on grids, not on a "
                          "%s%s",
                          name, model->topo->ops->name,
                          is_tree(model->topo) ? "; trees have updown"
                                               : "; minimal works everywhere");
    }
    set_rules(&model->set, &model->rules);
    model->rules.scheme = own ? (uint32_t)scheme->scheme : WF_ROUTER_POLICY;
    if (!own) {
        WF_TRY(make_policy(model, scheme->policy, err));
    } else if (is_grid(model->topo)) {
        WF_TRY(use_grid(model, err));
    }
    if (model->rules.scheme != WF_ROUTER_ADAPTIVE && model->rules.request == WF_ROUTER_SMART) {
        model->rules.request = WF_ROUTER_SHORTEST;
    }
    model->rules.escapes = model->rules.scheme == WF_ROUTER_ADAPTIVE ? 1 : 0;
    WF_TRY(choose_flow(scheme, model, err));
    WF_TRY(check_switching(model, name, err));
    return choose_vcs(scheme, name, model, err);
}
