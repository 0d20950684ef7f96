/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/chakra/chakra.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>

/*
 * The tasks of a node follow each other. A collective of n steps has tasks 0 to n: task k sends
 * the message of step k, and waits for task k - 1 and for the messages of the steps before it
 * that end there: of step k - 1, and of those that went on without waiting until then.
 */

static struct wf_chakra *trace_of(const struct wf_graph *graph)
{
    return wf_unconst(graph);
}

/* The node of a task: the last one whose first task is this or an earlier one. */
static const struct wf_chakra_node *node_of(const struct wf_chakra_rank *rank, uint32_t task)
{
    uint32_t low = 0;

    if (rank->n_tasks == rank->n) {
        return &rank->nodes[task];
    }
    WF_BISECT_LAST(low, rank->n, middle, rank->nodes[middle].first_task <= task);
    return &rank->nodes[low];
}

static uint32_t graph_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    return trace_of(graph)->ranks[pe].n_tasks;
}

static struct wf_coll_args args_of(const struct wf_chakra_call *call, uint32_t member)
{
    struct wf_coll_args args = call->args;

    args.rank = member;
    return args;
}

/* How many messages a rank receives in step `last`, and in those before it that go on. */
static uint32_t count_received(const struct wf_coll_ops *ops, const struct wf_coll_args *args,
                               uint32_t last)
{
    struct wf_coll_step step;
    uint32_t n = 0;

    for (uint32_t i = last;; i--) {
        (void)ops->step(args, i, &step);
        if (i < last && !step.go_on) {
            break;
        }
        n += step.recv_from != WF_COLL_NOBODY ? 1 : 0;
        if (i == 0) {
            break;
        }
    }
    return n;
}

/* The task of a collective that follows its last step. */
static uint32_t last_step(const struct wf_chakra_call *call, const struct wf_chakra_node *node)
{
    return call->by_table ? call->n_steps : node->n_tasks - 1;
}

/* The task of a node with which it is over. */
static uint32_t end_of(const struct wf_chakra *trace, const struct wf_chakra_node *node)
{
    if (node->type != WF_CHAKRA_COLL) {
        return 0;
    }
    const struct wf_chakra_call *call = &trace->calls[node->match];
    return call->by_table ? call->n_steps + 1 : node->n_tasks - 1;
}

static uint32_t messages_of(const struct wf_chakra *trace, const struct wf_chakra_node *node,
                            uint32_t k)
{
    const struct wf_chakra_call *call = &trace->calls[node->match];
    const struct wf_coll_args args = args_of(call, node->member);
    struct wf_coll_step step;

    (void)call->ops->step(&args, k - 1, &step);
    if (step.go_on && k < last_step(call, node)) {
        return 0;
    }
    return count_received(call->ops, &args, k - 1);
}

static struct wf_task_needs graph_needs(const struct wf_graph *graph, uint32_t pe,
                                        uint32_t task)
{
    const struct wf_chakra *trace = trace_of(graph);
    const struct wf_chakra_node *node = node_of(&trace->ranks[pe], task);
    struct wf_chakra_cache *cache = &trace->caches[pe];
    uint32_t k = task - node->first_task;

    if (k == 0) {
        return (struct wf_task_needs){node->n_before, node->type == WF_CHAKRA_RECV ? 1 : 0};
    }
    if (cache->needs_task != task) {
        const struct wf_chakra_call *call = &trace->calls[node->match];
        cache->needs = call->by_table && k > call->n_steps
                           ? wf_chakra_table_needs(call, node->member, k)
                           : (struct wf_task_needs){1, messages_of(trace, node, k)};
        cache->needs_task = task;
    }
    return cache->needs;
}

static uint32_t graph_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    const struct wf_chakra_rank *rank = &trace_of(graph)->ranks[pe];

    if (from >= rank->n_tasks) {
        return WF_NO_TASK;
    }
    uint32_t at = (uint32_t)(node_of(rank, from) - rank->nodes);
    for (at += rank->nodes[at].first_task < from ? 1 : 0; at < rank->n; at++) {
        if (rank->nodes[at].n_before == 0 && rank->nodes[at].type != WF_CHAKRA_RECV) {
            return rank->nodes[at].first_task;
        }
    }
    return WF_NO_TASK;
}

/* What task k of a collective does: combines what it has received, and sends. */
static void fill_step(const struct wf_chakra *trace, const struct wf_chakra_node *node,
                      uint32_t k, struct wf_task *out)
{
    const struct wf_chakra_call *call = &trace->calls[node->match];
    const struct wf_coll_args args = args_of(call, node->member);
    struct wf_coll_step step;

    uint32_t last = last_step(call, node);

    if (k < last && call->ops->step(&args, k, &step)) {
        out->n_sends = step.send_to != WF_COLL_NOBODY ? 1 : 0;
    }
    if (!call->by_table && k > 0 && trace->reduce_rate != WF_PARAM_WORD &&
        call->ops->step(&args, k - 1, &step) && step.recv_from != WF_COLL_NOBODY &&
        step.take != WF_COLL_STORE && step.take != WF_COLL_RELAY) {
        uint64_t bytes = wf_coll_bytes(&args, call->n_slots, &step.recv, true);
        out->duration = wf_transfer_ps(bytes, trace->reduce_rate);
    }
    if (call->by_table) {
        wf_chakra_table_task(call, node->member, k, out);
    }
}

