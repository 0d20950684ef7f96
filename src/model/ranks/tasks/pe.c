/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tasks/pe.h"

#include "base/arith.h"
#include "base/mem.h"
#include "model/net/net.h"
#include "model/ranks/node_totals.h"
#include "model/ranks/ranks.h"
#include "model/ranks/tasks/loggops.h"
#include "model/ranks/tasks/pe_rules.h"

#include <stdlib.h>
#include <string.h>

const char *const wf_pe_granularity_names[] = {"single", "multi", NULL};

/* Sample sizes for estimating how many messages of a program stay within their PE. */
enum { PES_SAMPLED = 32, TASKS_SAMPLED = 64 };

/* The header of messages between PEs. The message holds its source node and the event its
 * destination node, so that slots identify the PEs. */
struct header {
    uint16_t src_slot, dst_slot;
    uint32_t id;
    uint32_t departure[2];
    uint32_t is_signal;
};

_Static_assert(sizeof(struct header) == WF_NET_HEADER_WORDS * sizeof(uint32_t),
               "a header fills its place in a message");
_Static_assert((int)WF_PE_CELL_SIZE >= (int)WF_CELLMAP_CELL_SIZE, "maps are kept in cells too");
_Static_assert(sizeof(struct wf_pe) % 8 == 0, "slots are aligned");

/* The payload of a PE's events for itself. */
struct own {
    uint32_t slot, argument;
};

/* Interface `nic` of a PE whose slot has the interface `first` of the node. */
static uint32_t interface_of(const struct wf_net *net, uint32_t first, uint8_t nic)
{
    return nic == 0 ? first : (first + nic) % net->ends.nics;
}

static struct wf_pe_stream *streams_of(const struct wf_pes *pes, void *node, uint32_t slot)
{
    if (pes->n_streams == 1) {
        return NULL;
    }
    return (struct wf_pe_stream *)(void *)((unsigned char *)node + pes->streams_at) +
           (size_t)slot * pes->n_streams;
}

static struct wf_pe_caller caller_of(const struct wf_pes *pes, struct wf_ctx *ctx, void *node,
                                     uint32_t slot)
{
    uint32_t pe = wf_place_rank(pes->place, wf_self(ctx) - pes->net->first_node, slot);
    uint32_t job = wf_place_job(pes->first, pes->n_jobs, pe);

    return (struct wf_pe_caller){
        .pes = pes,
        .ctx = ctx,
        .node = node,
        .pe = (struct wf_pe *)(void *)((unsigned char *)node + pes->slots_at) + slot,
        .streams = streams_of(pes, node, slot),
        .graph = pes->jobs[job].graph,
        .slot = slot,
        .number = pe - pes->first[job],
        .first = pes->first[job],
    };
}

void wf_pe_schedule(const struct wf_pe_caller *who, enum wf_pe_event kind, uint32_t argument,
                    int64_t at)
{
    const struct own own = {who->slot, argument};
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(who->ctx);

    wf_schedule(who->ctx, wf_self(who->ctx), delay, (uint16_t)kind, &own, sizeof(own));
}

