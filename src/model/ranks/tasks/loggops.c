/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tasks/loggops.h"

#include "base/arith.h"
#include "base/mem.h"
#include "model/ranks/node_params.h"
#include "model/ranks/node_totals.h"
#include "model/ranks/tasks/loggops_rules.h"

#include <stdlib.h>
#include <string.h>

/* What one event of the engine does at most. */
enum { ITEMS_PER_EVENT = 256 };

/* The payload of events: so their digest depends on everything that happened before. */
struct progress {
    uint64_t digest;
};

/* ---- the process ---- */

enum event_kind { EVENT_BEGIN = WF_NET_KINDS, EVENT_CONTINUE, EVENT_END };

static void process_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_loggops *l = wf_model(ctx);
    int64_t first = WF_TIME_MAX;

    for (uint32_t i = 0; i < l->pes->n_jobs; i++) {
        first = wf_min_i64(first, l->pes->jobs[i].start);
    }
    wf_schedule(ctx, wf_self(ctx), first, EVENT_BEGIN, &(struct progress){0},
                sizeof(struct progress));
}

static void schedule_next(const struct wf_loggops *l, enum event_kind kind, int64_t at)
{
    int64_t now = wf_now(l->ctx);

    wf_schedule(l->ctx, wf_self(l->ctx),
                at == WF_TIME_MAX ? WF_TIME_MAX : wf_max_i64(at, now) - now, (uint16_t)kind,
                &(struct progress){l->digest}, sizeof(struct progress));
}

/* Nothing outside can influence the hosts. So an event may do what comes after its own time. */
static void process_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct wf_loggops *l = wf_model(ctx);
    bool goes_on = true;
    int64_t time;

    l->ctx = ctx;
    l->latencies.n = 0;
    if (ev->kind == EVENT_BEGIN) {
        wf_loggops_begin(l);
    }
    for (uint32_t i = 0; goes_on && i < ITEMS_PER_EVENT; i++) {
        goes_on = l->latencies.n < WF_LOGGOPS_LATENCIES && wf_loggops_handle(l);
    }
    wf_note(ctx, &l->latencies,
            offsetof(struct wf_loggops_latencies, of) +
                l->latencies.n * sizeof(l->latencies.of[0]));
    if (wf_agenda_time(l->agenda, &time)) {
        schedule_next(l, EVENT_CONTINUE, time);
    } else if (ev->kind != EVENT_END) {
        schedule_next(l, EVENT_END, l->time);
    }
    l->ctx = NULL;
}

static void process_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    const struct wf_loggops *l = wf_model(ctx);
    struct wf_pe_tally *tally = wf_tally(ctx);
    struct wf_loggops_latencies latencies;

    wf_node_commit(l->pes->net, &l->pes->recorder, ev, ctx);
    memcpy(&latencies.n, note, sizeof(latencies.n));
    memcpy(latencies.of,
           (const unsigned char *)note + offsetof(struct wf_loggops_latencies, of),
           latencies.n * sizeof(latencies.of[0]));
    for (uint64_t i = 0; i < latencies.n; i++) {
        wf_node_count_latency(&l->pes->recorder, &tally->replay, latencies.of[i]);
    }
}

/* ---- the end ---- */

/* The first task of a host that has posted a receive in vain, or whose long message found no
 * receive; WF_NO_TASK if there is none. */
static uint32_t find_unmatched(const struct wf_loggops *l, uint32_t host)
{
    uint32_t task = WF_NO_TASK;

    for (uint32_t i = 1; i < wf_agenda_numbers(l->agenda); i++) {
        const struct wf_agenda_item *item = wf_agenda_item(l->agenda, i);
        bool is_message = item->kind == WF_LOGGOPS_MESSAGE;
        if (item->host != UINT32_MAX && (is_message ? item->peer : item->host) == host &&
            (!is_message || wf_loggops_is_long(l, item)) && item->task < task) {
            task = item->task;
        }
    }
    return task;
}

