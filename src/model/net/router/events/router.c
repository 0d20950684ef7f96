/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/router.h"

#include "base/mem.h"
#include "model/net/router/events/flit.h"
#include "model/net/router/events/stats.h"
#include "model/net/topology.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const requests[] = {"first", "shortest", "random", "smart", "source", NULL};
static const char *const arbitrations[] = {
#define WF_ROUTER_ARBITRATION(id, name, urgency) name,
#include "model/net/router/rules/arbitrations.def"
    NULL};
static const char *const flows[] = {"auto", "plain", "bubble", NULL};
static const char *const escapes[] = {"leave", "stay", NULL};
static const char *const switchings[] = {"cut-through", "wormhole", NULL};
static const char *const injections[] = {"shortest", "direction", "longest-path", NULL};

#define ROW(name_, type_, member_)             \
    .name = (name_), .type = WF_PARAM_##type_, \
    .offset = offsetof(struct wf_router_params, member_)

static const struct wf_param params_table[] = {
    {ROW("cycle", TIME, cycle), .def = "1ns", .min = "2ps", .max = "1s",
     .doc =
         "Length of a cycle, in which a link moves one phit. If links of a graph file do not "
         "move it in whole cycles of 1ns, the longest in which they do, and queues have "
         "room for the latency of links"},
    {ROW("phit", SIZE, phit), .def = "4B", .min = "1B", .max = "1MiB",
     .what_if = WF_WHAT_IF_BANDWIDTH, .doc = "Bytes that a link moves in a cycle"},
    {ROW("packet", SIZE, packet), .def = "64B", .min = "1B", .max = "1MiB",
     .doc = "Size of a packet; a message is cut into as many packets as it needs"},
    {ROW("routing", ENUM, routing), .def = "auto", .choices = wf_router_routings,
     .doc = "Routing with its deadlock avoidance (docs/models/router.md); auto is "
            "oblivious-1vc on grids, updown on trees, else minimal; usual is what machines "
            "with this topology do"},
    {ROW("routing_file", TEXT, routing_file), .only_with = "routing=table", .def = "",
     .doc = "File with the routes of routing table"},
    {ROW("ecmp", ENUM, ecmp), .only_with = "routing=ecmp", .def = "flow",
     .choices = wf_route_flow_names,
     .doc = "With routing ecmp, which packets take the same route: all between two nodes "
            "(flow), those of a message, or each its own"},
    {ROW("info_step", SIZE, info_step), .only_with = "routing=ugal_g", .def = "0B",
     .max = "1GiB",
     .doc = "With routing ugal_g: routers notify their neighbours when a queue differs by "
            "this much from what they were told last; 0 is a packet"},
    {ROW("ugal_threshold", SIZE, ugal_threshold),
     .only_with = "routing=ugal|ugal_l|ugal_g|par|usual", .def = "0B", .max = "1GiB",
     .doc = "With UGAL and PAR: a packet takes the detour only if waiting bytes times hops on "
            "the minimal route exceed those on the detour by more than this"},
    {ROW("fail", TEXT, fail), .def = "",
     .doc = "Broken parts, as link:12-13,router:40,links:5%, from the start or for some time, "
            "as link:12-13@2ms-5ms; routes avoid them"},
    {ROW("fail_action", ENUM, fail_action), .only_with = "fail!=", .def = "resend",
     .choices = wf_fault_action_names,
     .doc = "What becomes of packets on a link that fails: their source sends them again, or "
            "they are lost"},
    {ROW("resend_delay", TIME, resend_delay), .only_with = "fail!=", .def = "10us",
     .min = "1ps", .max = "1h",
     .doc = "Time after which the source sends a packet again that met a failure"},
    {ROW("vcs", COUNT, vcs), .def = "0",
     .doc = "Virtual channels of a link, 1 to 16; 0 is as many as the routing needs"},
    {ROW("queue", COUNT, queue), .def = "4", .max = "1024",
     .doc = "Capacity of the queue at the end of a virtual channel, in packets, at least 1"},
    {ROW("flow", ENUM, flow), .def = "auto", .choices = flows,
     .doc = "Flow control: plain, or bubble, where a packet enters a ring only if one more "
            "packet would fit; auto is bubble where the routing needs it"},
    {ROW("injection_queues", COUNT, injection_queues), .def = "1", .min = "1", .max = "16",
     .doc = "Injection queues of a node"},
    {ROW("injection_length", COUNT, injection_length), .def = "8", .min = "1", .max = "65535",
     .doc = "Capacity of an injection queue, in packets"},
    {ROW("injection", ENUM, injection), .only_with = "injection_queues!=1", .def = "shortest",
     .choices = injections, .doc = "Which of several injection queues a packet enters"},
    {ROW("consume_one", BOOL, consume_one), .def = "no",
     .doc = "A node consumes one packet at a time instead of one from each queue"},
    {ROW("request", ENUM, request), .def = "smart", .choices = requests,
     .doc = "Which of several channels an adaptive packet requests"},
    {ROW("escape", ENUM, escape), .only_with = "switching=wormhole", .def = "leave",
     .choices = escapes,
     .doc =
         "With wormhole switching and adaptive routing on grids: whether packets may leave "
         "escape channels, for which a channel is given only when its queue is empty, or stay "
         "in them, with channels given as soon as they are free"},
    {ROW("arbitration", ENUM, arbitration), .def = "round-robin", .choices = arbitrations,
     .doc = "Which of several packets gets the channel that they request"},
    {ROW("pipeline", COUNT, pipeline), .def = "0", .max = "1000000",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Cycles that the head of a packet spends in a router"},
    {ROW("link_delay", COUNT, link_delay), .def = "1", .min = "1", .max = "1000000",
     .what_if = WF_WHAT_IF_LATENCY, .doc = "Cycles that the head of a packet spends on a link"},
    WF_NET_LINKS_ROW(struct wf_router_params),
    {ROW("credit_delay", COUNT, credit_delay), .def = "0", .max = "1000000",
     .doc = "Cycles until a router learns that a slot at the end of a link is free"},
    {ROW("turnaround", COUNT, turnaround), .def = "0", .max = "1000000",
     .doc = "Cycles between the tail of a packet and the head of the next one from its queue"},
    {ROW("transit_priority", REAL, transit_priority), .def = "0", .min = "0", .max = "1",
     .doc = "Probability that packets in transit go before packets to be injected"},
    {ROW("restriction", COUNT, restriction), .def = "0", .max = "1024",
     .doc = "A node injects into a ring only if its own queue of the ring has room for this "
            "many packets"},
    {ROW("switching", ENUM, switching), .def = "cut-through", .choices = switchings,
     .doc = "Packets keep a link until their tail has left (virtual cut-through), or share "
            "it flit by flit (wormhole)"},
    {ROW("routing_delay", COUNT, routing_delay), .only_with = "switching=wormhole", .def = "1",
     .max = "1000000",
     .doc = "With wormhole switching: cycles that it takes to route a packet; 0: the "
            "previous router has done it"},
    {ROW("speculative", BOOL, speculative), .def = "no",
     .doc = "With wormhole switching: a packet requests the switch in the same cycle as a "
            "channel, in the hope of getting both"},
    {ROW("hold_switch", BOOL, hold_switch), .def = "no",
     .doc = "With wormhole switching: a packet keeps the switch as long as it has flits and "
            "there is room for them"},
    {ROW("global_restriction", REAL, global_restriction), .def = "0", .min = "0", .max = "1",
     .doc = "No node injects while more than this share of the capacity of all queues is "
            "taken; 0 is no limit"},
    {ROW("global_delay", COUNT, global_delay), .only_with = "global_restriction!=0",
     .def = "64", .min = "4", .max = "1000000000",
     .doc = "Cycles between two counts of the packets in the network, and until all nodes "
            "know the count"},
    {ROW("watchdog", COUNT, watchdog), .def = "10000", .max = "1000000000",
     .doc = "Cycles without movement after which packets are suspected of a deadlock, which "
            "ends the run; 0 is never"},
    {ROW("stats", ENUM, stats), .def = "off", .choices = wf_net_stats_names,
     .doc = "What the result says of the links: nothing, a summary with the busiest links, "
            "every link with its load over time and its main senders, or the summary with "
            "the use of each link class"},
    WF_PARAM_END,
};

/* ---- creation ---- */

static size_t align8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* A router with a node has injection queues. */
static struct wf_router_layout layout_of(const struct wf_router_net *model, uint32_t n_ports,
                                         uint32_t n_injection)
{
    struct wf_router_layout layout = {.n_ports = n_ports, .n_injection = n_injection};
    uint32_t n_channels = n_ports * model->rules.vcs;
    bool wormhole = model->set.switching == WF_ROUTER_WORMHOLE;

    layout.n_injection = wormhole ? model->rules.vcs : n_injection;
    layout.n_inputs = n_channels + layout.n_injection;
    n_channels += wormhole ? 2 * model->rules.vcs : 0; /* to and from the node */
    layout.n_words = (layout.n_inputs + 63) / 64;
    layout.channels = align8(sizeof(struct wf_router_head));
    layout.links = layout.channels + n_channels * sizeof(struct wf_router_channel);
    layout.inputs = layout.links + n_ports * sizeof(struct wf_router_link);
    layout.words = layout.inputs + layout.n_inputs * sizeof(struct wf_router_input);
    layout.size = layout.words + layout.n_words * sizeof(uint64_t);
    if (wormhole) {
        layout.flit_inputs = layout.size;
        layout.flit_channels =
            layout.flit_inputs + layout.n_inputs * sizeof(struct wf_router_flit_input);
        layout.flit_ports =
            layout.flit_channels + n_channels * sizeof(struct wf_router_flit_channel);
        layout.flit_source =
            layout.flit_ports + (n_ports + 1) * sizeof(struct wf_router_flit_port);
        layout.size = layout.flit_source + sizeof(struct wf_router_flit_source);
    }
    if (model->notice_step > 0) {
        layout.notices = layout.size;
        layout.size += n_ports * sizeof(struct wf_router_port_notice);
    }
    if (model->faults != NULL && n_injection > 0) {
        layout.losses = layout.size;
        layout.size += sizeof(struct wf_net_losses);
    }
    wf_router_stats_layout(model, &layout, n_injection > 0);
    return layout;
}

/* The most input or output ports of the vertices from `first` to before `end`. */
static uint32_t ports_max(const struct wf_router_net *model, uint32_t first, uint32_t end)
{
    uint32_t most = wf_net_ports_max(model->topo, first, end);

    for (uint32_t v = first; model->inward.first != NULL && v < end; v++) {
        uint32_t n = model->inward.first[v + 1] - model->inward.first[v];
        most = n > most ? n : most;
    }
    return most;
}

static enum wf_status lay_out(struct wf_router_net *model, struct wf_err *err)
{
    const struct wf_topo *topo = model->topo;
    const struct wf_net_ends *ends = &model->net.ends;

    model->node = layout_of(model, ports_max(model, 0, ends->after + ends->gaps),
                            (uint32_t)model->set.injection_queues);
    model->other = layout_of(model, ports_max(model, ends->whole, topo->n_vertices), 0);
    uint32_t most = model->node.n_inputs > model->other.n_inputs ? model->node.n_inputs
                                                                 : model->other.n_inputs;
    if (most > WF_ROUTER_INPUTS_MAX) {
        return wf_err_set(err, WF_EINVAL,
                          "a router of this topology would have %" PRIu32
                          " input queues; at most %d are possible",
                          most, WF_ROUTER_INPUTS_MAX);
    }
    return WF_OK;
}

static void fill_coords(struct wf_router_net *model)
{
    const struct wf_topo_grid *grid = model->grid;

    model->coords =
        wf_xcalloc((size_t)model->topo->n_vertices * grid->n_dims, sizeof(*model->coords));
    for (uint32_t v = 0; v < model->topo->n_vertices; v++) {
        for (uint32_t d = 0; d < grid->n_dims; d++) {
            model->coords[(size_t)v * grid->n_dims + d] =
                (uint16_t)wf_topo_grid_coord(grid, v, d);
        }
    }
}

/* Numbers the input ports: by the output port that leads back, or by the links into each vertex
 * if some links have none. */
static void find_inputs(struct wf_router_net *model)
{
    const struct wf_topo *topo = model->topo;

    if (model->grid != NULL) {
        fill_coords(model);
        return;
    }
    if (!topo->oneway) {
        model->in_port = wf_net_reverse_ports(topo);
        return;
    }
    wf_net_inward_init(&model->inward, topo);
    model->in_port = wf_xcalloc((size_t)wf_topo_first_link(topo, topo->n_vertices) + 1,
                                sizeof(*model->in_port));
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        for (uint32_t i = model->inward.first[v]; i < model->inward.first[v + 1]; i++) {
            model->in_port[model->inward.link[i]] = (uint16_t)(i - model->inward.first[v]);
        }
    }
}

