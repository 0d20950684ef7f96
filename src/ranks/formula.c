/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom is settled at one member, the hub: the root, or rank 0 of the
 * communicator. The others report to it when they came; it knows from the last report when
 * everybody goes on, and releases them at that time. Each of these signals takes at least the
 * least delay of the network, which the engine relies on, so that a collective costs one or two
 * of them even if its formula says less.
 *
 * What a rank knows of a collective is a cell, a record: signals may come before its own call.
 * It is found among the rank's handles by numbers that no handle has.
 */
#include "ranks/formula.h"

#include "ranks/because.h"
#include <string.h>

const char *const wf_formula_names[] = {[WF_FORMULA_NONE] = "",
                                        [WF_FORMULA_IDEAL] = "ideal",
                                        [WF_FORMULA_HARDWARE] = "hardware",
                                        NULL};

enum wf_formula wf_formula_find(const char *name)
{
    if (strcmp(name, wf_formula_names[WF_FORMULA_IDEAL]) == 0) {
        return WF_FORMULA_IDEAL;
    }
    return strcmp(name, wf_formula_names[WF_FORMULA_HARDWARE]) == 0 ? WF_FORMULA_HARDWARE
                                                                    : WF_FORMULA_NONE;
}

/* Who waits for whom. */
enum waits { FOR_ALL, FOR_ROOT, ROOT_FOR_ALL };

static enum waits waits_of(enum wf_coll_kind kind)
{
    static const uint8_t table[WF_COLL_KINDS] = {
        [WF_COLL_BCAST] = FOR_ROOT,      [WF_COLL_SCATTER] = FOR_ROOT,
        [WF_COLL_SCATTERV] = FOR_ROOT,   [WF_COLL_REDUCE] = ROOT_FOR_ALL,
        [WF_COLL_GATHER] = ROOT_FOR_ALL, [WF_COLL_GATHERV] = ROOT_FOR_ALL,
    };

    return (enum waits)table[kind];
}

/* ---- the formula ---- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What is added to the time of the last arrival that is waited for. */
static int64_t cost_of(const struct wf_mpi *mpi, const struct wf_coll_args *args,
                       uint64_t bytes)
{
    int64_t least = mpi->net->promise_ps, cost = 0;

    if (waits_of(args->kind) == FOR_ALL) {
        least = wf_time_add(least, least);
    }
    if (mpi->formula[args->kind] == WF_FORMULA_HARDWARE) {
        for (uint64_t reach = 1; reach < args->size; reach *= 2) {
            cost = wf_time_add(cost, mpi->params->hw_latency);
        }
        cost = wf_time_add(cost, wf_transfer_ps(bytes, mpi->params->hw_bandwidth));
    }
    return wf_later(cost, least);
}

/* ---- signals ---- */

enum { REPORT, RELEASE };

/* The payload of an event; free of padding. */
struct signal {
    int64_t time;   /* of arrival, or when to go on */
    uint64_t bytes; /* of a report; of a release by the root: what the receiver's call is of */
    uint32_t context;
    int32_t tag;
    uint32_t src; /* a rank of the run */
    uint16_t slot, what;
};

_Static_assert(sizeof(struct signal) <= sizeof(struct wf_net_message),
               "fits the events of nodes");

static void send_signal(const struct wf_caller *who, uint32_t to, struct signal signal,
                        int64_t at)
{
    const struct wf_mpi *mpi = who->mpi;
    uint32_t node = wf_place_node(mpi->place, to);

    signal.src = who->number;
    signal.slot = (uint16_t)wf_place_slot(mpi->place, to);
    wf_schedule(who->ctx, mpi->net->first_node + node,
                at == WF_TIME_MAX ? at : at - wf_now(who->ctx), WF_NODE_SIGNAL, &signal,
                sizeof(signal));
}

/* ---- meetings ---- */

/* Of a request that is a record, `bytes` and `at` are the most of all so far, or `at` is when
 * to go on; */
static uint32_t *reports(struct wf_rank_request *record)
{
    return &record->handle;
}