/* own[0] is the node, own[1] the number of the task in it. */
static void graph_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                       struct wf_task *out)
{
    const struct wf_chakra *trace = trace_of(graph);
    const struct wf_chakra_rank *rank = &trace->ranks[pe];
    const struct wf_chakra_node *node = node_of(rank, task);
    uint32_t k = task - node->first_task;

    *out = (struct wf_task){.pe = pe,
                            .number = task,
                            .duration = node->duration,
                            .n_sends = node->type == WF_CHAKRA_SEND ? 1 : 0,
                            .n_next = k < end_of(trace, node) ? 1 : node->n_after,
                            .stream = node->stream,
                            .own = {(uint64_t)(node - rank->nodes), k}};
    if (node->type == WF_CHAKRA_COLL) {
        fill_step(trace, node, k, out);
    }
}

/* How many messages the rank has sent to `dst` in steps before k of this node. */
static uint32_t sent_before(struct wf_chakra_cache *cache, const struct wf_chakra_call *call,
                            const struct wf_coll_args *args, uint32_t node, uint32_t dst,
                            uint32_t k)
{
    struct wf_coll_step step;
    bool goes_on = cache->send_node == node && cache->send_dst == dst && cache->send_step <= k;
    uint32_t n = goes_on ? cache->send_n : 0;

    for (uint32_t i = goes_on ? cache->send_step : 0; i < k; i++) {
        n += call->ops->step(args, i, &step) && step.send_to == dst ? 1 : 0;
    }
    cache->send_node = node;
    cache->send_dst = dst;
    cache->send_step = k;
    cache->send_n = n;
    return n;
}

/* The id of a message of a collective is the first task of the receiver's node, plus the number
 * of the step or, if steps of sender and receiver differ, of the message between the two. */
static void graph_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                       struct wf_task_send *out)
{
    const struct wf_chakra *trace = trace_of(graph);
    const struct wf_chakra_node *node = &trace->ranks[task->pe].nodes[task->own[0]];
    uint32_t k = (uint32_t)task->own[1];
    struct wf_coll_step step;

    *out = (struct wf_task_send){.bytes = node->bytes, .pe = node->peer, .id = WF_NO_TASK};
    if (node->type != WF_CHAKRA_COLL) {
        if (node->match != WF_NO_TASK) {
            out->id = trace->ranks[node->peer].nodes[node->match].first_task;
        }
        return;
    }
    const struct wf_chakra_call *call = &trace->calls[node->match];
    const struct wf_coll_args args = args_of(call, node->member);
    if (call->by_table && wf_chakra_table_send(trace, call, node->member, k, i, out)) {
        return;
    }
    (void)call->ops->step(&args, k, &step);
    uint32_t place = call->aligned ? k
                                   : sent_before(&trace->caches[task->pe], call, &args,
                                                 (uint32_t)task->own[0], step.send_to, k);
    out->offset = task->duration;
    out->bytes = call->by_table && call->traffic > 0
                     ? call->traffic
                     : wf_coll_wire_bytes(call->protocol, wf_coll_bytes(&args, call->n_slots,
                                                                        &step.send, false));
    out->pe = trace->groups[call->group].members[step.send_to];
    out->id = trace->firsts[call->firsts + step.send_to] + place;
}

static uint32_t graph_next(const struct wf_graph *graph, const struct wf_task *task, uint32_t i)
{
    const struct wf_chakra *trace = trace_of(graph);
    const struct wf_chakra_rank *rank = &trace->ranks[task->pe];
    const struct wf_chakra_node *node = &rank->nodes[task->own[0]];

    if (task->own[1] < end_of(trace, node)) {
        return task->number + 1;
    }
    return rank->nodes[rank->after[node->after + i]].first_task;
}

/* The step in which a rank receives message `n` from a member; steps end at `end`. */
static uint32_t received_in(struct wf_chakra_cache *cache, const struct wf_chakra_call *call,
                            const struct wf_coll_args *args, uint32_t node, uint32_t src,
                            uint32_t n)
{
    struct wf_coll_step step;
    bool goes_on = cache->recv_node == node && cache->recv_src == src && cache->recv_n <= n;
    uint32_t left = goes_on ? n - cache->recv_n : n;
    uint32_t i = goes_on ? cache->recv_step : 0;

    while (call->ops->step(args, i, &step)) {
        if (step.recv_from == src && left-- == 0) {
            cache->recv_node = node;
            cache->recv_src = src;
            cache->recv_n = n;
            cache->recv_step = i;
            return i;
        }
        i++;
    }
    return UINT32_MAX;
}