static enum wf_status check_sizes(struct wf_router_net *model, struct wf_err *err)
{
    const struct wf_router_params *set = &model->set;

    if (set->packet % set->phit != 0 || set->packet / set->phit > 65536) {
        return wf_err_set(err, WF_EINVAL,
                          "net.packet: %" PRIu64 " bytes are not 1 to 65536 phits of %" PRIu64
                          " bytes",
                          set->packet, set->phit);
    }
    model->rules.phits = (uint32_t)(set->packet / set->phit);
    if (set->queue == 0) {
        return wf_err_set(
            err, WF_EINVAL,
            "net.queue: a queue must have room for a packet, expected at least 1");
    }
    return WF_OK;
}

/* The least number of cycles from an event of one router to one of another. */
static uint64_t least_cycles(const struct wf_router_net *model)
{
    uint64_t slot = (uint64_t)model->rules.phits * model->least.pace + model->set.credit_delay;

    if (model->set.switching == WF_ROUTER_WORMHOLE) {
        return 1 + model->least.link_delay;
    }
    return model->least_hop < slot ? model->least_hop : slot;
}

/* Reports take half of the delay, and the answer the other half. They are sent a few picoseconds
 * after the begin of a cycle, so that each half must be a cycle longer than the least time. */
static enum wf_status check_global_delay(const struct wf_router_net *model, struct wf_err *err)
{
    const struct wf_router_params *set = &model->set;
    uint64_t hops = UINT64_C(4) * model->least_hop, halves = 2 * (least_cycles(model) + 1);
    uint64_t least = hops > halves ? hops : halves;

