/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and tables of a run. */
#include "base/mem.h"
#include "model/net/router/lockstep/form.h"
#include "model/net/router/lockstep/inside.h"
#include "model/net/router/lockstep/mail.h"
#include "model/net/router/lockstep/place.h"

#include <math.h>
#include <stdlib.h>

_Static_assert((int)WF_LOCKSTEP_TARGETS_MAX == WF_NET_WAIT_TARGETS, "waits");

/* A probability in units of 2^-53, as the comparison `draw * 2^-53 < chance` has it. */
static uint64_t chance_of(double chance)
{
    return (uint64_t)ceil(chance * 0x1p53);
}

/* The mask of a wheel with a place for each delay up to `longest` cycles. */
static uint32_t mask_for(uint64_t longest)
{
    uint32_t mask = 1;

    while (mask < longest) {
        mask = 2 * mask + 1;
    }
    return mask;
}

static void size_wheels(struct wf_lockstep_net *net, const struct wf_router_net *model)
{
    uint64_t hop = 1, credit = 1;

    net->queue = 1;
    for (uint32_t i = 0; i < model->n_kinds; i++) {
        const struct wf_router_link_kind *kind = &model->kinds[i];
        uint64_t back = (uint64_t)model->rules.phits * kind->pace + model->set.credit_delay;
        uint64_t there = (uint64_t)kind->pipeline + kind->link_delay;
        hop = there > hop ? there : hop;
        credit = back > credit ? back : credit;
        net->queue = kind->queue > net->queue ? kind->queue : net->queue;
    }
    net->head_delay = (uint32_t)hop;
    net->credit_delay_max = (uint32_t)credit;
    net->head_last = mask_for(hop);
    net->credit_last = mask_for(credit);
}

static void size_network(struct wf_lockstep_net *net, const struct wf_router_net *model)
{
    const struct wf_router_params *set = &model->set;

    net->rules = model->rules;
    net->n = model->topo->n_vertices;
    net->n_nodes = model->topo->n_nodes;
    net->node_ports = model->node.n_ports;
    net->other_ports = model->other.n_ports;
    net->n_ports = net->node_ports > net->other_ports ? net->node_ports : net->other_ports;
    net->n_injection = model->node.n_injection;
    net->injection_length = (uint32_t)set->injection_length;
    net->n_inputs = model->node.n_inputs > model->other.n_inputs ? model->node.n_inputs
                                                                 : model->other.n_inputs;
    net->n_words = (net->n_inputs + 31) / 32;
    net->credit_delay = (uint32_t)set->credit_delay;
    net->n_kinds = model->n_kinds;
    net->has_kinds = model->kind_of != NULL;
    size_wheels(net, model);
}

/* Rules beside those of struct wf_router_rules. */
static void set_rules(struct wf_lockstep_net *net, const struct wf_router_net *model)
{
    const struct wf_router_params *set = &model->set;

    net->consume_one = set->consume_one;
    net->has_more =
        model->rules.scheme == WF_ROUTER_POLICY ||
        (model->rules.scheme == WF_ROUTER_UPDOWN && model->rules.request == WF_ROUTER_SOURCE) ||
        set->stats == WF_NET_STATS_LINKS;
    net->limit = model->packets_limit;
    net->stats = set->stats != WF_NET_STATS_OFF;
    net->watchdog = (uint32_t)set->watchdog;
    net->cycle_ps = (uint64_t)set->cycle;
}

