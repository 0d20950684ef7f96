/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/tasks/pe.h"

#include "base/mem.h"
#include "net/net.h"
#include "ranks/node.h"
#include "ranks/tasks/pe_rules.h"

#include <stdlib.h>
#include <string.h>

const char *const wf_pe_granularity_names[] = {"single", "multi", NULL};

/* Of a program, to learn how much of it stays within PEs. */
enum { PES_SAMPLED = 32, TASKS_SAMPLED = 64 };

/* What this layer writes on its messages. The message knows the node it comes from and the
 * event the node it goes to, so that slots say which PEs. */
struct header {
    uint16_t src_slot, dst_slot;
    uint32_t id;
    uint32_t departure[2];
    uint32_t padding;
};

_Static_assert(sizeof(struct header) == WF_NET_HEADER_WORDS * sizeof(uint32_t),
               "an header fills its place");
_Static_assert((int)WF_PE_CELL_SIZE >= (int)WF_CELLMAP_CELL_SIZE, "maps are kept in cells too");
_Static_assert(sizeof(struct wf_pe) % 8 == 0, "slots are aligned");

/* The payload of a PE's events for itself. */
struct own {
    uint32_t slot, argument;
};

static uint32_t job_of(const struct wf_pes *pes, uint32_t pe)
{
    uint32_t job = 0;

    while (pe >= pes->first[job + 1]) {
        job++;
    }
    return job;
}

static struct wf_pe_turn turn_of(const struct wf_pes *pes, struct wf_ctx *ctx, void *node,
                                 uint32_t slot)
{
    uint32_t pe = wf_place_rank(pes->place, wf_self(ctx) - pes->net->first_node, slot);
    uint32_t job = job_of(pes, pe);

    return (struct wf_pe_turn){
        .pes = pes,
        .ctx = ctx,
        .node = node,
        .pe = (struct wf_pe *)((unsigned char *)node + pes->net->node_size) + slot,
        .graph = pes->jobs[job].graph,
        .slot = slot,
        .number = pe - pes->first[job],
        .first = pes->first[job],
    };
}

void wf_pe_schedule(const struct wf_pe_turn *turn, enum wf_pe_event kind, uint32_t argument,
                    int64_t at)
{
    const struct own own = {turn->slot, argument};
    int64_t delay = at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(turn->ctx);

    wf_schedule(turn->ctx, wf_self(turn->ctx), delay, (uint16_t)kind, &own, sizeof(own));
}

void wf_pe_send(const struct wf_pe_turn *turn, const struct wf_task_send *send, int64_t at)
{
    const struct wf_pes *pes = turn->pes;
    uint32_t own_node = wf_self(turn->ctx) - pes->net->first_node;
    uint32_t to = turn->first + send->pe;
    uint32_t dst_node = wf_place_node(pes->place, to);
    struct wf_net_message msg = {.bytes = send->bytes, .src_node = own_node};
    struct header header = {.src_slot = (uint16_t)turn->slot,
                            .dst_slot = (uint16_t)wf_place_slot(pes->place, to),
                            .id = send->id};

    turn->pe->sent_messages++;
    turn->pe->sent_bytes = wf_count_add(turn->pe->sent_bytes, send->bytes);
    memcpy(header.departure, &at, sizeof(at));
    memcpy(msg.header, &header, sizeof(header));
    if (send->pe == turn->number) {
        wf_net_schedule(pes->net, turn->ctx, own_node, at, WF_PE_SELF, &msg);
    } else if (dst_node == own_node && pes->mpi->local) {
        wf_net_schedule(pes->net, turn->ctx, own_node, wf_time_add(at, pes->mpi->local_latency),
                        WF_PE_LOCAL, &msg);
    } else if (at > wf_now(turn->ctx) && !pes->runs_ahead) {
        /* The network wants it when it is time; whence it comes is known then. */
        msg.src_node = dst_node;
        wf_net_schedule(pes->net, turn->ctx, own_node, at, WF_PE_DEPART, &msg);
    } else {
        (void)pes->net->ops->send(pes->net, turn->ctx, turn->node, dst_node, &msg, at);
    }
}

/* ---- events ---- */

static void on_message(void *arg, struct wf_ctx *ctx, void *node,
                       const struct wf_net_message *msg, int64_t at)
{
    const struct wf_pes *pes = arg;
    struct header header;
    int64_t departure;

    memcpy(&header, msg->header, sizeof(header));
    memcpy(&departure, header.departure, sizeof(departure));
    const struct wf_pe_turn turn = turn_of(pes, ctx, node, header.dst_slot);
    uint32_t src = wf_place_rank(pes->place, msg->src_node, header.src_slot) - turn.first;
    int64_t latency = at - departure;

    if (src != turn.number) {
        wf_note(ctx, &latency, sizeof(latency));
    }
    if (src != turn.number && wf_recorder_is_on(&pes->recorder)) {
        wf_recorder_message(ctx, &(struct wf_sent){departure, at, msg->bytes, turn.first + src,
                                                   turn.first + turn.number});
    }
    wf_pe_begin(&turn);
    wf_pe_message(&turn, wf_graph_target(turn.graph, turn.number, src, header.id), at);
    wf_pe_end(&turn);
}