    if (set->global_restriction > 0 && set->global_delay < least) {
        return wf_err_set(err, WF_EINVAL,
                          "net.global_delay: %" PRIu64 " cycles are too few to tell all nodes; "
                          "expected at least %" PRIu64,
                          set->global_delay, least);
    }
    return WF_OK;
}

static void router_destroy(struct wf_net *net)
{
    struct wf_router_net *model = (struct wf_router_net *)net;

    wf_net_links_fini(&model->links);
    free(model->kinds);
    free(model->kind_of);
    free(model->coords);
    free(model->in_port);
    wf_net_inward_fini(&model->inward);
    wf_route_free(model->faults == NULL ? model->route : NULL);
    wf_fault_plan_free(model->faults);
    wf_topo_free(model->damaged);
    free(model);
}

/* The most packets in the network before nodes stop injecting; 0: no limit. */
static uint64_t packets_limit(const struct wf_router_net *model)
{
    double capacity = (double)model->capacity * model->rules.vcs;
    double limit = capacity * model->set.global_restriction;

    return model->set.global_restriction > 0 && limit < 1 ? 1 : (uint64_t)limit;
}

static int64_t promise(const struct wf_router_net *model)
{
    return (int64_t)least_cycles(model) * model->set.cycle - 1;
}

static struct wf_net_clock router_clock(const void *params)
{
    const struct wf_router_params *set = params;

