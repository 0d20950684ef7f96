/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/packet/packet.h"

#include "base/mem.h"
#include "model/net/packet/hop.h"
#include "model/net/topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const timing_names[] = {"cut_through", "store_and_forward", NULL};
static const char *const buffers_names[] = {"unbounded", "credits", NULL};
static const char *const nic_names[] = {"fcfs", "rr", NULL};
static const char *const adapt_names[] = {"packet", "message", NULL};
static const char *const preset_names[] = {"none", "torusnet", NULL};

/* The figures of the torus network of CODES as TraceR's examples use it: packets that are
 * chunks, links of 2 GB/s, buffers of 64 KiB. The timing is weft's (docs/models/packet.md). */
static const char *const torusnet[] = {
    "packet",  "512B",    "bandwidth", "2GB/s", "router_delay", "50ns", "link_latency", "50ns",
    "buffers", "credits", "vc_bytes",  "64KiB", "nic",          "fcfs", NULL,
};

static const struct wf_net_preset presets[] = {{"torusnet", torusnet}, {NULL, NULL}};

#define ROW(name_, type_, member_)             \
    .name = (name_), .type = WF_PARAM_##type_, \
    .offset = offsetof(struct wf_packet_params, member_)

static const struct wf_param params_table[] = {
    {ROW("preset", ENUM, preset), .def = "none", .choices = preset_names,
     .doc = "Values for the parameters that are not given: torusnet is the torus of CODES"},
    {ROW("packet", SIZE, packet), .def = "512B", .min = "1B", .max = "1GiB",
     .doc = "Bytes of a message in a packet, at most"},
    {ROW("header", SIZE, header), .def = "0B", .max = "64KiB",
     .doc = "Bytes of the header of each packet"},
    {ROW("bandwidth", RATES, bandwidth), .def = "10GB/s", .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "Bandwidth of a link; in a hierarchy, one value for all levels or one for each, "
            "outermost first"},
    {ROW("link_latency", TIMES, link_latency), .def = "50ns", .min = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Time from one end of a link to the other; in a hierarchy as bandwidth"},
    {ROW("router_delay", TIME, router_delay), .def = "50ns", .min = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Time from a packet's arrival at a router to its output port"},
    WF_NET_LINKS_ROW(struct wf_packet_params),
    {ROW("burst", SIZE, burst), .def = "0B", .max = "1GiB",
     .doc = "Links are token buckets: after a pause a link passes this many bytes at once, "
            "and its bandwidth limits only what follows; 0 is none"},
    {ROW("injection", TEXT, injection), .def = "link",
     .doc = "Bandwidth from a node into the network: link (that of its link), unlimited or a "
            "rate"},
    {ROW("ejection", TEXT, ejection), .def = "unlimited",
     .doc = "Bandwidth from the network into a node: as injection"},
    {ROW("timing", ENUM, timing), .def = "cut_through", .choices = timing_names,
     .doc = "Whether a router forwards a packet when its head has arrived, or when all of it "
            "has"},
    {ROW("nic", ENUM, nic), .def = "fcfs", .choices = nic_names,
     .doc = "How a node sends several messages: one after another, or a packet of each in "
            "turn"},
    {ROW("control_queue", BOOL, control_queue), .def = "off",
     .doc = "Whether messages without data of the program, such as those that prepare a "
            "rendezvous, have a queue of their own in the interface, which goes first"},
    {ROW("routing", TEXT, routing), .def = "minimal",
     .doc = "Routing policy; usual is what machines with this topology do"},
    {ROW("routing_file", TEXT, routing_file), .only_with = "routing=table", .def = "",
     .doc = "File for a routing policy that reads one"},
    {ROW("adapt", ENUM, adapt), .def = "packet", .choices = adapt_names,
     .doc = "With a routing policy that goes by queues or chance: what a router chooses a port "
            "for, each packet or the first one of a message, which the others follow"},
    {ROW("ecmp", ENUM, ecmp), .only_with = "routing=ecmp", .def = "flow",
     .choices = wf_route_flow_names,
     .doc = "With routing ecmp, which packets take the same route: all between two nodes "
            "(flow), those of a message, or each its own"},
    {ROW("info_step", SIZE, info_step), .only_with = "routing=ugal_g", .def = "2KiB",
     .max = "1GiB",
     .doc = "With routing ugal_g: routers notify their neighbours when a queue differs by "
            "this much from what they were told last"},
    {ROW("ugal_threshold", SIZE, ugal_threshold),
     .only_with = "routing=ugal_l|ugal_g|par|usual", .def = "0B", .max = "1GiB",
     .doc = "With UGAL and PAR: a packet takes the detour only if waiting bytes times hops on "
            "the minimal route exceed those on the detour by more than this"},
    {ROW("fail", TEXT, fail), .def = "",
     .doc = "Broken parts, as link:12-13,router:40,links:5%, from the start or for some time, "
            "as link:12-13@2ms-5ms; routes avoid them"},
    {ROW("fail_action", ENUM, fail_action), .only_with = "fail!=", .def = "resend",
     .choices = wf_fault_action_names,
     .doc = "What becomes of packets in the queue of a link or on it when the link fails: "
            "their source sends them again, or they are lost"},
    {ROW("resend_delay", TIME, resend_delay), .only_with = "fail!=", .def = "10us",
     .min = "1ps", .max = "1h",
     .doc = "Time after which the source sends a packet again that met a failure"},
    {ROW("buffers", ENUM, buffers), .def = "unbounded", .choices = buffers_names,
     .doc = "Whether queues are unbounded, or finite with packets that wait for credits"},
    {ROW("vc_bytes", SIZE, vc_bytes), .only_with = "buffers=credits", .def = "16KiB",
     .max = "1GiB",
     .doc = "With credits: capacity of a virtual channel at the end of each link"},
    {ROW("n_vcs", COUNT, n_vcs), .only_with = "buffers=credits", .def = "0", .max = "64",
     .doc = "With credits: virtual channels of a link; 0 is as many as the routing needs"},
    {ROW("stats", ENUM, stats), .def = "off", .choices = wf_net_stats_names,
     .doc = "What the result says of the network: nothing, a summary with the busiest links, "
            "every link with its load over time and its main senders, or the summary with "
            "the use of each link class"},
    {ROW("stats_window", TIME, stats_window), .only_with = "stats!=off", .def = "0",
     .max = "1h",
     .doc = "With stats: also the bytes on all links in each window of this length; 0 is none"},
    {ROW("trains", BOOL, trains), .def = "on",
     .doc = "Whether packets that follow each other undisturbed are simulated as one: the "
            "same times, computed faster"},
    WF_TRANSPORT_ROWS(struct wf_packet_params),
    WF_PARAM_END,
};

static enum wf_status make_links(struct wf_packet_net *model,
                                 const struct wf_packet_params *given,
                                 const struct wf_net_env *env, struct wf_err *err)
{
    const char *no_buffers = given->buffers == WF_PACKET_UNBOUNDED
                                 ? "buffers are unbounded; set net.buffers=credits"
                                 : NULL;
    const struct wf_net_links_config by_class = {
        .env = env,
        .links = given->links,
        .refused = {[WF_NET_LINK_BUFFER] = no_buffers},
        .latency = &given->link_latency,
        .bandwidth = &given->bandwidth,
        .delay = given->router_delay,
        .buffer = given->vc_bytes,
    };

    WF_TRY(wf_net_links_init(&model->classes, &by_class, err));
    const struct wf_packet_links_config config = {
        .topo = model->topo,
        .links = &model->classes,
        .full_bytes = given->packet + given->header,
        .burst = given->burst,
    };
    return wf_packet_links_init(&model->links, &config, err);
}

/* The kind of link with the bandwidth between a node and its router. */
static enum wf_status make_limit(struct wf_packet_net *model, const char *name,
                                 const char *text, uint32_t *out, struct wf_err *err)
{
    uint64_t rate = 0;

    if (strcmp(text, "unlimited") == 0) {
        *out = WF_PACKET_UNLIMITED;
        return WF_OK;
    }
    if (strcmp(text, "link") == 0) {
        *out = model->links.own;
        return WF_OK;
    }
    if (wf_parse_rate(text, &rate, NULL) != WF_OK) {
        return wf_err_set(err, WF_EINVAL,
                          "net.%s: '%.64s': expected link, unlimited or a rate such as 10GB/s",
                          name, text);
    }
    *out = wf_packet_links_add_kind(&model->links, rate);
    return WF_OK;
}

static enum wf_status make_route(struct wf_packet_net *model,
                                 const struct wf_packet_params *given, struct wf_err *err)
{
    const struct wf_route_ops *ops = NULL;

    bool unbounded = given->buffers == WF_PACKET_UNBOUNDED;

    WF_TRY(wf_route_find_on(model->topo, given->routing, &ops, err));
    if (!wf_fault_has_times(given->fail)) {
        WF_TRY(wf_route_create_within(ops, model->topo, given->routing_file,
                                      unbounded ? WF_VC_UNLIMITED : WF_VC_MAX, &model->route,
                                      err));
        model->route->threshold = given->ugal_threshold;
        return WF_OK;
    }
    const struct wf_fault_config config = {
        .topo = model->topo,
        .fail = given->fail,
        .policy = ops,
        .n_vcs = unbounded ? WF_VC_UNLIMITED : WF_VC_MAX / 2,
        .threshold = given->ugal_threshold,
    };
    WF_TRY(wf_fault_plan_create(&config, &model->faults, err));
    model->route = wf_fault_route(model->faults, 0);
    model->fail_action = (enum wf_fault_action)given->fail_action;
    model->resend_delay = given->resend_delay;
    return WF_OK;
}

/* Removes what has failed from the start. What fails later is still there. */
static enum wf_status break_topology(struct wf_packet_net *model, const struct wf_topo *whole,
                                     const struct wf_packet_params *given, struct wf_err *err)
{
    model->topo = whole;
    if (wf_fault_has_times(given->fail)) {
        return WF_OK;
    }
    return wf_net_topology_break(whole, given->fail, &model->topo, &model->damaged, err);
}

static void other_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    const struct wf_packet_net *model = wf_model(ctx);

    wf_packet_stats_commit(&model->net, ev, ctx);
}

static void other_finish(const void *state, struct wf_ctx *ctx)
{
    struct wf_packet_view view;

    wf_packet_view_at_other(&view, wf_model(ctx), ctx, wf_unconst(state)); /* only read */
    wf_packet_stats_finish(&view);
}

static void packet_finish(const struct wf_net *net, struct wf_ctx *ctx, const void *node,
                          uint32_t nic, struct wf_net_totals *totals)
{
    struct wf_packet_view view;

    wf_packet_view_at_node(&view, wf_packet_of(net), ctx, wf_unconst(node),
                           nic); /* only read */
    const struct wf_packet_node *own = view.node;
    totals->nodes++;
    totals->fingerprint += own->fingerprint;
    totals->packets_sent += own->packets_sent;
    totals->packets_received += own->packets_received;
    totals->bytes_sent += own->bytes_sent;
    totals->bytes_received += own->bytes_received;
    if (view.model->faults != NULL) {
        const struct wf_net_totals lost = {.losses = *wf_packet_fault_losses(&view)};
        wf_net_totals_merge(totals, &lost);
    }
    wf_packet_stats_finish(&view);
}

static void packet_destroy(struct wf_net *net)
{
    struct wf_packet_net *model = (struct wf_packet_net *)net;

    wf_packet_links_fini(&model->links);
    wf_net_links_fini(&model->classes);
    wf_route_free(model->faults == NULL ? model->route : NULL);
    wf_fault_plan_free(model->faults);
    wf_topo_free(model->damaged);
    free(model);
}

/* Token buckets replace the timing of packets on a link, so what depends on that timing does
 * not go with them. Packets enter the network as fast as its first link takes them. */
static enum wf_status make_bursts(struct wf_packet_net *model,
                                  const struct wf_packet_params *given, struct wf_err *err)
{
    const char *not_with = given->buffers != WF_PACKET_UNBOUNDED ? "net.buffers=credits"
                           : given->timing != WF_PACKET_CUT_THROUGH
                               ? "net.timing=store_and_forward"
                           : model->faults != NULL       ? "failures in time"
                           : model->route->ops->asks_far ? "net.routing=ugal_g"
                                                         : NULL;

    if (given->burst == 0) {
        return WF_OK;
    }
    if (not_with != NULL) {
        return wf_err_set(err, WF_EUSAGE, "net.burst cannot be used with %s", not_with);
    }
    /* Messages that take turns have to wait for them in the interface. */
    if (strcmp(given->injection, "link") == 0 && given->nic == WF_PACKET_FCFS &&
        !given->control_queue) {
        model->injection = WF_PACKET_UNLIMITED;
    }
    return WF_OK;
}

/* Creates finite buffers, if the parameters ask for them. */
static enum wf_status make_channels(struct wf_packet_net *model,
                                    const struct wf_packet_params *given, struct wf_err *err)
{
    /* With failures in time there are two sets of channels (model/net/packet/fault.c). */
    uint32_t sets = model->faults != NULL ? 2 : 1;
    uint32_t needed =
        sets * (sets > 1 ? wf_fault_n_vcs(model->faults) : model->route->vcs.n_vcs);

    if (given->buffers == WF_PACKET_UNBOUNDED) {
        model->route->vcs.is_unlimited = true;
        return WF_OK;
    }
    if (model->topo->oneway) {
        return wf_err_set(
            err, WF_EINVAL,
            "net.buffers: credits need links in both directions, but some links of "
            "the topology are one-way");
    }
    if (needed > WF_VC_MAX) {
        return wf_err_set(
            err, WF_EINVAL,
            "net.buffers: routing '%s' needs %" PRIu32 " virtual channels on this "
            "topology to be free of deadlock, and credits have at most %d; choose "
            "another policy or unbounded buffers",
            model->route->ops->name, needed, WF_VC_MAX);
    }
    if (given->n_vcs != 0 && given->n_vcs < needed) {
        return wf_err_set(err, WF_EINVAL,
                          "net.n_vcs: routing '%s' needs %" PRIu32
                          " virtual channels on this topology to be free of deadlock",
                          model->route->ops->name, needed);
    }
    for (uint32_t i = 0; i < model->links.n_kinds; i++) {
        if (model->links.kinds[i].slots == 0) {
            return wf_err_set(err, WF_EINVAL, "%s: a packet of %" PRIu64 " bytes does not fit",
                              given->vc_bytes < model->links.full_bytes ? "net.vc_bytes"
                                                                        : "net.links",
                              model->links.full_bytes);
        }
    }
    model->channels_per_vc = given->n_vcs == 0 ? 1 : (uint32_t)given->n_vcs / needed;
    model->n_channels = needed * model->channels_per_vc;
    model->set_channels = model->n_channels / sets;
    return WF_OK;
}

static void find_extremes(struct wf_packet_net *model)
{
    const struct wf_packet_links *links = &model->links;

    for (uint32_t i = 1; i < links->n_kinds; i++) {
        int64_t ps = links->kinds[i].full_ps;
        model->fastest = ps < links->kinds[model->fastest].full_ps ? i : model->fastest;
        model->slowest = ps > links->kinds[model->slowest].full_ps ? i : model->slowest;
    }
}

static void finish_model(struct wf_packet_net *model, const struct wf_packet_params *given,
                         const struct wf_net_env *env)
{
    const struct wf_topo *topo = model->topo;
    const struct wf_net_ends ends = wf_net_ends_of(env);
    int64_t least = wf_packet_links_least_delay(&model->links);

    find_extremes(model);
    model->timing = (enum wf_packet_timing)given->timing;
    model->nic = (enum wf_packet_nic)given->nic;
    model->control_queue = given->control_queue && given->transport.kind == 0;
    model->next_ports = !model->route->ops->follows_topology ? WF_PACKET_BY_POLICY
                        : model->n_channels > 0              ? WF_PACKET_BY_CHANNELS
                                                             : WF_PACKET_BY_TOPOLOGY;
    bool is_fixed = model->route->ops->is_oblivious;
    model->flow = model->route->ops->is_by_flow ? given->ecmp : WF_ROUTE_FLOW_PAIR;
    model->adapt = is_fixed || given->transport.kind != 0 ? WF_PACKET_BY_PACKET
                                                          : (enum wf_packet_adapt)given->adapt;
    bool together =
        model->faults == NULL && (model->adapt == WF_PACKET_BY_MESSAGE ||
                                  (is_fixed && model->flow != WF_ROUTE_FLOW_PACKET));
    bool overtake =
        !is_fixed || model->flow == WF_ROUTE_FLOW_MESSAGE || wf_packet_nic_overtakes(model);
    model->order = !together  ? WF_PACKET_PACKETS_OVERTAKE
                   : overtake ? WF_PACKET_MESSAGES_OVERTAKE
                              : WF_PACKET_IN_ORDER;
    model->pace = model->injection == WF_PACKET_UNLIMITED
                      ? 0
                      : model->links.kinds[model->injection].full_ps;
    model->packet_bytes = (uint32_t)given->packet;
    model->header_bytes = (uint32_t)given->header;
    /* Ports serve trains one picosecond after an arrival, so the promise is one less than the
     * least delay (model/net/packet/train.c). */
    model->trains = given->trains && together && least >= 2 && model->n_channels == 0 &&
                    given->burst == 0 && !model->route->ops->asks_far;

    bool counts = given->stats != WF_NET_STATS_OFF;
    uint64_t step = given->info_step / model->links.full_bytes;
    model->notice_step = !model->route->ops->asks_far ? 0 : step > 0 ? (uint32_t)step : 1;
    size_t each = model->n_channels * sizeof(struct wf_packet_channel) +
                  (counts ? sizeof(struct wf_packet_port_stats) : 0) +
                  (model->notice_step > 0 ? sizeof(struct wf_packet_port_notice) : 0);
    model->stats = given->stats;
    model->stats_window = counts ? given->stats_window : 0;
    model->node_ports = wf_net_ports_max(topo, 0, ends.after + ends.gaps);
    model->other_ports = wf_net_ports_max(topo, ends.whole, topo->n_vertices);
    model->port_size = each;
    each += model->stats == WF_NET_STATS_LINKS ? sizeof(struct wf_net_link_load) : 0;
    size_t units = model->adapt == WF_PACKET_BY_MESSAGE ? wf_packet_adapt_size() : 0;
    model->ports_size =
        wf_packet_ports_bytes(model->node_ports) + model->node_ports * each + units;
    model->other_size =
        wf_packet_ports_bytes(model->other_ports) + model->other_ports * each + units;
    model->other_ops = (struct wf_process_ops){
        .name = "router",
        .payload_max = sizeof(struct wf_packet_last_event),
        .announces_changes = true,
        .commit = model->stats_window > 0 ? other_commit : NULL,
        .finish = counts ? other_finish : NULL,
    };
    model->own_size = wf_packet_has_queue(model) || model->order != WF_PACKET_IN_ORDER ||
                              given->transport.kind != 0
                          ? sizeof(struct wf_packet_node)
                          : WF_PACKET_NODE_PLAIN;
    model->losses_at = model->ports_size + model->own_size +
                       (counts ? WF_NET_STATS_HOPS * sizeof(uint64_t) : 0);
    model->net = (struct wf_net){
        .ops = &model->ops,
        .route_topo =
            model->next_ports == WF_PACKET_BY_TOPOLOGY && model->faults == NULL ? topo : NULL,
        .faults = model->faults,
        .node_size =
            model->losses_at + (model->faults != NULL ? sizeof(struct wf_net_losses) : 0),
        .payload_max = sizeof(struct wf_packet_last_event),
        .promise_ps = model->trains ? least - 1 : least,
        .link_classes = model->classes.classes,
        .ahead = wf_packet_has_queue(model) ? WF_NET_NOW : WF_NET_IN_ORDER,
        .ends = ends,
    };
    wf_packet_stats_init(model);
    wf_packet_choose_handlers(model);
}

static enum wf_status make_model(struct wf_packet_net *model,
                                 const struct wf_packet_params *given,
                                 const struct wf_net_env *env, struct wf_err *err)
{
    WF_TRY(break_topology(model, env->topo, given, err));
    WF_TRY(make_links(model, given, env, err));
    WF_TRY(make_limit(model, "injection", given->injection, &model->injection, err));
    WF_TRY(make_limit(model, "ejection", given->ejection, &model->ejection, err));
    WF_TRY(make_route(model, given, err));
    WF_TRY(make_bursts(model, given, err));
    WF_TRY(make_channels(model, given, err));
    WF_TRY(wf_fault_check(given->fail, given->fail_action, given->resend_delay,
                          wf_packet_links_least_delay(&model->links), err));
    finish_model(model, given, env);
    return given->transport.kind != 0 ? wf_transport_setup(model, given, err) : WF_OK;
}

static enum wf_status packet_create(const void *params, const struct wf_net_env *env,
                                    struct wf_net **out, struct wf_err *err)
{
    const struct wf_packet_params *given = params;

    WF_TRY(wf_net_levels_check("packet", env, &given->link_latency, &given->bandwidth, err));

    struct wf_packet_net *model =
        wf_xcalloc(1, given->transport.kind != 0 ? wf_transport_size() : sizeof(*model));

    enum wf_status status = make_model(model, given, env, err);
    if (status != WF_OK) {
        packet_destroy(&model->net);
        return status;
    }
    *out = &model->net;
    return WF_OK;
}

static void packet_attach(struct wf_net *net, struct wf_engine *engine)
{
    struct wf_packet_net *model = (struct wf_packet_net *)net;

    wf_engine_cells(engine, model->n_channels > 0 ? wf_packet_credit_cell_size()
                                                  : sizeof(struct wf_packet_train));
    if (model->order != WF_PACKET_IN_ORDER) {
        wf_packet_order_cells(engine);
    }
    if (model->adapt == WF_PACKET_BY_MESSAGE) {
        wf_packet_adapt_cells(engine);
    }
    wf_net_add_others(net, engine, model->topo->n_vertices, &model->other_ops,
                      model->other_size);
}

/* The time on the topology's own route: links and routers, then the bytes on the slowest
 * link. If a policy takes a longer route, its extra time counts as queueing. */
static struct wf_net_uncontended packet_uncontended(const struct wf_net *net, uint32_t src_node,
                                                    uint32_t dst_node, uint64_t bytes)
{
    const struct wf_packet_net *model = wf_packet_of(net);
    const struct wf_packet_links *links = &model->links;
    uint64_t last = wf_packet_rest(model, bytes) + model->header_bytes;
    struct wf_net_uncontended idle = {.latency = 0};

    for (uint32_t at = src_node; at != dst_node;) {
        uint32_t port = model->topo->ops->next_port(model->topo, at, dst_node);
        uint32_t link = wf_packet_links_number(links, at, port);
        const struct wf_packet_link_kind *kind =
            &links->kinds[wf_packet_links_kind(links, link)];
        int64_t all = (int64_t)(wf_packet_count(model, bytes) - 1) * kind->full_ps +
                      wf_packet_link_ps(kind, last);

        idle.latency +=
            kind->latency +
            (at != src_node
                 ? wf_packet_links_delay(links, at, wf_packet_links_kind(links, link))
                 : 0);
        if (at != src_node && model->timing == WF_PACKET_STORE_AND_FORWARD) {
            idle.latency += wf_packet_count(model, bytes) > 1 ? kind->full_ps
                                                              : wf_packet_link_ps(kind, last);
        }
        all = kind->burst_ps > 0
                  ? wf_max_i64(all - wf_max_i64(kind->burst_ps, kind->full_ps), 0)
                  : all;
        idle.transfer = all > idle.transfer ? all : idle.transfer;
        at = model->topo->ops->neighbor(model->topo, at, port);
    }
    return idle;
}

void wf_packet_set_probe(struct wf_net *net, wf_packet_probe_fn *probe, void *arg)
{
    struct wf_packet_net *model = (struct wf_packet_net *)net;

    model->probe = probe;
    model->probe_arg = arg;
}

const struct wf_net_ops wf_net_packet_ops = {
    .name = "packet",
    .summary = "packets on a topology: every port of every router is a server with a queue",
    .uses_topology = true,
    .params = params_table,
    .params_size = sizeof(struct wf_packet_params),
    .presets = presets,
    .create = packet_create,
    .destroy = packet_destroy,
    .attach = packet_attach,
    .send = wf_packet_send,
    .uncontended = packet_uncontended,
    .finish = packet_finish,
    .commit = wf_packet_stats_commit,
    .describe = wf_packet_stats_describe,
};