static void on_sent(void *arg, struct wf_ctx *ctx, void *node, const struct wf_net_message *msg)
{
    (void)arg;
    (void)ctx;
    (void)node;
    (void)msg;
}

static void on_own(const struct wf_pes *pes, struct wf_ctx *ctx, void *node,
                   const struct wf_event *ev)
{
    struct own own;

    memcpy(&own, ev->payload, sizeof(own));
    const struct wf_pe_turn turn = turn_of(pes, ctx, node, own.slot);
    wf_pe_begin(&turn);
    if (ev->kind == WF_PE_KICKOFF) {
        wf_pe_kickoff(&turn);
    } else if (ev->kind == WF_PE_ARRIVED) {
        wf_pe_arrived(&turn, own.argument);
    } else {
        wf_pe_wake(&turn, own.argument);
    }
    wf_pe_end(&turn);
}

static void node_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct wf_pes *pes = wf_model(ctx);
    const struct wf_net_message *msg = (const void *)ev->payload;

    if (ev->kind < WF_NET_KINDS) {
        pes->net->ops->event(pes->net, ctx, state, ev);
    } else if (ev->kind < WF_PE_DEPART) {
        on_own(pes, ctx, state, ev);
    } else if (ev->kind == WF_PE_DEPART) {
        struct wf_net_message out = *msg;
        out.src_node = wf_self(ctx) - pes->net->first_node;
        (void)pes->net->ops->send(pes->net, ctx, state, msg->src_node, &out, wf_now(ctx));
    } else {
        int64_t tail =
            ev->kind == WF_PE_LOCAL ? wf_transfer_ps(msg->bytes, pes->mpi->local_bandwidth) : 0;
        on_message(pes, ctx, state, msg, wf_time_add(wf_now(ctx), tail));
    }
}

static void node_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_pes *pes = wf_model(ctx);
    uint32_t n_slots = wf_place_n_slots(pes->place, wf_self(ctx) - pes->net->first_node);

    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const struct wf_pe_turn turn = turn_of(pes, ctx, state, slot);
        wf_pe_schedule(&turn, WF_PE_KICKOFF, 0,
                       pes->jobs[job_of(pes, turn.first + turn.number)].start);
    }
}

static void node_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    const struct wf_pes *pes = wf_model(ctx);
    const struct wf_net *net = pes->net;
    struct wf_pe_tally *tally = wf_tally(ctx);
    int64_t latency;

    if (net->n_sums > 0 && net->ops->commit != NULL && ev->kind < WF_NET_KINDS) {
        net->ops->commit(net, ev, ctx);
    }
    if (wf_recorder_is_on(&pes->recorder)) {
        wf_recorder_commit(&pes->recorder, ctx);
    }
    if (note != NULL) {
        memcpy(&latency, note, sizeof(latency));
        tally->replay.at = pes->recorder.at;
        wf_tally_latency(&tally->replay, wf_tally_net_counters(&tally->replay), latency);
    }
}

/* ---- the end ---- */

static bool has_lower_number(const void *a, const void *b)
{
    const struct wf_pe_blocked *x = a, *y = b;

    return x->pe < y->pe;
}

static void add_blocked(struct wf_pe_tally *tally, const struct wf_pe_blocked *blocked)
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
    for (uint32_t i = 0; i < b->n_blocked; i++) {
        add_blocked(a, &b->blocked[i]);
    }
}

static void add_unfinished(const struct wf_pe_turn *turn, struct wf_pe_tally *tally)
{
    uint32_t pe = turn->first + turn->number;
    struct wf_pe_blocked blocked;

    tally->replay.unfinished++;
    wf_tally_block(&tally->replay, &(struct wf_blocked){.rank = pe});
    if (tally->n_blocked == WF_TALLY_BLOCKED && pe > tally->blocked[WF_TALLY_BLOCKED - 1].pe) {
        return; /* looking for the task may take long */
    }
    if (wf_pe_find_blocked(turn, &blocked)) {
        add_blocked(tally, &blocked);
    }
}

static void record_pe(const struct wf_pe_turn *turn, const struct wf_waited *idle,
                      struct wf_ranks_tally *tally)
{
    struct wf_recording *recording = wf_recorder_recording(&turn->pes->recorder, tally);
    const struct wf_pe *pe = turn->pe;
    struct wf_account account = {
        .ranks = 1,
        .least_rank = idle->rank + UINT64_C(1),
        .finish_ps = (uint64_t)pe->free_at,
        .spent_ps = {[WF_SPENT_COMPUTING] = (uint64_t)pe->compute_ps,
                     [WF_SPENT_ON_MESSAGES] = (uint64_t)pe->overhead_ps,
                     [WF_SPENT_WAITING + (int) WF_IN_RECV] = (uint64_t)idle->time},
    };