void wf_pe_send(const struct wf_pe_caller *who, const struct wf_task_send *send, int64_t at)
{
    const struct wf_pes *pes = who->pes;
    const struct wf_net *net = pes->net;
    uint32_t own_node = wf_self(who->ctx) - net->first_node;
    uint32_t to = who->first + send->pe;
    uint32_t dst_node = wf_place_node(pes->place, to), dst_slot = wf_place_slot(pes->place, to);
    uint32_t nic = interface_of(net, wf_rails_nic(&pes->rails, who->slot), send->nic);
    uint32_t dst_nic = interface_of(net, wf_rails_nic(&pes->rails, dst_slot), send->peer_nic);
    uint32_t dst = wf_net_end(&net->ends, dst_node, dst_nic);
    struct wf_net_message msg = {.bytes = send->bytes,
                                 .src_node = wf_net_end(&net->ends, own_node, nic)};
    struct header header = {
        .src_slot = (uint16_t)who->slot,
        .dst_slot = (uint16_t)dst_slot,
        .id = send->id,
        .is_signal = send->delay > 0,
    };

    memcpy(header.departure, &at, sizeof(at));
    memcpy(msg.header, &header, sizeof(header));
    if (header.is_signal) {
        int64_t least = dst_node == own_node ? 0 : net->promise_ps;
        wf_net_schedule(net, who->ctx, dst, wf_time_add(at, wf_max_i64(send->delay, least)),
                        WF_PE_SELF, &msg);
        return;
    }
    who->pe->sent_messages++;
    who->pe->sent_bytes = wf_count_add(who->pe->sent_bytes, send->bytes);
    if (send->pe == who->number) {
        wf_net_schedule(net, who->ctx, msg.src_node, at, WF_PE_SELF, &msg);
    } else if (dst_node == own_node && pes->mpi->local) {
        enum wf_cores_distance distance =
            wf_local_distance(&pes->local, header.src_slot, header.dst_slot);
        wf_net_schedule(net, who->ctx, msg.src_node,
                        wf_time_add(at, pes->local.latency[distance]), WF_PE_LOCAL, &msg);
    } else {
        (void)wf_node_nic_send(&pes->nics, who->ctx, who->node, dst, &msg, at);
    }
}

/* ---- events ---- */

static void on_message(const struct wf_pes *pes, struct wf_ctx *ctx, void *node,
                       const struct wf_net_message *msg, int64_t at)
{
    struct header header;
    int64_t departure;

    memcpy(&header, msg->header, sizeof(header));
    memcpy(&departure, header.departure, sizeof(departure));
    const struct wf_pe_caller who = caller_of(pes, ctx, node, header.dst_slot);
    uint32_t src = wf_rails_sender(&pes->rails, msg, header.src_slot) - who.first;
    int64_t latency = at - departure;
    bool counts = src != who.number && header.is_signal == 0;

    if (counts) {
        wf_note(ctx, &latency, sizeof(latency));
    }
    if (counts && wf_recorder_is_on(&pes->recorder)) {
        wf_recorder_message(&pes->recorder, ctx,
                            &(struct wf_sent){departure, at, msg->bytes, who.first + src,
                                              who.first + who.number});
    }
    wf_pe_begin(&who);
    wf_pe_message(&who, wf_graph_target(who.graph, who.number, src, header.id), msg->bytes, at);
    wf_pe_end(&who);
}

static void on_arrival(void *arg, struct wf_ctx *ctx, void *part,
                       const struct wf_net_message *msg, int64_t at)
{
    const struct wf_pes *pes = arg;
    void *node = wf_rails_state(&pes->rails, ctx, part);

    int64_t there = wf_time_add(at, wf_node_nic_delay(&pes->nics, ctx, node));
    if (pes->polling.period > 0) {
        struct header header;

        memcpy(&header, msg->header, sizeof(header));
        uint32_t own = wf_self(ctx) - pes->net->first_node;
        there = wf_node_next_poll(&pes->polling,
                                  wf_place_rank(pes->place, own, header.dst_slot), there);
    }
    on_message(pes, ctx, node, msg, there);
}

/* PEs do not wait for their messages to leave. */
static void on_sent(void *arg, struct wf_ctx *ctx, void *node, const struct wf_net_message *msg)
{
}

static void on_own(const struct wf_pes *pes, struct wf_ctx *ctx, void *node,
                   const struct wf_event *ev)
{
    struct own own;

    memcpy(&own, ev->payload, sizeof(own));
    const struct wf_pe_caller who = caller_of(pes, ctx, node, own.slot);
    wf_pe_begin(&who);
    if (ev->kind == WF_PE_KICKOFF) {
        wf_pe_kickoff(&who);
    } else if (ev->kind == WF_PE_ARRIVED) {
        wf_pe_arrived(&who, own.argument);
    } else {
        wf_pe_wake(&who, own.argument);
    }
    wf_pe_end(&who);
}