/* ...and this is the rank's own collective, a cell; 0 before its call. */
static uint32_t *own_call(struct wf_rank_request *record)
{
    return &record->peer;
}

/* What the hub knows of the sizes that others called with, besides the largest in `bytes`. */
struct sizes {
    uint32_t first; /* the rank that reported first... */
    uint32_t odd;   /* ...and one whose size is another, if has_odd */
    bool has_odd;
    uint64_t value; /* the odd size; the hub's own once it has called; the sum in a gatherv */
};

/* The member that was last of those that are there, at the hub: beside whether there is an odd
 * size. */
static uint32_t last_of(const struct wf_rank_request *record)
{
    return record->asked >> 1;
}

/* A member is there, and was so at this time. */
static void come(struct wf_rank_request *record, uint32_t rank, int64_t time)
{
    if (time > record->at) {
        record->at = time;
        record->asked = rank << 1 | (record->asked & 1);
    }
}

static struct sizes sizes_of(const struct wf_rank_request *record)
{
    return (struct sizes){.first = record->owner,
                          .odd = record->key.src,
                          .has_odd = (record->asked & 1) != 0,
                          .value = (uint64_t)record->later << 32 | record->earlier};
}

static void set_sizes(struct wf_rank_request *record, const struct sizes *sizes)
{
    record->owner = sizes->first;
    record->key.src = sizes->odd;
    record->asked = (record->asked & ~UINT32_C(1)) | sizes->has_odd;
    record->later = (uint32_t)(sizes->value >> 32);
    record->earlier = (uint32_t)sizes->value;
}

/* Above all handles. Few meetings are open at once, so that hardly two have the same number. */
static uint32_t number_of(uint32_t context, int32_t tag)
{
    uint32_t mixed = (uint32_t)tag ^ context << 15;

    return UINT32_C(0x80000000) | (mixed & UINT32_C(0x3fffffff));
}

/* Meetings of one number are linked. */
static uint32_t find(const struct wf_caller *who, uint32_t context, int32_t tag)
{
    uint32_t cell = wf_cellmap_get(who->ctx, &who->rank->handles, number_of(context, tag));

    while (cell != 0) {
        const struct wf_rank_request *record = wf_request_read(who, cell);
        if (record->key.context == context && record->key.tag == tag) {
            break;
        }
        cell = record->next;
    }
    return cell;
}

/* The record of this collective, which is made if there is none. */
static uint32_t find_or_make(const struct wf_caller *who, uint32_t context, int32_t tag)
{
    uint32_t number = number_of(context, tag), cell = find(who, context, tag);

    if (cell != 0) {
        return cell;
    }
    cell = wf_cell_new(who->ctx);
    *wf_request_edit(who, cell) = (struct wf_rank_request){
        .key = {.context = context, .tag = tag},
        .request = WF_MATCH_ANY_SOURCE,
        .kind = WF_REQ_FORMULA,
        .next = wf_cellmap_take(who->ctx, &who->rank->handles, number)};
    wf_cellmap_put(who->ctx, &who->rank->handles, number, cell);
    return cell;
}

static void end_record(const struct wf_caller *who, uint32_t cell)
{
    const struct wf_rank_request *record = wf_request_read(who, cell);
    uint32_t number = number_of(record->key.context, record->key.tag);
    uint32_t after = record->next;
    uint32_t at = wf_cellmap_get(who->ctx, &who->rank->handles, number);

    if (at == cell) {
        (void)wf_cellmap_take(who->ctx, &who->rank->handles, number);
        if (after != 0) {
            wf_cellmap_put(who->ctx, &who->rank->handles, number, after);
        }
    } else {
        while (wf_request_read(who, at)->next != cell) {
            at = wf_request_read(who, at)->next;
        }
        wf_request_edit(who, at)->next = after;
    }
    wf_cell_free(who->ctx, cell);
}

/* ---- calls ---- */

static uint32_t hub_of(const struct wf_coll_args *args)
{
    return wf_coll_has_root(args->kind) ? args->root : 0;
}

