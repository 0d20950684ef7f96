/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of links in cycles and phits. */
#include "base/int128.h"
#include "base/mem.h"
#include "model/net/router/events/model.h"
#include "model/topo/classes.h"
#include "model/topo/nested.h"

#include <inttypes.h>
#include <stdio.h>

/* Cycles per phit. A third of 4GB/s cannot be written exactly, but as 1.33GB/s: half a percent
 * is tolerated. */
enum { PACE_MAX = UINT16_MAX, TOLERANCE = 200, KINDS_MAX = 4096 };

/* Whose properties are converted: a class or a single link, for messages. */
struct subject {
    const char *name;
    bool is_class;
};

/* A whole number of cycles, rounded up. */
static uint64_t cycles_of(const struct wf_router_net *model, int64_t ps)
{
    return ((uint64_t)ps + (uint64_t)model->set.cycle - 1) / (uint64_t)model->set.cycle;
}

/* The number of cycles in which a link moves a phit; 0 if it is not a whole number. */
static uint64_t pace_of(const struct wf_router_params *set, uint64_t bandwidth)
{
    uint64_t cycle = (uint64_t)set->cycle;
    uint64_t ps = (uint64_t)wf_transfer_ps(set->phit, bandwidth);
    uint64_t pace = (ps + cycle / 2) / cycle, exact = pace * cycle;
    uint64_t off = ps > exact ? ps - exact : exact - ps;

    return pace <= PACE_MAX && off <= exact / TOLERANCE ? pace : 0;
}

/* The bandwidth of a link that moves a phit in so many cycles. */
static uint64_t rate_of(const struct wf_router_net *model, uint64_t pace)
{
    wf_u128 per_second = (wf_u128)model->set.phit * WF_RATE_BYTE * UINT64_C(1000000000000);
    wf_u128 rate = per_second / ((wf_u128)model->set.cycle * pace);

    return rate < UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}

static enum wf_status wrong_bandwidth(const struct wf_router_net *model,
                                      const struct subject *of, uint64_t bandwidth,
                                      struct wf_err *err)
{
    char given[WF_UNITS_TEXT_MAX], most[WF_UNITS_TEXT_MAX];

    return wf_err_set(
        err, WF_EINVAL,
        "%s%s: a bandwidth of %s is not a whole fraction, down to 1/%d, of the %s "
        "that a link moves with a phit of %" PRIu64 " bytes in each cycle; expected "
        "that, a half, a third and so on, or other net.phit and net.cycle",
        of->name, of->is_class ? ".bandwidth" : "", wf_format_rate(bandwidth, given), PACE_MAX,
        wf_format_rate(rate_of(model, 1), most), model->set.phit);
}

static enum wf_status make_kind(const struct wf_router_net *model,
                                const struct wf_net_link *link, const struct subject *of,
                                struct wf_router_link_kind *kind, struct wf_err *err)
{
    const struct wf_router_params *set = &model->set;
    uint64_t pace = link->bandwidth != 0 ? pace_of(set, link->bandwidth) : 1;
    uint64_t queue = link->buffer != 0 ? link->buffer / set->packet : set->queue;
    uint64_t latency = link->latency >= 0 ? cycles_of(model, link->latency) : set->link_delay;
    uint64_t delay = link->delay >= 0 ? cycles_of(model, link->delay) : set->pipeline;
    uint64_t queue_least = model->rules.bubble ? 2 : 1;