/* When the last byte of a message within the node arrives. */
static int64_t arrival_of(const struct wf_pes *pes, struct wf_ctx *ctx, void *node,
                          const struct wf_net_message *msg)
{
    struct header header;

    memcpy(&header, msg->header, sizeof(header));
    return wf_local_carry(&pes->local, ctx, node, header.src_slot, header.dst_slot, msg->bytes)
        .arrival;
}

static void node_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct wf_pes *pes = wf_model(ctx);
    const struct wf_net_message *msg = (const void *)ev->payload;
    uint32_t kind = wf_net_kind(ev);

    if (kind < WF_NET_KINDS) {
        wf_net_event(pes->net, ctx, state, ev);
    } else if (kind < WF_PE_DEPART) {
        on_own(pes, ctx, state, ev);
    } else if (kind == WF_PE_DEPART || kind == WF_PE_INJECT) {
        (void)wf_node_nic_event(&pes->nics, ctx, state, ev);
    } else {
        on_message(pes, ctx, state, msg,
                   kind == WF_PE_LOCAL ? arrival_of(pes, ctx, state, msg) : wf_now(ctx));
    }
}

/* Most nodes have one PE. An event often settles the first of its open tasks, and then runs the
 * next one: tasks mostly run in the order of their numbers. */
static void node_fetch(const void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct wf_pes *pes = wf_model(ctx);
    const struct wf_pe *pe = (const void *)((const unsigned char *)state + pes->slots_at);
    uint32_t node = ev->dst - pes->net->first_node;

    if (wf_place_n_slots(pes->place, node) == 0) {
        return;
    }
    uint32_t number = wf_place_rank(pes->place, node, 0),
             job = wf_place_job(pes->first, pes->n_jobs, number);
    const struct wf_graph *graph = pes->jobs[job].graph;

    wf_cell_fetch(ctx, (const uint32_t[]){pe->open.first, pe->waiting.root}, 2);
    if (graph->ops->fetch != NULL) {
        graph->ops->fetch(graph, number - pes->first[job], pe->started);
    }
}

static void node_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_pes *pes = wf_model(ctx);
    uint32_t n_slots = wf_place_n_slots(pes->place, wf_self(ctx) - pes->net->first_node);

    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const struct wf_pe_caller who = caller_of(pes, ctx, state, slot);
        wf_pe_schedule(
            &who, WF_PE_KICKOFF, 0,
            pes->jobs[wf_place_job(pes->first, pes->n_jobs, who.first + who.number)].start);
    }
}

static void node_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    const struct wf_pes *pes = wf_model(ctx);
    struct wf_pe_tally *tally = wf_tally(ctx);
    int64_t latency;

    wf_node_commit(pes->net, &pes->recorder, ev, ctx);
    if (note != NULL) {
        memcpy(&latency, note, sizeof(latency));
        wf_node_count_latency(&pes->recorder, &tally->replay, latency);
    }
}

/* ---- the end ---- */

static bool has_lower_number(const void *a, const void *b)
{
    const struct wf_pe_blocked *x = a, *y = b;

    return x->pe < y->pe;
}

void wf_pe_add_blocked(struct wf_pe_tally *tally, const struct wf_pe_blocked *blocked)
{
    wf_tally_insert(&(struct wf_tally_list){tally->blocked, &tally->n_blocked, WF_TALLY_BLOCKED,
                                            sizeof(*blocked), has_lower_number},
                    blocked);
}

/* wf_merge_fn, with the sections of the tally. */
static void merge_tallies(void *into, const void *from)
{
    struct wf_pe_tally *a = into;
    const struct wf_pe_tally *b = from;

    wf_tally_merge_all(&a->replay, &b->replay);
    a->tasks += b->tasks;
    a->surplus += b->surplus;
    for (int kind = 0; kind < WF_STREAM_KINDS; kind++) {
        wf_stat_merge(&a->streams[kind], &b->streams[kind]);
    }
    for (uint32_t i = 0; i < b->n_blocked; i++) {
        wf_pe_add_blocked(a, &b->blocked[i]);
    }
}