static struct signal signal_of(const struct wf_formula_call *call, uint16_t what, int64_t time)
{
    return (struct signal){.time = time,
                           .bytes = wf_formula_bytes(call->args),
                           .context = wf_rank_context(call->group->id, true),
                           .tag = call->tag,
                           .what = what};
}

/* ---- sizes that must be the same ---- */

/* Whether all members of such a collective but the root report the same size. */
static bool has_one_size(int32_t tag)
{
    static const bool has_several[WF_COLL_KINDS] = {
        [WF_COLL_GATHERV] = true,
        [WF_COLL_ALLTOALLV] = true,
        [WF_COLL_NEIGHBOR_ALLGATHER] = true,
        [WF_COLL_NEIGHBOR_ALLTOALL] = true,
    };

    return !has_several[wf_collective_of_tag(tag)];
}

/* What member i must have called it with, or reported, as this member's call has it. */
static uint64_t share_of(const struct wf_coll_args *args, uint32_t i)
{
    if (args->kind == WF_COLL_SCATTERV && args->counts != NULL) {
        return args->counts[i];
    }
    return wf_coll_has_root(args->kind) ? args->bytes : wf_formula_bytes(args);
}

static void fail(const struct wf_caller *who, const struct wf_rank_request *record,
                 uint32_t peer, uint64_t own, uint64_t other)
{
    const struct wf_match_key key = {record->key.context, peer, record->key.tag};

    wf_rank_fail_sizes(who, &key, own, other);
}

/* The hub calls: compares what came before with its own size. */
static bool agrees_with_reports(const struct wf_caller *who, struct wf_rank_request *record,
                                const struct wf_formula_call *call)
{
    struct sizes sizes = sizes_of(record);
    uint64_t own = share_of(call->args, call->args->rank);

    if (!has_one_size(call->tag)) {
        return true;
    }
    if (*reports(record) > 0 && record->bytes != own) {
        fail(who, record, sizes.first, own, record->bytes);
        return false;
    }
    if (sizes.has_odd) {
        fail(who, record, sizes.odd, own, sizes.value);
        return false;
    }
    sizes.value = own;
    set_sizes(record, &sizes);
    return true;
}

/* At the hub, a report: compares its size with the hub's own, or keeps it until that is known.
 */
static bool agrees_with_hub(const struct wf_caller *who, struct wf_rank_request *record,
                            const struct signal *signal)
{
    struct sizes sizes = sizes_of(record);

    if (!has_one_size(signal->tag)) {
        sizes.first = signal->src;
        sizes.value = wf_count_add(sizes.value, signal->bytes);
    } else if (*own_call(record) != 0) {
        if (signal->bytes != sizes.value) {
            fail(who, record, signal->src, sizes.value, signal->bytes);
            return false;
        }
    } else if (*reports(record) == 0) {
        sizes.first = signal->src;
    } else if (signal->bytes != record->bytes && !sizes.has_odd) {
        sizes.has_odd = true;
        sizes.odd = signal->src;
        sizes.value = signal->bytes;
    }
    set_sizes(record, &sizes);
    return true;
}

/* All of a gatherv have come: the root's counts and what they send must be the same in sum. */
static bool sum_agrees(const struct wf_caller *who, const struct wf_rank_request *record,
                       const struct wf_coll_args *args)
{
    struct sizes sizes = sizes_of(record);
    uint64_t own = 0;

    if (args->kind != WF_COLL_GATHERV || args->counts == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < args->size; i++) {
        own = i == args->rank ? own : wf_count_add(own, args->counts[i]);
    }
    if (own != sizes.value) {
        fail(who, record, sizes.first, own, sizes.value);
    }
    return own == sizes.value;
}

/* Not at the hub: the root's release must be of the size that this member's call has. */
static bool agrees_with_root(const struct wf_caller *who, const struct wf_rank_request *record,
                             uint64_t own, uint64_t released)
{
    bool agrees =
        own == released ||
        waits_of((enum wf_coll_kind)wf_collective_of_tag(record->key.tag)) != FOR_ROOT;

    if (!agrees) {
        fail(who, record, record->request, own, released);
    }
    return agrees;
}

