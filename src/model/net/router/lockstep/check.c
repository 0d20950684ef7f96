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

/* A name and a reason for each limit; those after DEVICE_ONLY are limits of devices. */
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

static const char *router_limit(const struct wf_router_net *model)
{
    const struct wf_router_params *set = &model->set;
    const char *flits =
        set->switching == WF_ROUTER_WORMHOLE ? wf_lockstep_flits_limit(model) : NULL;
    const struct limit limits[] = {
        {flits != NULL, flits},
        {model->faults != NULL, "failures in time (net.fail)"},
        {model->notice_step > 0, "net.routing=ugal_g"},
        {set->cycle < 4, "a net.cycle below 4ps"},
        {longest_delay(model) >= WF_LOCKSTEP_WINDOW_MAX,
         "delays and packets of more than 65,535 cycles"},
    };

    return first_of(limits, sizeof(limits) / sizeof(limits[0]));
}

static const char *traffic_limit(const struct wf_router_net *model,
                                 const struct wf_traffic *traffic)
{
    const struct wf_traffic_params *set = traffic->set;
    const struct limit limits[] = {
        {set->rounds > 0 && model->set.watchdog == 0,
         "closed loops (traffic.rounds) without net.watchdog"},
        {set->cycle != model->set.cycle, "a traffic.cycle other than that of the network"},
        {set->cycles > INT32_MAX, "more than 2,147,483,647 cycles"},
    };

    return first_of(limits, sizeof(limits) / sizeof(limits[0]));
}

/* Whether messages are more than single packets that are sent at once or dropped. */
static bool has_mail(const struct wf_router_net *model, const struct wf_traffic *traffic)
{
    const struct wf_lockstep lock = {.model = model, .traffic = traffic};

    return wf_lockstep_mail_needed(&lock);
}

static const char *flits_limit(const struct wf_router_net *model,
                               const struct wf_traffic *traffic)
{
    return model->set.switching == WF_ROUTER_WORMHOLE && has_mail(model, traffic)
               ? "net.switching=wormhole with messages other than single packets that are sent "
                 "at once or dropped"
               : NULL;
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
    const char *what = router_limit(model);
    what = what == NULL ? traffic_limit(model, config->traffic) : what;
    what = what == NULL ? flits_limit(model, config->traffic) : what;
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