static void add_unfinished(const struct wf_pe_caller *who, struct wf_pe_tally *tally)
{
    uint32_t pe = who->first + who->number;
    struct wf_pe_blocked blocked;

    tally->replay.unfinished++;
    wf_tally_block(&tally->replay, &(struct wf_blocked){.rank = pe});
    if (tally->n_blocked == WF_TALLY_BLOCKED && pe > tally->blocked[WF_TALLY_BLOCKED - 1].pe) {
        return; /* finding the blocked task may take long */
    }
    if (wf_pe_find_blocked(who, &blocked)) {
        wf_pe_add_blocked(tally, &blocked);
    }
}

static void add_pe(const struct wf_pe_caller *who, struct wf_pe_tally *tally)
{
    const struct wf_pe *pe = who->pe;
    uint32_t number = who->first + who->number,
             job = wf_place_job(who->pes->first, who->pes->n_jobs, number);
    int64_t busy = wf_time_add(pe->compute_ps, pe->overhead_ps);
    int64_t idle = who->streams != NULL
                       ? pe->idle_ps
                       : pe->free_at - who->pes->jobs[job].start - busy - pe->core_wait_ps;
    bool ended = pe->started >= who->graph->ops->n_tasks(who->graph, who->number);
    const struct wf_rank_totals totals = {
        .number = number,
        .job = job,
        .messages = pe->sent_messages,
        .bytes = pe->sent_bytes,
        .clock = pe->free_at,
        .compute_ps = pe->compute_ps,
        .overhead_ps = pe->overhead_ps,
        .wait_ps = {[WF_IN_SEND] = WF_NO_WAIT,
                    [WF_IN_RECV] = idle > 0 ? idle : 0,
                    [WF_IN_COLLECTIVE] = WF_NO_WAIT,
                    [WF_IN_FILE] = WF_NO_WAIT,
                    [WF_IN_CORE] = who->pes->timeshare != NULL ? pe->core_wait_ps : WF_NO_WAIT},
        .ended = ended,
    };

    wf_node_count_rank(&who->pes->recorder, &tally->replay, &totals);
    tally->tasks += pe->started;
    tally->surplus += pe->surplus;
    tally->replay.unreceived += pe->unneeded;
    for (uint32_t i = 0; who->streams != NULL && i < wf_graph_n_streams(who->graph); i++) {
        wf_stat_add(&tally->streams[wf_graph_stream(who->graph, i)], who->streams[i].busy_ps);
    }
    if (!ended) {
        add_unfinished(who, tally);
    }
}

static void node_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_pes *pes = wf_model(ctx);
    uint32_t n_slots = wf_place_n_slots(pes->place, wf_self(ctx) - pes->net->first_node);
    struct wf_pe_tally *tally = wf_tally(ctx);

    wf_node_finish(pes->net, &pes->recorder, state, &tally->replay, ctx);
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        /* Nothing is changed: the caller is used only to read the PE. */
        const struct wf_pe_caller who = caller_of(pes, ctx, wf_unconst(state), slot);

        add_pe(&who, tally);
    }
}

/* ---- the model ---- */

/* All but payload_max. */
static const struct wf_process_ops node_ops = {
    .name = "node",
    .announces_changes = true,
    .init = node_init,
    .event = node_event,
    .fetch = node_fetch,
    .commit = node_commit,
    .finish = node_finish,
};

static void set_nics(struct wf_pes *pes)
{
    enum wf_net_ahead ahead = wf_node_nic_ahead(pes->net, &pes->costs);

    pes->nics = (struct wf_node_nics){
        .net = pes->net,
        .costs = &pes->costs,
        .offset = wf_node_net_size(pes->net),
        .depart = WF_PE_DEPART,
        .inject = WF_PE_INJECT,
        .is_free = wf_node_nics_are_free(pes->net, &pes->costs),
        /* Streams start tasks in another order than they run them. */
        .runs_ahead =
            ahead == WF_NET_ANY || (ahead == WF_NET_IN_ORDER && pes->rails.ranks_per_nic == 1 &&
                                    pes->n_streams == 1 && pes->n_nics == 1),
    };
    pes->slots_at = pes->nics.offset + wf_node_nics_size(pes->net, &pes->costs);
}