/* ---- calls, continued ---- */

/* Tells everybody but the hub, which is `who`, when to go on. */
static void release_all(const struct wf_caller *who, const struct wf_formula_call *call,
                        int64_t at)
{
    struct signal signal = signal_of(call, RELEASE, at);

    for (uint32_t i = 0; i < call->args->size; i++) {
        if (i != call->args->rank) {
            signal.bytes = waits_of(call->args->kind) == FOR_ROOT ? share_of(call->args, i) : 0;
            send_signal(who, wf_rank_group_member(call->group, i), signal, at);
        }
    }
}

/* Tells why the collective goes on at this time: the rest of the cause. */
static void because(const struct wf_caller *who, const struct wf_formula_call *call,
                    int64_t until, const struct wf_cause *cause)
{
    uint32_t track = wf_track_of(wf_rank_context(call->group->id, true), call->tag);

    if (cause->from == who->number && cause->since == until) {
        return; /* it waited for nobody, and it took no time */
    }
    wf_cause_note(who, (struct wf_cause){.until = until,
                                         .since = cause->since,
                                         .bytes = cause->bytes,
                                         .track = track,
                                         .from = cause->from,
                                         .from_track = track,
                                         .why = cause->why});
}

/* A release moves the clock of a member's collective. */
static void release(const struct wf_caller *who, struct wf_rank_request *coll,
                    const struct signal *signal)
{
    if (signal->time > coll->at) {
        uint32_t track = wf_track_of(signal->context, signal->tag);

        wf_cause_note(who, (struct wf_cause){.until = signal->time,
                                             .since = signal->time,
                                             .track = track,
                                             .from = signal->src,
                                             .from_track = track,
                                             .why = WF_WHY_RELEASED});
        coll->at = signal->time;
    }
}

/* At the hub, all reports are there. */
static void settle(const struct wf_caller *who, struct wf_rank_request *coll, uint32_t cell,
                   const struct wf_formula_call *call)
{
    const struct wf_rank_request *record = wf_request_read(who, cell);

    if (!sum_agrees(who, record, call->args)) {
        return;
    }
    coll->at = wf_time_add(record->at, cost_of(who->mpi, call->args, record->bytes));
    because(who, call, coll->at,
            &(struct wf_cause){.since = record->at,
                               .bytes = record->bytes,
                               .from = last_of(record),
                               .why = WF_WHY_FORMULA});
    coll->flags |= WF_REQ_LAST;
    if (waits_of(call->args->kind) == FOR_ALL) {
        release_all(who, call, coll->at);
    }
    end_record(who, cell);
}

static bool begin_at_hub(const struct wf_caller *who, uint32_t cell,
                         const struct wf_formula_call *call)
{
    struct wf_rank_request *coll = wf_request_edit(who, cell);
    uint64_t bytes = wf_formula_bytes(call->args);

    if (waits_of(call->args->kind) == FOR_ROOT) {
        int64_t began = coll->at;

        coll->at = wf_time_add(began, cost_of(who->mpi, call->args, bytes));
        because(
            who, call, coll->at,
            &(struct wf_cause){
                .since = began, .bytes = bytes, .from = who->number, .why = WF_WHY_FORMULA});
        release_all(who, call, coll->at);
        return true;
    }

    uint32_t found = find_or_make(who, wf_rank_context(call->group->id, true), call->tag);
    struct wf_rank_request *record = wf_request_edit(who, found);
    uint32_t others = call->args->size - 1;

    if (!agrees_with_reports(who, record, call)) {
        return false;
    }
    come(record, who->number, coll->at);
    record->bytes = larger(record->bytes, bytes);
    *own_call(record) = cell;
    /* More than there are can only be in a run that is taken back. */
    coll->missing = *reports(record) < others ? others - *reports(record) : 0;
    if (coll->missing == 0) {
        settle(who, coll, found, call);
    }
    return (coll->flags & WF_REQ_LAST) != 0;
}