    if (pace == 0) {
        return wrong_bandwidth(model, of, link->bandwidth, err);
    }
    if (latency + delay > WF_ROUTER_HOP_MAX) {
        return wf_err_set(
            err, WF_EINVAL,
            "%s%s: latency and delay take %" PRIu64 " cycles; at most %d are possible",
            of->name, of->is_class ? ".latency" : "", latency + delay, WF_ROUTER_HOP_MAX);
    }
    if (queue < queue_least || queue > WF_ROUTER_QUEUE_MAX) {
        return wf_err_set(err, WF_EINVAL,
                          "%s%s: a buffer of %" PRIu64 " bytes has room for %" PRIu64
                          " packets of %" PRIu64 " bytes; expected %" PRIu64 " to %d",
                          of->name, of->is_class ? ".buffer" : "", link->buffer, queue,
                          set->packet, queue_least, WF_ROUTER_QUEUE_MAX);
    }
    *kind = (struct wf_router_link_kind){
        .pipeline = (uint32_t)delay,
        .link_delay = (uint32_t)(latency > 0 ? latency : 1),
        .pace = (uint32_t)pace,
        .queue = (uint32_t)queue,
    };
    return WF_OK;
}

static bool is_same(const struct wf_router_link_kind *a, const struct wf_router_link_kind *b)
{
    return a->pipeline == b->pipeline && a->link_delay == b->link_delay && a->pace == b->pace &&
           a->queue == b->queue;
}

/* The number of the kind, which is added if it is new; KINDS_MAX if there are too many. */
static uint32_t find_kind(struct wf_router_net *model, const struct wf_router_link_kind *kind)
{
    for (uint32_t i = 0; i < model->n_kinds; i++) {
        if (is_same(&model->kinds[i], kind)) {
            return i;
        }
    }
    if (model->n_kinds == KINDS_MAX) {
        return KINDS_MAX;
    }
    model->kinds = wf_xrealloc(model->kinds, (size_t)model->n_kinds + 1, sizeof(*model->kinds));
    model->kinds[model->n_kinds] = *kind;
    return model->n_kinds++;
}

/* Rounds the values of the classes as the model uses them. */
static enum wf_status round_classes(struct wf_router_net *model, struct wf_err *err)
{
    struct wf_net_links *links = &model->links;
    uint32_t n = links->classes != NULL ? wf_topo_n_classes(links->topo) : 0;

    for (uint32_t i = 0; i < n; i++) {
        struct wf_net_link *link = &links->classes[i];
        struct wf_router_link_kind kind;
        char name[96];

        (void)snprintf(name, sizeof(name), "net.links.%s", wf_topo_class_name(links->topo, i));
        WF_TRY(make_kind(model, link, &(struct subject){name, true}, &kind, err));
        link->latency = link->latency >= 0 ? kind.link_delay * model->set.cycle : -1;
        link->delay = link->delay >= 0 ? kind.pipeline * model->set.cycle : -1;
        link->bandwidth = link->bandwidth != 0 ? rate_of(model, kind.pace) : 0;
        link->buffer = link->buffer != 0 ? kind.queue * model->set.packet : 0;
    }
    return WF_OK;
}

/* What a graph file says of its links. */
struct extremes {
    uint64_t bandwidth; /* the largest; 0: none is given */
    int64_t latency;    /* the longest */
    bool fit;           /* with these parameters a phit takes whole cycles on all of them */
};

static struct extremes extremes_of(const struct wf_router_params *set,
                                   const struct wf_topo *topo)
{
    struct extremes found = {.fit = true};

    for (uint32_t v = 0; v < topo->n_vertices && topo->ops->link_props != NULL; v++) {
        for (uint32_t port = 0; port < wf_topo_ports(topo, v); port++) {
            const struct wf_topo_link_props link = topo->ops->link_props(topo, v, port);
            found.bandwidth =
                link.bandwidth > found.bandwidth ? link.bandwidth : found.bandwidth;
            found.latency = link.latency > found.latency ? link.latency : found.latency;
            found.fit = found.fit && (link.bandwidth == 0 || pace_of(set, link.bandwidth) > 0);
        }
    }
    return found;
}