static void ask_for_tally(struct wf_pes *pes, const struct wf_pe_config *config,
                          struct wf_engine *engine)
{
    struct wf_recording_options options;

    if (config->recording != NULL) {
        options = *config->recording;
        options.limits.path_bytes = 0; /* why tasks start is not recorded */
    }
    wf_engine_tally(engine,
                    wf_recorder_init(&pes->recorder,
                                     config->recording != NULL ? &options : NULL, &pes->rails,
                                     config->net, sizeof(struct wf_pe_tally),
                                     (struct wf_tally_lists){.n_jobs = pes->n_jobs}),
                    merge_tallies);
    pes->recorder.ends = config->ends;
}

/* Tasks run without interruption. */
static enum wf_status check_turns(const struct wf_node_params *node, uint32_t slots_max,
                                  struct wf_err *err)
{
    if (node->time_slice > 0 && wf_cores_init(node, slots_max).shared) {
        return wf_err_set(err, WF_EUSAGE,
                          "node.time_slice: tasks of a task graph are not interrupted; set "
                          "node.time_slice to 0");
    }
    return WF_OK;
}

static struct wf_pes *make_pes(const struct wf_pe_config *config)
{
    struct wf_pes *pes = wf_xcalloc(1, sizeof(*pes));
    uint32_t n_pes = 0;

    pes->n_streams = 1;
    pes->n_nics = 1;
    pes->jobs = wf_xcalloc(config->n_jobs, sizeof(*pes->jobs));
    pes->first = wf_xcalloc(config->n_jobs + 1, sizeof(*pes->first));
    for (uint32_t i = 0; i < config->n_jobs; i++) {
        pes->jobs[i] = config->jobs[i];
        pes->first[i] = n_pes;
        n_pes += config->jobs[i].graph->n_pes;
        pes->n_streams = wf_max_u32(pes->n_streams, config->jobs[i].graph->n_streams);
        pes->n_nics = wf_max_u32(pes->n_nics, config->jobs[i].graph->n_nics);
    }
    pes->first[config->n_jobs] = n_pes;
    pes->n_jobs = config->n_jobs;
    pes->net = config->net;
    pes->place = config->place;
    pes->mpi = config->mpi;
    pes->node = config->node != NULL ? config->node : &wf_node_free;
    pes->costs = wf_node_costs_of(pes->node, config->net);
    pes->cpu = config->cpu;
    pes->contention = wf_cpu_contention_init(pes->node, NULL, n_pes);
    pes->noise = wf_noise_init(pes->node, config->seed);
    pes->polling = wf_node_polling_of(pes->node, n_pes, config->seed);
    pes->granularity = config->granularity;
    pes->timeless = config->timeless;
    pes->ops = node_ops;
    pes->ops.payload_max = wf_node_payload_max(config->net);
    return pes;
}

static enum wf_status check_config(struct wf_pes *pes, const struct wf_pe_config *config,
                                   struct wf_err *err)
{
    WF_TRY(wf_node_check(config->place, config->net, pes->first[pes->n_jobs], "PEs", err));
    WF_TRY(wf_node_params_check(pes->node, err));
    WF_TRY(check_turns(pes->node, config->place->slots_max, err));
    return wf_rails_init(&pes->rails, config->place, config->net, pes->node, err);
}

/* Tells the graphs about the machine. */
static void prepare_graphs(const struct wf_pes *pes)
{
    const struct wf_coll_nccl nccl =
        wf_mpi_nccl(pes->mpi, pes->node, pes->net, pes->place->slots_max);
    struct wf_graph_machine machine = {.nccl = &nccl,
                                       .by_table = wf_mpi_by_table(pes->mpi),
                                       .has_traffic = pes->mpi->rules == WF_COLL_RULES_NCCL,
                                       .least_delay = pes->net->promise_ps};

    for (uint32_t i = 0; i < pes->n_jobs; i++) {
        struct wf_graph *graph = wf_unconst(pes->jobs[i].graph);
        if (graph->ops->prepare == NULL) {
            continue;
        }
        uint32_t *nodes = wf_xmalloc(graph->n_pes * sizeof(*nodes));
        for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
            nodes[pe] = wf_place_node(pes->place, pes->first[i] + pe);
        }
        machine.nodes = nodes;
        graph->ops->prepare(graph, &machine);
        free(nodes);
    }
}