static void set_traffic(struct wf_lockstep_net *net, const struct wf_traffic *traffic)
{
    const struct wf_traffic_params *set = traffic->set;
    const struct wf_traffic_pattern_facts facts = wf_traffic_pattern_facts(traffic->pattern);
    static const uint32_t patterns[] = {
        [WF_TRAFFIC_UNIFORM] = WF_LOCKSTEP_UNIFORM,
        [WF_TRAFFIC_PERMUTATION] = WF_LOCKSTEP_TABLE,
        [WF_TRAFFIC_HOT_SPOT] = WF_LOCKSTEP_HOT_SPOT,
        [WF_TRAFFIC_HOT_REGION] = WF_LOCKSTEP_HOT_REGION,
        [WF_TRAFFIC_OTHER_PATTERN] = WF_LOCKSTEP_OTHER,
    };

    net->pattern = patterns[facts.kind];
    net->self = facts.set->self;
    net->hot = chance_of(facts.set->hot);
    net->hot_node = (uint32_t)facts.set->hot_node;
    net->hot_nodes = (uint32_t)facts.set->hot_nodes;
    net->drop = set->drop;
    net->burst = (uint32_t)set->burst;
    net->batch_ps = traffic->batch_ps > 0 ? (uint64_t)traffic->batch_ps : UINT64_MAX;
    net->message_bytes = set->size;
    net->silent = traffic->chance <= 0;
    net->scale = net->silent ? 0 : wf_traffic_scale(traffic->chance);
    net->has_scales = traffic->factors != NULL;
    net->end = set->rounds > 0 ? (uint32_t)INT32_MAX : (uint32_t)set->cycles;
}

/* The tables are constant for the step only. */
static void fill_links(const struct wf_lockstep *lock)
{
    const struct wf_lockstep_net *net = &lock->net;
    const struct wf_router_net *model = lock->model;
    const struct wf_topo *topo = model->topo;
    uint32_t *neighbor = wf_unconst(net->neighbor);
    uint16_t *in_port = wf_unconst(net->in_port), *kind_of = wf_unconst(net->kind_of);

    for (uint32_t r = 0; r < net->n; r++) {
        uint32_t n_ports = wf_topo_ports(topo, r), first = wf_topo_first_link(topo, r);
        for (uint32_t port = 0; port < net->n_ports; port++) {
            size_t at = wf_lockstep_port(net, r, port);
            neighbor[at] =
                port < n_ports ? topo->ops->neighbor(topo, r, port) : WF_TOPO_NO_VERTEX;
            if (neighbor[at] == WF_TOPO_NO_VERTEX) {
                neighbor[at] = WF_LOCKSTEP_NONE;
                continue;
            }
            in_port[at] = (uint16_t)wf_router_in_port(model, r, port);
            if (kind_of != NULL) {
                kind_of[at] = model->kind_of[first + port];
            }
        }
    }
}

/* With one-way links, input ports have numbers of their own. */
static void fill_before(struct wf_lockstep *lock)
{
    const struct wf_router_net *model = lock->model;
    const struct wf_lockstep_net *net = &lock->net;

    if (model->inward.first == NULL) {
        return;
    }
    lock->before = wf_xcalloc((size_t)net->n * net->n_ports, sizeof(*lock->before));
    for (uint32_t r = 0; r < net->n; r++) {
        uint32_t n = model->inward.first[r + 1] - model->inward.first[r];
        for (uint32_t port = 0; port < net->n_ports; port++) {
            struct wf_lockstep_end *end = &lock->before[wf_lockstep_port(net, r, port)];
            *end = (struct wf_lockstep_end){WF_LOCKSTEP_NONE, WF_LOCKSTEP_NONE};
            if (port < n) {
                const struct wf_router_end from = wf_router_before(model, r, port);
                *end = (struct wf_lockstep_end){from.vertex, from.port};
            }
        }
    }
    lock->net.before = lock->before;
}

static void fill_kinds(struct wf_lockstep *lock)
{
    struct wf_lockstep_kind *kinds = wf_unconst(lock->net.kinds);

    for (uint32_t i = 0; i < lock->net.n_kinds; i++) {
        const struct wf_router_link_kind *kind = &lock->model->kinds[i];
        kinds[i] = (struct wf_lockstep_kind){
            .hop = kind->pipeline + kind->link_delay, .pace = kind->pace, .queue = kind->queue};
        lock->net.slow = lock->net.slow != 0 || kind->pace > 1;
    }
    lock->net.kind = kinds[0];
}

