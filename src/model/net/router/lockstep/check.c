/* SPDX-License-Identifier: Apache-2.0 */
/* What lock step does not simulate. */
#include "base/clock.h"
#include "base/units.h"
#include "model/net/router/lockstep/flits.h"
#include "model/net/router/lockstep/inside.h"
#include "model/net/router/lockstep/mail.h"

/* Cycles from the begin of a packet's way to the free place behind it, at most. */
static uint64_t longest_delay(const struct wf_router_net *model)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < model->n_kinds; i++) {
        const struct wf_router_link_kind *kind = &model->kinds[i];
        uint64_t hop = (uint64_t)kind->pipeline + kind->link_delay;
        uint64_t credit = (uint64_t)model->rules.phits * kind->pace + model->set.credit_delay;
        longest = hop > longest ? hop : longest;
        longest = credit > longest ? credit : longest;
    }
    return longest + model->set.turnaround;
}

/* A feature that lock step does not simulate, and whether the scenario uses it. */
struct limit {
    bool applies;
    const char *what;
};

static const char *first_of(const struct limit *limits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (limits[i].applies) {
            return limits[i].what;
        }
    }
    return NULL;
}

/* Whether the routes of a network with wormhole switching cannot deadlock, and are those of
 * wf_router_wormhole_exit(). */
static bool has_simple_routes(const struct wf_router_net *model)
{
    return model->grid != NULL &&
           (model->rules.scheme == WF_ROUTER_DATELINE ||
            (model->rules.scheme == WF_ROUTER_DOR && model->rules.rings == 0));
}

/* Whether messages are more than single packets that are sent at once or dropped. */
static bool has_mail(const struct wf_router_net *model, const struct wf_traffic *traffic)
{
    const struct wf_lockstep lock = {.model = model, .traffic = traffic};

    return wf_lockstep_mail_needed(&lock);
}

/* Wormhole switching: model/net/router/lockstep/flits.c. */
static const char *flits_limit(const struct wf_router_net *model)
{
    const struct wf_router_params *set = &model->set;
    uint32_t n_ports = model->node.n_ports + 1;
    const struct wf_router_link_kind *kind = &model->kinds[0];
    const struct limit limits[] = {
        {!has_simple_routes(model),
         "net.switching=wormhole without dateline routing on grids, or dor on meshes,"},
        {model->kind_of != NULL || kind->pace != 1, "net.switching=wormhole with net.links"},
        {set->hold_switch, "net.hold_switch"},
        {set->speculative, "net.speculative"},
        {n_ports > WF_LOCKSTEP_FLIT_PORTS ||
             n_ports * model->rules.vcs > WF_LOCKSTEP_FLIT_QUEUES,
         "net.switching=wormhole with more than 7 links or 64 queues a router"},
        {kind->queue > WF_LOCKSTEP_FLIT_PACKETS ||
             (uint64_t)kind->queue * model->rules.phits > UINT16_MAX,
         "net.switching=wormhole with queues of more than 250 packets or 65,535 flits"},
        {set->stats == WF_NET_STATS_LINKS, "net.switching=wormhole with net.stats=links"},
        {model->packets_limit > 0, "net.switching=wormhole with net.global_restriction"},
    };

    return first_of(limits, sizeof(limits) / sizeof(limits[0]));
}

static const char *any_limit(const struct wf_router_net *model,
                             const struct wf_traffic *traffic)
{
    const struct wf_router_params *set = &model->set;
    const struct wf_traffic_params *offered = traffic->set;
    bool wormhole = set->switching == WF_ROUTER_WORMHOLE;
    const char *flits = wormhole ? flits_limit(model) : NULL;
    const struct limit limits[] = {
        {flits != NULL, flits},
        {model->faults != NULL, "failures in time (net.fail)"},
        {model->notice_step > 0, "net.routing=ugal_g"},
        {set->cycle < 4, "a net.cycle below 4ps"},
        {longest_delay(model) >= WF_LOCKSTEP_WINDOW_MAX,
         "delays and packets of more than 65,535 cycles"},
        {offered->rounds > 0 && set->watchdog == 0,
         "closed loops (traffic.rounds) without net.watchdog"},
        {offered->cycle != set->cycle, "a traffic.cycle other than that of the network"},
        {offered->cycles > INT32_MAX, "more than 2,147,483,647 cycles"},
        {wormhole && has_mail(model, traffic),
         "net.switching=wormhole with messages other than single packets that are sent at once "
         "or dropped"},
    };

    return first_of(limits, sizeof(limits) / sizeof(limits[0]));
}

/* Kernels are for grids, whose routers they hold in tiles: wf_lockstep_fits_tiles(). Elsewhere they
 * would be slower than cores. */
static const char *device_limit(const struct wf_router_net *model,
                                const struct wf_traffic *traffic)
{
    const struct wf_traffic_pattern_facts facts = wf_traffic_pattern_facts(traffic->pattern);
    const struct limit limits[] = {
        {model->set.switching == WF_ROUTER_WORMHOLE, "net.switching=wormhole"},
        {model->rules.scheme == WF_ROUTER_POLICY,
         "a routing policy, such as net.routing=minimal,"},
        {model->grid == NULL, "a network that is not a grid"},
        {model->node.n_inputs > WF_LOCKSTEP_TILE_INPUTS, "a router with more than 32 queues"},
        {model->packets_limit > 0, "net.global_restriction"},
        {model->set.stats == WF_NET_STATS_LINKS, "net.stats=links"},
        {facts.kind == WF_TRAFFIC_OTHER_PATTERN, "this traffic pattern"},
        {has_mail(model, traffic),
         "traffic other than single packets that are sent at once or dropped"},
    };

    return first_of(limits, sizeof(limits) / sizeof(limits[0]));
}

/* Long queues take memory even if they are empty. */
static enum wf_status check_memory(const struct wf_lockstep_config *config, struct wf_err *err)
{
    uint64_t bytes = wf_lockstep_bytes(config), there = wf_clock_memory();
    char needed[WF_UNITS_TEXT_MAX], has[WF_UNITS_TEXT_MAX];

    if (there == 0 || bytes <= there) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EUSAGE,
                      "lock step would need about %s of memory for all places of all queues; "
                      "the machine has %s; use --exec events, or a smaller net.queue or "
                      "net.injection_length",
                      wf_human_size(bytes, needed), wf_human_size(there, has));
}

enum wf_status wf_lockstep_check(const struct wf_lockstep_config *config, struct wf_err *err)
{
    const struct wf_router_net *model = wf_router_of(config->net);

    if (config->net->ops != &wf_net_router_ops) {
        return wf_err_set(err, WF_EUSAGE,
                          "lock step simulates the network model 'router', not '%s'; use "
                          "--exec events",
                          config->net->ops->name);
    }
    const char *what = any_limit(model, config->traffic);
    if (what != NULL) {
        return wf_err_set(err, WF_EUSAGE, "%s cannot be simulated %s; use --exec events", what,
                          config->device ? "on a device" : "in lock step");
    }
    if (!config->device) {
        return check_memory(config, err);
    }
    what = device_limit(model, config->traffic);
    if (what != NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "%s cannot be simulated on a device; use --exec lockstep", what);
    }
    return WF_OK;
}

bool wf_lockstep_has_flits(const struct wf_net *net)
{
    return net->ops == &wf_net_router_ops &&
           wf_router_of(net)->set.switching == WF_ROUTER_WORMHOLE;
}
