/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives that take the time of NCCL's table (model/coll/nccl.h), as in programs of MPI
 * (model/ranks/formula.c). A call with n steps of traffic between nodes, or none, has these tasks:
 *
 *     0 to n   the steps, as in other calls; task 0 tells the hub that its member has called,
 *              task n that the member's traffic has arrived, if there is any
 *     n + 1    the end at this member, when the hub has released it
 *     n + 2    at the hub: all have called; the table's time runs from here
 *     n + 3    at the hub, with traffic: the time is over and all traffic has arrived
 */
#include "base/arith.h"
#include "base/units.h"
#include "model/coll/nccl.h"
#include "program/trace/chakra/chakra.h"

enum { TRAFFIC_LEAST = 1 };

/* Which members tell the hub that they have called, and which the hub releases. */
static bool reports(const struct wf_chakra_call *call, uint32_t member)
{
    return call->args.kind != WF_COLL_BCAST || member == call->args.root;
}

static bool is_released(const struct wf_chakra_call *call, uint32_t member)
{
    return call->args.kind != WF_COLL_REDUCE || member == call->args.root;
}

static uint32_t hub_of(const struct wf_chakra_call *call)
{
    return wf_coll_has_root(call->args.kind) ? call->args.root : 0;
}

uint32_t wf_chakra_table_tasks(const struct wf_chakra_call *call, uint32_t member)
{
    uint32_t at_hub = call->n_steps > 0 ? 2 : 1;

    return call->n_steps + 2 + (member == hub_of(call) ? at_hub : 0);
}

struct wf_task_needs wf_chakra_table_needs(const struct wf_chakra_call *call, uint32_t member,
                                           uint32_t k)
{
    uint32_t all = call->args.size;

    if (k == call->n_steps + 1) {
        return (struct wf_task_needs){1, is_released(call, member) ? 1 : 0};
    }
    if (k == call->n_steps + 2) {
        return (struct wf_task_needs){0, call->args.kind == WF_COLL_BCAST ? 1 : all};
    }
    return (struct wf_task_needs){0, all + 1};
}

/* The signals that task k sends. */
static uint32_t n_signals(const struct wf_chakra_call *call, uint32_t member, uint32_t k)
{
    bool with_traffic = call->n_steps > 0;

    if (k <= call->n_steps) {
        return (uint32_t)(k == 0 && reports(call, member)) +
               (uint32_t)(k == call->n_steps && with_traffic);
    }
    if (k == call->n_steps + 1) {
        return 0;
    }
    if (k == call->n_steps + 2 && with_traffic) {
        return 1;
    }
    return call->args.kind == WF_COLL_REDUCE ? 1 : call->args.size;
}

void wf_chakra_table_task(const struct wf_chakra_call *call, uint32_t member, uint32_t k,
                          struct wf_task *out)
{
    out->n_sends += n_signals(call, member, k);
    if (k > call->n_steps) {
        out->n_signals = wf_chakra_table_needs(call, member, k).messages;
    }
    if (k > call->n_steps + 1) {
        out->n_next = 0;
    }
}

bool wf_chakra_table_send(const struct wf_chakra *trace, const struct wf_chakra_call *call,
                          uint32_t member, uint32_t k, uint32_t i, struct wf_task_send *out)
{
    int64_t least = trace->least_delay, two = wf_time_add(least, least);
    bool with_traffic = call->n_steps > 0;
    uint32_t to = hub_of(call), place = call->n_steps + (k == 0 ? 2 : 3);

    if (i >= n_signals(call, member, k)) {
        return false;
    }
    out->delay = wf_max_i64(least, 1);
    if (k == call->n_steps + 2 && with_traffic) {
        out->delay = wf_max_i64(call->time - two, 1);
    } else if (k > call->n_steps) {
        out->delay = with_traffic ? out->delay : wf_max_i64(call->time - least, out->delay);
        to = call->args.kind == WF_COLL_REDUCE ? to : i;
        place = call->n_steps + 1;
    }
    out->pe = trace->groups[call->group].members[to];
    out->id = trace->firsts[call->firsts + to] + place;
    return true;
}

/* ---- preparing ---- */

struct nodes {
    const uint32_t *of, *members;
};

static uint32_t node_of(const void *arg, uint32_t member)
{
    const struct nodes *nodes = arg;

    return nodes->of[nodes->members[member]];
}

static uint64_t whole_bytes(const struct wf_coll_args *args)
{
    bool whole = args->kind == WF_COLL_BCAST || args->kind == WF_COLL_REDUCE ||
                 args->kind == WF_COLL_ALLREDUCE;

    return whole ? args->bytes : wf_times_u64(args->bytes, args->size);
}

static void use_table(struct wf_chakra_call *call, const struct wf_graph_machine *machine)
{
    uint64_t bytes = whole_bytes(&call->args);

    call->by_table = true;
    call->time = wf_coll_nccl_choose(&call->args, bytes, false).time;
    call->ops = machine->has_traffic ? wf_coll_traffic(&call->args) : NULL;
    call->protocol = WF_COLL_PLAIN;
    call->traffic = 0;
    call->n_steps = 0;
    call->aligned = true;
    if (call->ops != NULL) {
        call->n_slots = call->ops->n_slots(&call->args);
        call->n_steps = wf_chakra_count_steps(call->ops, &call->args);
        call->aligned = wf_chakra_is_aligned(call);
        if (call->args.kind != WF_COLL_ALLTOALL) {
            call->traffic =
                wf_max_u64(wf_coll_traffic_bytes(&call->args, bytes), TRAFFIC_LEAST);
        }
    }
}

static bool is_alike(const struct wf_chakra_call *a, const struct wf_chakra_call *b)
{
    return a->group == b->group && a->args.kind == b->args.kind &&
           a->args.bytes == b->args.bytes && a->args.root == b->args.root;
}

void wf_chakra_prepare(struct wf_graph *graph, const struct wf_graph_machine *machine)
{
    struct wf_chakra *trace = (struct wf_chakra *)graph;
    const struct wf_chakra_call *last = NULL;

    trace->nccl = *machine->nccl;
    trace->least_delay = machine->least_delay;
    for (uint64_t i = 0; i < trace->n_calls; i++) {
        struct wf_chakra_call *call = &trace->calls[i];
        const uint32_t *members = trace->groups[call->group].members;
        if (trace->coll_rules != WF_COLL_RULES_NCCL ||
            (machine->by_table & UINT32_C(1) << call->args.kind) == 0) {
            wf_chakra_choose(trace, call, last);
        } else if (last != NULL && last->by_table && is_alike(last, call)) {
            uint64_t firsts = call->firsts;
            *call = *last;
            call->firsts = firsts;
        } else {
            call->args.nccl = &trace->nccl;
            call->args.node_size = wf_coll_scan_nodes(call->args.size, node_of,
                                                      &(struct nodes){machine->nodes, members});
            use_table(call, machine);
        }
        last = call;
    }
    (void)wf_chakra_number_tasks(trace); /* never more tasks than the messages had, or two */
    wf_chakra_forget(trace);
}