    if (recording != NULL) {
        wf_recording_rank(recording, &account);
    }
}

static void add_pe(const struct wf_pe_turn *turn, struct wf_pe_tally *tally)
{
    const struct wf_pe *pe = turn->pe;
    uint32_t number = turn->first + turn->number, job = job_of(turn->pes, number);
    struct wf_job_tally *sum = &tally->replay.jobs[job];
    int64_t busy = wf_time_add(pe->compute_ps, pe->overhead_ps);
    int64_t lasted = pe->free_at - turn->pes->jobs[job].start;
    const struct wf_waited idle = {lasted > busy ? lasted - busy : 0, number, WF_IN_RECV};

    sum->messages += pe->sent_messages;
    sum->bytes = wf_count_add(sum->bytes, pe->sent_bytes);
    tally->tasks += pe->started;
    tally->surplus += pe->surplus;
    wf_tally_end(&tally->replay, number, pe->free_at);
    tally->replay.unreceived += pe->unneeded;
    tally->replay.timeless += pe->free_at == WF_TIME_MAX;
    wf_stat_add(&sum->compute, pe->compute_ps);
    wf_stat_add(&sum->overhead, pe->overhead_ps);
    wf_stat_add(&sum->wait[WF_IN_RECV], idle.time);
    wf_stat_add(&sum->waits, idle.time);
    wf_tally_wait(&tally->replay, &idle);
    record_pe(turn, &idle, &tally->replay);
    if (pe->started >= turn->graph->ops->n_tasks(turn->graph, turn->number)) {
        wf_stat_add(&sum->finish, pe->free_at);
    } else {
        add_unfinished(turn, tally);
    }
}

static void node_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_pes *pes = wf_model(ctx);
    uint32_t n_slots = wf_place_n_slots(pes->place, wf_self(ctx) - pes->net->first_node);
    struct wf_pe_tally *tally = wf_tally(ctx);

    tally->replay.at = pes->recorder.at;
    if (pes->net->ops->finish != NULL) {
        pes->net->ops->finish(pes->net, ctx, state, &tally->replay.net);
    }
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        /* Nothing is changed: a turn is how a PE is looked at. */
        const struct wf_pe_turn turn = turn_of(pes, ctx, wf_unconst(state), slot);

        add_pe(&turn, tally);
    }
}

/* ---- the model ---- */

/* Completed by the size of the network's payloads. */
static const struct wf_process_ops node_ops = {
    .name = "node",
    .announces_changes = true,
    .init = node_init,
    .event = node_event,
    .commit = node_commit,
    .finish = node_finish,
};

static size_t node_size(const struct wf_pes *pes)
{
    return pes->net->node_size + pes->place->slots_max * sizeof(struct wf_pe);
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
                                     config->recording != NULL ? &options : NULL, config->place,
                                     config->net, sizeof(struct wf_pe_tally)),
                    merge_tallies);
}

enum wf_status wf_pes_new(struct wf_engine *engine, const struct wf_pe_config *config,
                          struct wf_pes **out, struct wf_err *err)
{
    struct wf_pes *pes = wf_xcalloc(1, sizeof(*pes));
    const struct wf_net_user user = {.arg = pes, .arrived = on_message, .sent = on_sent};
    uint32_t n_pes = 0;

    for (uint32_t i = 0; i < config->n_jobs; i++) {
        pes->jobs[i] = config->jobs[i];
        pes->first[i] = n_pes;
        n_pes += config->jobs[i].graph->n_pes;
    }
    pes->first[config->n_jobs] = n_pes;
    pes->n_jobs = config->n_jobs;
    pes->net = config->net;
    pes->place = config->place;
    pes->mpi = config->mpi;
    pes->cpu = config->cpu;
    pes->granularity = config->granularity;
    pes->timeless = config->timeless;
    pes->runs_ahead = config->net->ahead == WF_NET_ANY ||
                      (config->net->ahead == WF_NET_IN_ORDER && config->place->slots_max == 1);
    pes->ops = node_ops;
    pes->ops.payload_max = wf_node_payload_max(config->net);

    enum wf_status status = wf_node_check(config->place, config->net, n_pes, "PEs", err);
    if (status != WF_OK) {
        free(pes);
        return status;
    }
    uint32_t first =
        wf_engine_add(engine, &pes->ops, config->place->n_nodes, node_size(pes), pes);
    wf_engine_cells(engine, WF_PE_CELL_SIZE);
    ask_for_tally(pes, config, engine);
    wf_net_attach(config->net, engine, first, &user);
    *out = pes;
    return WF_OK;
}

void wf_pes_free(struct wf_pes *pes)
{
    free(pes);
}

/* How many of `of` messages of a PE go to others: by a sample, since only those are counted. */
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

size_t wf_pes_idle_bytes(const struct wf_pes *pes)
{
    return node_size(pes) / pes->place->slots_max;
}