    return (struct wf_net_clock){set->cycle, set->phit, set->packet, set->vcs};
}

static enum wf_status router_create(const void *params, const struct wf_net_env *env,
                                    struct wf_net **out, struct wf_err *err)
{
    WF_TRY(wf_net_topology_check("router", env, err));
    struct wf_router_net *model = wf_xcalloc(1, sizeof(*model));
    model->set = *(const struct wf_router_params *)params;
    model->net.ends = wf_net_ends_of(env);
    model->rules.seed = env->seed;
    model->topo = env->topo;
    enum wf_status status = check_sizes(model, err);
    if (status == WF_OK && !wf_fault_has_times(model->set.fail)) {
        status = wf_net_topology_break(env->topo, model->set.fail, &model->topo,
                                       &model->damaged, err);
    }
    WF_THEN(status, wf_router_choose_scheme(model, err));
    WF_THEN(status, wf_router_make_links(model, env, err));
    WF_THEN(status, check_global_delay(model, err));
    WF_THEN(status, wf_fault_check(model->set.fail, model->set.fail_action,
                                   model->set.resend_delay, promise(model) + 1, err));
    if (status == WF_OK) {
        find_inputs(model);
        status = lay_out(model, err);
    }
    if (status != WF_OK) {
        router_destroy(&model->net);
        return status;
    }
    model->packets_limit = packets_limit(model);
    model->net.ops = &wf_net_router_ops;
    model->net.node_size = model->node.size;
    model->net.payload_max = sizeof(struct wf_router_packet);
    model->net.promise_ps = promise(model);
    model->net.ahead = WF_NET_NOW;
    model->net.faults = model->faults;
    model->net.has_digest = true;
    wf_router_stats_init(model);
    *out = &model->net;
    return WF_OK;
}

const struct wf_net_ops wf_net_router_ops = {
    .name = "router",
    .summary = "routers with virtual channels, finite queues and flow control, cycle by cycle",
    .uses_topology = true,
    .params = params_table,
    .params_size = sizeof(struct wf_router_params),
    .clock = router_clock,
    .fit = wf_router_fit,
    .create = router_create,
    .destroy = router_destroy,
    .attach = wf_router_attach,
    .send = wf_router_send,
    .event = wf_router_event,
    .can_inject = wf_router_can_inject,
    .usage = wf_router_usage,
    .finish = wf_router_finish,
    .describe = wf_router_stats_describe,
};