static void add_nodes(struct wf_pes *pes, const struct wf_pe_config *config,
                      struct wf_engine *engine)
{
    const struct wf_net_user user = {.arg = pes, .arrived = on_arrival, .sent = on_sent};

    set_nics(pes);
    uint32_t slots_max = config->place->slots_max;
    pes->streams_at = pes->slots_at + slots_max * sizeof(struct wf_pe);
    size_t streams_size = pes->n_streams > 1
                              ? (size_t)slots_max * pes->n_streams * sizeof(struct wf_pe_stream)
                              : 0;
    size_t state_size = wf_local_init(&pes->local, pes->node, pes->mpi, slots_max,
                                      pes->streams_at + streams_size);
    pes->timeshare = wf_timeshare_new(pes->node, pes->net, &pes->noise, slots_max, &state_size);
    if (pes->timeshare != NULL) {
        state_size = pes->timeshare->claims_at; /* tasks have no claims that wait */
    }
    if (pes->timeshare != NULL || pes->n_streams > 1) {
        pes->granularity = WF_PE_SINGLE;
    }
    uint32_t first = wf_engine_add(engine, &pes->ops, config->place->n_nodes, state_size, pes);
    wf_engine_cells(engine, WF_PE_CELL_SIZE);
    wf_net_attach(config->net, engine, first, &user);
}

enum wf_status wf_pes_new(struct wf_engine *engine, const struct wf_pe_config *config,
                          struct wf_pes **out, struct wf_err *err)
{
    struct wf_pes *pes = make_pes(config);

    enum wf_status status = check_config(pes, config, err);
    if (status == WF_OK && config->net->loggops != NULL) {
        status = wf_loggops_new(pes, engine, &pes->loggops, err);
    }
    if (status != WF_OK) {
        wf_pes_free(pes);
        return status;
    }
    ask_for_tally(pes, config, engine);
    if (pes->loggops == NULL) {
        add_nodes(pes, config, engine);
        prepare_graphs(pes);
    }
    *out = pes;
    return WF_OK;
}

void wf_pes_free(struct wf_pes *pes)
{
    if (pes != NULL) {
        wf_loggops_free(pes->loggops);
        wf_rails_fini(&pes->rails);
        free(pes->timeshare);
        free(pes->jobs);
        free(pes->first);
    }
    free(pes);
}

/* Estimates from a sample how many of `of` messages go to other PEs; only these are counted. */
static uint64_t expected_abroad(const struct wf_graph *graph, uint64_t of)
{
    uint64_t all = 0, abroad = 0;

    for (uint32_t k = 0; k < PES_SAMPLED && k < graph->n_pes; k++) {
        uint64_t spread = (uint64_t)k * graph->n_pes / PES_SAMPLED;
        uint32_t pe = graph->n_pes > PES_SAMPLED ? (uint32_t)spread : k;
        uint32_t n_tasks = graph->ops->n_tasks(graph, pe);
        uint32_t step = n_tasks / TASKS_SAMPLED + 1;
        for (uint32_t i = 0; i < n_tasks; i += step) {
            struct wf_task task;
            struct wf_task_send send;
            graph->ops->task(graph, pe, i, &task);
            for (uint32_t s = 0; s < task.n_sends; s++) {
                graph->ops->send(graph, &task, s, &send);
                abroad += send.pe != pe ? 1 : 0;
            }
            all += task.n_sends;
        }
    }
    return all == 0 ? of : (uint64_t)((double)of * (double)abroad / (double)all);
}

uint64_t wf_pes_expected_messages(const struct wf_pes *pes)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < pes->n_jobs; i++) {
        const struct wf_graph *graph = pes->jobs[i].graph;
        if (graph->messages_expected == 0) {
            return 0;
        }
        sum += expected_abroad(graph, graph->messages_expected);
    }
    return sum;
}