/* What a host waits for: a message or a receive, or else tasks of its own. */
static struct wf_pe_blocked find_blocked(const struct wf_loggops *l, uint32_t host)
{
    struct wf_pe_blocked blocked = {
        .pe = host,
        .task = find_unmatched(l, host),
        .messages = 1,
        .missing_messages = 1,
        .started = l->hosts[host].n_ended,
        .n_tasks = l->hosts[host].n_tasks,
    };
    const struct wf_map_entry *entry;

    if (blocked.task != WF_NO_TASK) {
        return blocked;
    }
    blocked.messages = blocked.missing_messages = 0;
    for (size_t at = 0; (entry = wf_map_next(&l->missing, &at)) != NULL;) {
        if (entry->key >> 32 == host && (uint32_t)entry->key < blocked.task) {
            blocked.task = (uint32_t)entry->key;
            blocked.missing_tasks = blocked.tasks = (uint32_t)entry->value;
        }
    }
    /* Steps that wait for each other have heard of none that ended. */
    blocked.task = blocked.task == WF_NO_TASK ? 0 : blocked.task;
    return blocked;
}

static void count_host(const struct wf_loggops *l, uint32_t number, struct wf_pe_tally *tally)
{
    const struct wf_loggops_host *host = &l->hosts[number];
    struct wf_rank_totals totals = {
        .number = number,
        .job = host->job,
        .messages = host->sent_messages,
        .bytes = host->sent_bytes,
        .compute_ps = host->compute_ps,
        .overhead_ps = host->overhead_ps,
        .wait_ps = {[WF_IN_SEND] = WF_NO_WAIT,
                    [WF_IN_COLLECTIVE] = WF_NO_WAIT,
                    [WF_IN_FILE] = WF_NO_WAIT,
                    [WF_IN_CORE] = WF_NO_WAIT},
        .ended = host->n_ended == host->n_tasks,
    };

    for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++) {
        totals.clock = wf_max_i64(totals.clock, *wf_loggops_cpu(l, number, (uint8_t)cpu));
    }
    int64_t idle = totals.clock - l->pes->jobs[host->job].start -
                   wf_time_add(host->compute_ps, host->overhead_ps);
    totals.wait_ps[WF_IN_RECV] = wf_max_i64(idle, 0);
    wf_node_count_rank(&l->pes->recorder, &tally->replay, &totals);
    tally->tasks += host->n_ended;
    tally->replay.unreceived += wf_matching_messages(l->matching, number);
    if (!totals.ended) {
        tally->replay.unfinished++;
        wf_tally_block(&tally->replay, &(struct wf_blocked){.rank = number});
        if (tally->n_blocked < WF_TALLY_BLOCKED) { /* hosts come in the order of numbers */
            const struct wf_pe_blocked blocked = find_blocked(l, number);
            wf_pe_add_blocked(tally, &blocked);
        }
    }
}

static void process_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_loggops *l = wf_model(ctx);
    struct wf_pe_tally *tally = wf_tally(ctx);

    tally->replay.at = l->pes->recorder.at;
    tally->surplus += l->surplus;
    for (uint32_t host = 0; host < l->n_hosts; host++) {
        count_host(l, host, tally);
    }
}

/* ---- the model ---- */

/* Its state is not in the engine, which therefore cannot undo an event. */
static const struct wf_process_ops process_ops = {
    .name = "loggops",
    .payload_max = sizeof(struct progress),
    .careful = true,
    .init = process_init,
    .event = process_event,
    .commit = process_commit,
    .finish = process_finish,
};

/* WF_EUSAGE if a parameter of the node is not at its default. */
static enum wf_status check_node(const struct wf_node_params *node, struct wf_err *err)
{
    struct wf_node_params defaults = {.o_send = 0};
    char given[WF_PARAM_TEXT_MAX], standard[WF_PARAM_TEXT_MAX];
    const struct wf_param *row = wf_node_params;