/* The step in which the rank waits for what it receives in step i. */
static uint32_t waited_in(struct wf_chakra_cache *cache, const struct wf_chakra_call *call,
                          const struct wf_coll_args *args, uint32_t node, uint32_t i)
{
    struct wf_coll_step step;

    if (cache->wait_node == node && i >= cache->wait_from && i <= cache->wait_to) {
        return cache->wait_to;
    }
    cache->wait_node = node;
    cache->wait_from = i;
    while (call->ops->step(args, i, &step) && step.go_on &&
           call->ops->step(args, i + 1, &step)) {
        i++;
    }
    cache->wait_to = i;
    return i;
}

static uint32_t graph_target(const struct wf_graph *graph, uint32_t pe, uint32_t src,
                             uint32_t id)
{
    const struct wf_chakra *trace = trace_of(graph);
    const struct wf_chakra_rank *rank = &trace->ranks[pe];

    if (id == WF_NO_TASK) {
        return WF_NO_TASK;
    }
    const struct wf_chakra_node *node = node_of(rank, id);
    if (node->type != WF_CHAKRA_COLL) {
        return id;
    }
    const struct wf_chakra_call *call = &trace->calls[node->match];
    const struct wf_coll_args args = args_of(call, node->member);
    uint32_t number = (uint32_t)(node - rank->nodes), i = id - node->first_task;
    if (call->by_table && i > call->n_steps) {
        return id;
    }
    if (!call->aligned) {
        const struct wf_chakra_group *group = &trace->groups[call->group];
        uint32_t member = 0;
        WF_BISECT(member, group->n, middle, group->members[middle] < src);
        i = received_in(&trace->caches[pe], call, &args, number, member, i);
        if (i == UINT32_MAX) {
            return WF_NO_TASK;
        }
    }
    return node->first_task + waited_in(&trace->caches[pe], call, &args, number, i) + 1;
}

static void graph_destroy(struct wf_graph *graph)
{
    wf_chakra_free(trace_of(graph));
}

static const struct wf_graph_ops graph_ops = {
    .name = "chakra",
    .summary = "tasks of a Chakra execution trace",
    .destroy = graph_destroy,
    .n_tasks = graph_n_tasks,
    .root = graph_root,
    .needs = graph_needs,
    .task = graph_task,
    .send = graph_send,
    .next = graph_next,
    .target = graph_target,
    .prepare = wf_chakra_prepare,
};

void wf_chakra_forget(struct wf_chakra *trace)
{
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        trace->caches[r] = (struct wf_chakra_cache){.needs_task = WF_NO_TASK,
                                                    .wait_node = WF_NO_TASK,
                                                    .recv_node = WF_NO_TASK,
                                                    .send_node = WF_NO_TASK};
    }
}

void wf_chakra_graph(struct wf_chakra *trace)
{
    uint32_t n_gpus = 1;
    uint64_t n_tasks = 0;

    trace->caches = wf_xmalloc(trace->n_ranks * sizeof(*trace->caches));
    wf_chakra_forget(trace);
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        const struct wf_chakra_rank *rank = &trace->ranks[r];
        uint32_t n = rank->streams.n;
        n_tasks += rank->n_tasks;
        n_gpus = n > n_gpus ? n : n_gpus;
    }
    uint32_t n_streams =
        n_gpus > WF_STREAMS_MAX - WF_CHAKRA_GPU ? WF_STREAMS_MAX : WF_CHAKRA_GPU + n_gpus;
    for (uint32_t i = 0; i < n_streams; i++) {
        trace->streams[i] = WF_STREAM_GPU;
    }
    trace->streams[WF_CHAKRA_CPU] = WF_STREAM_CPU;
    trace->streams[WF_CHAKRA_COMM] = WF_STREAM_COMM;
    trace->streams[WF_CHAKRA_COPY] = WF_STREAM_COPY;
    trace->graph = (struct wf_graph){
        .ops = &graph_ops,
        .n_pes = trace->n_ranks,
        .tasks_expected = n_tasks,
        .n_streams = n_streams,
        .n_nics = 1,
        .streams = trace->streams,
    };
}

static void free_rank(struct wf_chakra_rank *rank)
{
    free(rank->nodes);
    free(rank->deps);
    free(rank->deps_of);
    free(rank->after);
    free(rank->order);
    wf_buf_fini(&rank->pg);
    wf_strings_fini(&rank->groups);
    wf_strings_fini(&rank->streams);
}

void wf_chakra_free(struct wf_chakra *trace)
{
    if (trace == NULL) {
        return;
    }
    for (uint32_t r = 0; trace->ranks != NULL && r < trace->n_ranks; r++) {
        free_rank(&trace->ranks[r]);
    }
    for (uint32_t i = 0; i < trace->names.n; i++) {
        free(trace->groups[i].members);
    }
    wf_strings_fini(&trace->names);
    free(trace->ranks);
    free(trace->groups);
    free(trace->calls);
    free(trace->firsts);
    free(trace->caches);
    free(trace);
}