static bool begin_elsewhere(const struct wf_caller *who, uint32_t cell,
                            const struct wf_formula_call *call)
{
    struct wf_rank_request *coll = wf_request_edit(who, cell);
    enum waits waits = waits_of(call->args->kind);
    uint32_t context = wf_rank_context(call->group->id, true);
    uint32_t hub = wf_rank_group_member(call->group, hub_of(call->args));

    if (waits != FOR_ROOT) {
        send_signal(who, hub, signal_of(call, REPORT, coll->at),
                    wf_time_add(coll->at, who->mpi->net->promise_ps));
    }
    if (waits == ROOT_FOR_ALL) {
        return true;
    }

    uint32_t found = find_or_make(who, context, call->tag);
    struct wf_rank_request *record = wf_request_edit(who, found);
    uint64_t own = share_of(call->args, call->args->rank);
    if (record->flags & WF_REQ_LAST) {
        if (!agrees_with_root(who, record, own, record->bytes)) {
            return false;
        }
        release(who, coll,
                &(struct signal){.time = record->at,
                                 .context = context,
                                 .tag = call->tag,
                                 .src = record->request});
        end_record(who, found);
        return true;
    }
    *own_call(record) = cell;
    record->bytes = own;
    record->request = hub;
    coll->missing = 1;
    return false;
}

bool wf_formula_run(const struct wf_caller *who, uint32_t cell,
                    const struct wf_formula_call *call)
{
    bool last = (wf_request_read(who, cell)->flags & WF_REQ_LAST) != 0;

    if (last || who->mpi->sends_only || call->args->size == 1) {
        return true;
    }
    return call->args->rank == hub_of(call->args) ? begin_at_hub(who, cell, call)
                                                  : begin_elsewhere(who, cell, call);
}

/* ---- events ---- */

static void on_report(const struct wf_caller *who, const struct signal *signal)
{
    uint32_t found = find_or_make(who, signal->context, signal->tag);
    struct wf_rank_request *record = wf_request_edit(who, found);
    uint32_t cell = *own_call(record);

    if (!agrees_with_hub(who, record, signal)) {
        return;
    }
    come(record, signal->src, signal->time);
    record->bytes = larger(record->bytes, signal->bytes);
    ++*reports(record);
    if (cell == 0) {
        return;
    }

    struct wf_rank_request *coll = wf_request_edit(who, cell);
    if (--coll->missing == 0) {
        struct wf_coll_args args;
        struct wf_rank_group group;

        wf_collective_recall(who, cell, &args, &group);
        const struct wf_formula_call call = {&args, &group, signal->tag};
        settle(who, coll, found, &call);
        if (who->rank->state != WF_RANK_FAILED) {
            wf_collective_continue(who, cell);
        }
    }
}

static void on_release(const struct wf_caller *who, const struct signal *signal)
{
    uint32_t found = find_or_make(who, signal->context, signal->tag);
    struct wf_rank_request *record = wf_request_edit(who, found);
    uint32_t cell = *own_call(record);

    if (cell == 0) {
        record->at = signal->time;
        record->bytes = signal->bytes;
        record->request = signal->src;
        record->flags |= WF_REQ_LAST;
        return;
    }
    if (!agrees_with_root(who, record, record->bytes, signal->bytes)) {
        return;
    }

    struct wf_rank_request *coll = wf_request_edit(who, cell);
    release(who, coll, signal);
    coll->flags |= WF_REQ_LAST;
    coll->missing = 0;
    end_record(who, found);
    wf_collective_continue(who, cell);
}

void wf_formula_signal(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                       const struct wf_event *ev)
{
    struct signal signal;

    memcpy(&signal, ev->payload, sizeof(signal));
    const struct wf_caller who = wf_caller_at(mpi, ctx, node, signal.slot);
    wf_touch(ctx, who.rank, sizeof(*who.rank));
    who.rank->noted = 0;
    if (who.rank->state == WF_RANK_FAILED) {
        return;
    }
    if (signal.what == REPORT) {
        on_report(&who, &signal);
    } else {
        on_release(&who, &signal);
    }
}