static void fill_coords(const struct wf_lockstep *lock)
{
    const struct wf_lockstep_net *net = &lock->net;
    uint16_t *coords = wf_unconst(net->coords);
    uint32_t *size = wf_unconst(net->size);

    for (uint32_t d = 0; d < net->rules.n_dims; d++) {
        size[d] = lock->model->grid->size[d];
    }
    for (uint32_t r = 0; net->rules.n_dims > 0 && r < net->n; r++) {
        const uint16_t *own = wf_router_coords_of(lock->model, r);
        for (uint32_t d = 0; d < net->rules.n_dims; d++) {
            coords[wf_lockstep_at(r, d, net->rules.n_dims)] = own[d];
        }
    }
}

static void fill_traffic(const struct wf_lockstep *lock)
{
    const struct wf_lockstep_net *net = &lock->net;
    const struct wf_traffic *traffic = lock->traffic;
    uint32_t *partners = wf_unconst(net->partners);
    double *scales = wf_unconst(net->scales);

    for (uint32_t node = 0; node < net->n_nodes; node++) {
        if (partners != NULL) {
            struct wf_traffic_draw draw = {.node = node};
            int64_t dst = wf_traffic_pattern_next(traffic->pattern, &draw);
            partners[node] = dst < 0 ? WF_LOCKSTEP_NONE : (uint32_t)dst;
        }
        if (scales != NULL) {
            double chance = wf_traffic_chance(traffic, node);
            scales[node] = chance > 0 ? wf_traffic_scale(chance) : -1;
        }
    }
}

uint64_t wf_lockstep_bytes(const struct wf_lockstep_config *config)
{
    struct wf_lockstep lock = {.model = wf_router_of(config->net), .traffic = config->traffic};

    size_network(&lock.net, lock.model);
    lock.net.has_more = 1;
    return wf_lockstep_place(&lock.net, &lock);
}

enum wf_status wf_lockstep_new(const struct wf_lockstep_config *config,
                               struct wf_lockstep **out, struct wf_err *err)
{
    WF_TRY(wf_lockstep_check(config, err));
    struct wf_lockstep *lock = wf_xcalloc(1, sizeof(*lock));

    lock->model = wf_router_of(config->net);
    lock->traffic = config->traffic;
    size_network(&lock->net, lock->model);
    set_rules(&lock->net, lock->model);
    set_traffic(&lock->net, lock->traffic);
    wf_lockstep_mail_set(&lock->net, lock);
    if (lock->net.mail.needed != 0) {
        lock->net.has_more = 1;
    }
    lock->tables = wf_xcalloc(1, wf_lockstep_place_tables(&lock->net, lock));
    (void)wf_lockstep_place_tables(&lock->net, lock->tables);
    fill_kinds(lock);
    fill_links(lock);
    fill_before(lock);
    fill_coords(lock);
    fill_traffic(lock);
    lock->net.host = lock;
    *out = lock;
    return WF_OK;
}

bool wf_lockstep_is_frequent(const struct wf_lockstep_config *config)
{
    struct wf_lockstep *lock = NULL;
    bool is_frequent = wf_lockstep_new(config, &lock, NULL) == WF_OK &&
                       lock->model->set.switching != WF_ROUTER_WORMHOLE &&
                       wf_lockstep_grid(&lock->net) != NULL;

    wf_lockstep_free(lock);
    return is_frequent;
}

void wf_lockstep_free(struct wf_lockstep *lock)
{
    if (lock != NULL) {
        free(lock->tables);
        free(lock->before);
        free(lock);
    }
}

const struct wf_lockstep_net *wf_lockstep_net(const struct wf_lockstep *lock)
{
    return &lock->net;
}