    if (node == &wf_node_free) {
        return WF_OK;
    }
    WF_TRY(wf_param_defaults(wf_node_params, &defaults, err));
    while (row->name != NULL && strcmp(wf_param_format(row, node, given),
                                       wf_param_format(row, &defaults, standard)) == 0) {
        row++;
    }
    wf_param_release(wf_node_params, &defaults);
    if (row->name == NULL) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EUSAGE,
                      "node.%s: net.preset=loggopsim has the rules of LogGOPSim, which has "
                      "no such cost; leave it out, or choose another preset",
                      row->name);
}

static enum wf_status check_settings(const struct wf_pes *pes, struct wf_err *err)
{
    if (pes->place->slots_max > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.preset: in loggopsim a rank has a CPU and an interface of its "
                          "own; place one rank on a node");
    }
    return check_node(pes->node, err);
}

static void make_hosts(struct wf_loggops *l)
{
    l->hosts = wf_xcalloc(l->n_hosts, sizeof(*l->hosts));
    l->cpus = wf_xcalloc((size_t)l->n_hosts * l->n_cpus, sizeof(*l->cpus));
    l->senders = wf_xcalloc((size_t)l->n_hosts * l->n_nics, sizeof(*l->senders));
    l->receivers = wf_xcalloc((size_t)l->n_hosts * l->n_nics, sizeof(*l->receivers));
    for (uint32_t host = 0, job = 0; host < l->n_hosts; host++) {
        while (host >= l->pes->first[job + 1]) {
            job++;
        }
        int64_t from = l->pes->jobs[job].start;
        l->hosts[host] = (struct wf_loggops_host){
            .job = job,
            .n_tasks = l->steps[job].ops->n_tasks(&l->steps[job], host - l->pes->first[job]),
            .recorded = from,
        };
        for (uint32_t i = 0; i < l->n_cpus; i++) {
            *wf_loggops_cpu(l, host, (uint8_t)i) = from;
        }
        for (uint32_t i = 0; i < l->n_nics; i++) {
            *wf_loggops_nic(l, l->senders, host, (uint8_t)i) = from;
            *wf_loggops_nic(l, l->receivers, host, (uint8_t)i) = from;
        }
    }
}

enum wf_status wf_loggops_new(const struct wf_pes *pes, struct wf_engine *engine,
                              struct wf_loggops **out, struct wf_err *err)
{
    WF_TRY(check_settings(pes, err));
    struct wf_loggops *l = wf_xcalloc(1, sizeof(*l));

    l->pes = pes;
    l->rules = pes->net->loggops;
    l->n_hosts = pes->first[pes->n_jobs];
    l->steps = wf_xcalloc(pes->n_jobs, sizeof(*l->steps));
    for (uint32_t i = 0; i < pes->n_jobs; i++) {
        l->steps[i] = wf_steps_of(pes->jobs[i].graph);
        l->n_cpus = l->steps[i].n_cpus > l->n_cpus ? l->steps[i].n_cpus : l->n_cpus;
        l->n_nics = l->steps[i].n_nics > l->n_nics ? l->steps[i].n_nics : l->n_nics;
    }
    make_hosts(l);
    l->agenda = wf_agenda_new(l->n_hosts);
    l->matching = wf_matching_new(l->n_hosts);
    (void)wf_engine_add(engine, &process_ops, 1, sizeof(uint64_t), l);
    *out = l;
    return WF_OK;
}

void wf_loggops_free(struct wf_loggops *loggops)
{
    if (loggops != NULL) {
        free(loggops->steps);
        free(loggops->hosts);
        free(loggops->cpus);
        free(loggops->senders);
        free(loggops->receivers);
        free(loggops->ready[0].steps);
        free(loggops->ready[1].steps);
        wf_agenda_free(loggops->agenda);
        wf_matching_free(loggops->matching);
        wf_map_fini(&loggops->missing);
        free(loggops);
    }
}