/* The queue then covers the way there and back of the longest link, or it would never be busy. */
void wf_router_fit(void *params, const struct wf_topo *topo)
{
    enum { PARTS = 64 };
    struct wf_router_params *given = params, set = *given;
    struct extremes links = extremes_of(&set, topo);

    if (links.fit) {
        return;
    }
    for (int64_t part = 1; !links.fit && part <= PARTS; part++) {
        set.cycle = wf_transfer_ps(set.phit, links.bandwidth) / part;
        if (set.cycle < 2) {
            return;
        }
        links.fit = extremes_of(&set, topo).fit;
    }
    if (links.fit) {
        int64_t packet = set.cycle * (int64_t)(set.packet / set.phit);
        int64_t queue = (int64_t)set.queue + 2 * links.latency / packet;
        given->cycle = set.cycle;
        given->queue = queue < WF_ROUTER_QUEUE_MAX ? (uint64_t)queue : WF_ROUTER_QUEUE_MAX;
    }
}

static void note_kind(struct wf_router_net *model, const struct wf_router_link_kind *kind)
{
    struct wf_router_link_kind *least = &model->least;
    uint32_t hop = kind->pipeline + kind->link_delay;

    model->least_hop = hop < model->least_hop ? hop : model->least_hop;
    least->link_delay =
        kind->link_delay < least->link_delay ? kind->link_delay : least->link_delay;
    least->pace = kind->pace < least->pace ? kind->pace : least->pace;
    least->queue = kind->queue < least->queue ? kind->queue : least->queue;
    model->capacity += kind->queue;
}

/* Finds the kind of every link, and the extremes. */
static enum wf_status find_kinds(struct wf_router_net *model, struct wf_err *err)
{
    const struct wf_topo *topo = model->topo;
    uint32_t n_links = wf_topo_first_link(topo, topo->n_vertices);
    const struct subject of = {"a link of the topology", false};

    model->kind_of = wf_xcalloc((size_t)n_links + 1, sizeof(*model->kind_of));
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        uint32_t first = wf_topo_first_link(topo, v), n_ports = wf_topo_ports(topo, v);
        for (uint32_t port = 0; port < n_ports; port++) {
            const struct wf_net_link link = wf_net_links_at(&model->links, topo, v, port);
            struct wf_router_link_kind kind;
            if (topo->ops->neighbor(topo, v, port) == WF_TOPO_NO_VERTEX) {
                continue;
            }
            WF_TRY(make_kind(model, &link, &of, &kind, err));
            uint32_t number = find_kind(model, &kind);
            if (number == KINDS_MAX) {
                return wf_err_set(err, WF_EINVAL,
                                  "the links of the topology have more than %d different "
                                  "latencies and bandwidths",
                                  KINDS_MAX - 1);
            }
            model->kind_of[first + port] = (uint16_t)number;
            note_kind(model, &kind);
        }
    }
    return WF_OK;
}

enum wf_status wf_router_make_links(struct wf_router_net *model, const struct wf_net_env *env,
                                    struct wf_err *err)
{
    const struct wf_router_params *set = &model->set;
    const struct wf_net_links_config config = {.env = env, .links = set->links, .delay = -1};
    const struct wf_router_link_kind usual = {
        (uint32_t)set->pipeline, (uint32_t)set->link_delay, 1, (uint32_t)set->queue};
    bool even = set->links == NULL || set->links[0] == '\0';

    WF_TRY(wf_net_links_init(&model->links, &config, err));
    WF_TRY(round_classes(model, err));
    model->net.link_classes = model->links.classes;
    (void)find_kind(model, &usual);
    for (uint32_t i = 0; i < model->links.n_levels; i++) {
        even = even && wf_topo_level(env->topo, i)->ops->link_props == NULL;
    }
    if (even) {
        model->least = usual;
        model->least_hop = usual.pipeline + usual.link_delay;
        model->capacity =
            (model->topo->oneway ? 1 : 2) * model->topo->n_links * (uint64_t)usual.queue;
        return WF_OK;
    }
    model->least = (struct wf_router_link_kind){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    model->least_hop = UINT32_MAX;
    WF_TRY(find_kinds(model, err));
    if (model->capacity == 0) { /* there are no links */
        model->least = usual;
        model->least_hop = usual.pipeline + usual.link_delay;
    }
    return WF_OK;
}
