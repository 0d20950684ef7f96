/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One member of a formula collective, the hub, decides when all members continue: the root,
 * or rank 0 of the communicator. The other members report their calls to the hub. With the
 * last report the hub knows when everybody continues, and it releases them at that time.
 * Each report or release takes at least the least delay of the network, because the engine
 * relies on that delay. A collective therefore costs one or two such delays even if its
 * formula gives less.
 */
#include "model/ranks/formula.h"

#include "base/arith.h"
#include <string.h>

enum wf_formula wf_formula_find(const char *name)
{
    return strcmp(name, "ideal") == 0      ? WF_FORMULA_IDEAL
           : strcmp(name, "hardware") == 0 ? WF_FORMULA_HARDWARE
           : strcmp(name, "nccl") == 0     ? WF_FORMULA_NCCL
                                           : WF_FORMULA_NONE;
}

/* Which members of a collective wait for which others. */
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

/* Adds up n blocks. `counts` gives the length of each; null: all have args->bytes. Blocks of
 * neighbours that are not ranks do not count; `ranks` may be null. */
static uint64_t sum_blocks(const struct wf_coll_args *args, const uint64_t *counts, uint32_t n,
                           const uint32_t *ranks)
{
    uint64_t sum = 0;

    if (counts == NULL && ranks == NULL) {
        return __builtin_mul_overflow(args->bytes, (uint64_t)n, &sum) ? UINT64_MAX : sum;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (ranks == NULL || ranks[i] < args->size) {
            sum = wf_count_add(sum, counts != NULL ? counts[i] : args->bytes);
        }
    }
    return sum;
}

uint64_t wf_formula_bytes(const struct wf_coll_args *args)
{
    uint64_t sum;

    switch (args->kind) {
    case WF_COLL_BARRIER:
        return 0;
    case WF_COLL_BCAST:
    case WF_COLL_REDUCE:
    case WF_COLL_ALLREDUCE:
    case WF_COLL_SCAN:
    case WF_COLL_EXSCAN:
        return args->bytes;
    case WF_COLL_NEIGHBOR_ALLGATHER:
    case WF_COLL_NEIGHBOR_ALLTOALL:
        sum = sum_blocks(args, args->recv_counts, args->n_sources, args->sources);
        return wf_max_u64(
            sum, sum_blocks(args, args->counts, args->n_destinations, args->destinations));
    case WF_COLL_ALLTOALLV:
        sum = sum_blocks(args, args->recv_counts, args->size, NULL);
        return wf_max_u64(sum, sum_blocks(args, args->counts, args->size, NULL));
    case WF_COLL_GATHER:
    case WF_COLL_GATHERV:
    case WF_COLL_SCATTER:
    case WF_COLL_SCATTERV:
        if (args->rank != args->root) {
            return args->bytes;
        }
        break;
    case WF_COLL_ALLGATHER:
    case WF_COLL_ALLGATHERV:
    case WF_COLL_ALLTOALL:
    case WF_COLL_REDUCE_SCATTER:
    case WF_COLL_REDUCE_SCATTER_BLOCK:
    case WF_COLL_KINDS:
        break;
    }
    return sum_blocks(args, args->counts, args->size, NULL);
}

/* The time from the last awaited call until members continue. */
static int64_t cost_of(const struct wf_ranks *ranks, const struct wf_coll_args *args,
                       uint64_t bytes)
{
    int64_t least = ranks->net->promise_ps, cost = 0;

    if (waits_of(args->kind) == FOR_ALL) {
        least = wf_time_add(least, least);
    }
    if (ranks->coll.formula[args->kind] == WF_FORMULA_HARDWARE) {
        for (uint64_t reach = 1; reach < args->size; reach *= 2) {
            cost = wf_time_add(cost, ranks->mpi->hw_latency);
        }
        cost = wf_time_add(cost, wf_transfer_ps(bytes, ranks->mpi->hw_bandwidth));
    } else if (ranks->coll.formula[args->kind] != WF_FORMULA_IDEAL) {
        /* Chosen by name or by the rules of NCCL. */
        cost = wf_coll_nccl_choose(args, bytes, false).time;
    }
    return wf_max_i64(cost, least);
}

int64_t wf_formula_latest_start(const struct wf_caller *who, const struct wf_coll_args *args,
                                int64_t end)
{
    int64_t told = wf_time_add(who->ranks->net->promise_ps, who->ranks->net->promise_ps);

    /* The report and the release take their time, too. */
    return wf_time_add(end, told) - cost_of(who->ranks, args, wf_formula_bytes(args));
}

/* ---- signals ---- */

_Static_assert(sizeof(struct wf_formula_signal) <= sizeof(struct wf_net_message),
               "fits the events of nodes");

static struct wf_formula_signal signal_of(const struct wf_formula_call *call, uint16_t what,
                                          int64_t time)
{
    return (struct wf_formula_signal){.time = time,
                                      .bytes = wf_formula_bytes(call->args),
                                      .context = wf_rank_context(call->group->id, true),
                                      .tag = call->tag,
                                      .what = what};
}

static void send_signal(const struct wf_caller *who, uint32_t to,
                        struct wf_formula_signal signal, int64_t at)
{
    const struct wf_ranks *ranks = who->ranks;
    uint32_t node = wf_place_node(ranks->place, to);

    signal.src = who->number;
    signal.slot = (uint16_t)wf_place_slot(ranks->place, to);
    wf_schedule(who->ctx, ranks->net->first_node + node,
                at == WF_TIME_MAX ? at : at - wf_now(who->ctx), WF_NODE_SIGNAL, &signal,
                sizeof(signal));
}

/* ---- entries ---- */

/* Few entries are open at once: two of them hardly ever have the same number. */
static uint32_t number_of(uint32_t context, int32_t tag)
{
    uint32_t mixed = (uint32_t)tag ^ context << 15;

    return WF_FORMULA_NUMBERS | (mixed & UINT32_C(0x3fffffff));
}

static struct wf_formula_entry *edit_entry(const struct wf_caller *who, uint32_t cell)
{
    return wf_cell_edit(who->ctx, cell);
}

/* Finds the entry of a collective, or creates it. */
static uint32_t find_or_create_entry(const struct wf_caller *who, uint32_t context, int32_t tag)
{
    struct wf_cellmap *map = &wf_rank_cold_edit(who)->handles;
    uint32_t number = number_of(context, tag);

    for (uint32_t cell = wf_cellmap_get(who->ctx, map, number); cell != 0;) {
        const struct wf_formula_entry *entry = wf_formula_read(who, cell);
        if (entry->context == context && entry->tag == tag) {
            return cell;
        }
        cell = entry->next;
    }
    uint32_t cell = wf_cell_new_for(who->ctx, sizeof(struct wf_formula_entry));
    *edit_entry(who, cell) =
        (struct wf_formula_entry){.context = context,
                                  .tag = tag,
                                  .awaited = WF_MATCH_ANY_SOURCE,
                                  .next = wf_cellmap_take(who->ctx, map, number)};
    wf_cellmap_put(who->ctx, map, number, cell);
    return cell;
}

static void free_entry(const struct wf_caller *who, uint32_t cell)
{
    struct wf_cellmap *map = &wf_rank_cold_edit(who)->handles;
    const struct wf_formula_entry *entry = wf_formula_read(who, cell);
    uint32_t number = number_of(entry->context, entry->tag), after = entry->next;
    uint32_t at = wf_cellmap_get(who->ctx, map, number);

    if (at == cell) {
        (void)wf_cellmap_take(who->ctx, map, number);
        if (after != 0) {
            wf_cellmap_put(who->ctx, map, number, after);
        }
    } else {
        while (wf_formula_read(who, at)->next != cell) {
            at = wf_formula_read(who, at)->next;
        }
        edit_entry(who, at)->next = after;
    }
    wf_cell_free(who->ctx, cell);
    wf_rank_cold_release(who);
}

/* At the hub: a member with this size has called at this time. */
static void count_member(struct wf_formula_entry *entry, uint32_t rank, int64_t time,
                         uint64_t bytes)
{
    if (time > entry->at) {
        entry->at = time;
        entry->last = rank;
    }
    entry->bytes = wf_max_u64(entry->bytes, bytes);
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

    return !has_several[wf_coll_tag_kind(tag)];
}

/* The size with which member i must call, according to this member's call. */
static uint64_t share_of(const struct wf_coll_args *args, uint32_t i)
{
    if (args->kind == WF_COLL_SCATTERV && args->counts != NULL) {
        return args->counts[i];
    }
    return wf_coll_has_root(args->kind) ? args->bytes : wf_formula_bytes(args);
}

/* A member has called with another size than the call `cell` of this rank. Stops the rank and
 * returns false, unless the program learns of it by itself. */
static bool fail_sizes(const struct wf_caller *who, uint32_t cell,
                       const struct wf_formula_entry *entry, uint32_t peer, uint64_t own,
                       uint64_t other)
{
    const struct wf_match_key key = {entry->context, peer, entry->tag};

    if (wf_request_read(who, cell)->flags & WF_REQ_ANY_SIZES) {
        return true;
    }
    wf_rank_fail_sizes(who, &key, own, other);
    return false;
}

/* The hub calls: compares its size with the reported sizes. */
static bool agrees_with_reports(const struct wf_caller *who, uint32_t cell,
                                struct wf_formula_entry *entry,
                                const struct wf_formula_call *call)
{
    uint64_t own = share_of(call->args, call->args->rank);

    if (!has_one_size(call->tag)) {
        return true;
    }
    if (entry->reports > 0 && entry->bytes != own &&
        !fail_sizes(who, cell, entry, entry->first, own, entry->bytes)) {
        return false;
    }
    if (entry->has_odd && !fail_sizes(who, cell, entry, entry->odd, own, entry->value)) {
        return false;
    }
    entry->value = own;
    return true;
}

/* A report reaches the hub: compares its size with the hub's, or keeps it until the hub calls.
 */
static bool agrees_with_hub(const struct wf_caller *who, struct wf_formula_entry *entry,
                            const struct wf_formula_signal *signal)
{
    if (!has_one_size(signal->tag)) {
        entry->first = signal->src;
        entry->value = wf_count_add(entry->value, signal->bytes);
    } else if (entry->own_call != 0) {
        if (signal->bytes != entry->value) {
            return fail_sizes(who, entry->own_call, entry, signal->src, entry->value,
                              signal->bytes);
        }
    } else if (entry->reports == 0) {
        entry->first = signal->src;
    } else if (signal->bytes != entry->bytes && !entry->has_odd) {
        entry->has_odd = 1;
        entry->odd = signal->src;
        entry->value = signal->bytes;
    }
    return true;
}

/* All members of a gatherv have called: the root's counts must add up to the bytes that they
 * send. */
static bool sum_agrees(const struct wf_caller *who, const struct wf_formula_entry *entry,
                       const struct wf_coll_args *args)
{
    uint64_t own = 0;

    if (args->kind != WF_COLL_GATHERV || args->counts == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < args->size; i++) {
        own = i == args->rank ? own : wf_count_add(own, args->counts[i]);
    }
    return own == entry->value ||
           fail_sizes(who, entry->own_call, entry, entry->first, own, entry->value);
}

/* At the other members: the size in the root's release must be the size of this member's
 * call. */
static bool agrees_with_root(const struct wf_caller *who, uint32_t cell,
                             const struct wf_formula_entry *entry, uint64_t own,
                             uint64_t released)
{
    return own == released || waits_of(wf_coll_tag_kind(entry->tag)) != FOR_ROOT ||
           fail_sizes(who, cell, entry, entry->awaited, own, released);
}

/* ---- calls ---- */

/* Members that call, each for itself. */
static uint32_t n_callers(const struct wf_formula_call *call)
{
    return call->group->members != NULL
               ? call->args->size
               : wf_group_distinct(call->args->size, call->group->width, call->group->stride2);
}

static uint32_t hub_of(const struct wf_coll_args *args)
{
    return wf_coll_has_root(args->kind) ? args->root : 0;
}

/* The hub tells everybody else when to continue. */
static void release_all(const struct wf_caller *who, const struct wf_formula_call *call,
                        int64_t at)
{
    struct wf_formula_signal signal = signal_of(call, WF_FORMULA_RELEASE, at);

    uint32_t n = n_callers(call);

    for (uint32_t i = 0; i < n; i++) {
        if (i != call->args->rank) {
            signal.bytes = waits_of(call->args->kind) == FOR_ROOT ? share_of(call->args, i) : 0;
            send_signal(who, wf_rank_group_member(call->group, i), signal, at);
        }
    }
}

/* Sets the time at which the hub continues: the formula's cost after `since`, when the rank
 * `last` called with the largest size `bytes`. */
static void apply_formula(const struct wf_caller *who, struct wf_rank_request *coll,
                          const struct wf_formula_call *call, int64_t since, uint32_t last,
                          uint64_t bytes)
{
    uint32_t track = wf_track_of(wf_rank_context(call->group->id, true), call->tag);

    coll->at = wf_time_add(since, cost_of(who->ranks, call->args, bytes));
    if (last != who->number || since != coll->at) {
        wf_cause_note(who, (struct wf_cause){.until = coll->at,
                                             .since = since,
                                             .bytes = bytes,
                                             .track = track,
                                             .from = last,
                                             .from_track = track,
                                             .why = WF_WHY_FORMULA});
    }
}

/* The hub `src` has released a member, which continues at this time. */
static void release_member(const struct wf_caller *who, struct wf_rank_request *coll,
                           const struct wf_formula_entry *entry, uint32_t src, int64_t time)
{
    if (time > coll->at) {
        uint32_t track = wf_track_of(entry->context, entry->tag);

        wf_cause_note(who, (struct wf_cause){.until = time,
                                             .since = time,
                                             .track = track,
                                             .from = src,
                                             .from_track = track,
                                             .why = WF_WHY_RELEASED});
        coll->at = time;
    }
}

/* The hub has all reports. */
static void end_at_hub(const struct wf_caller *who, struct wf_rank_request *coll, uint32_t cell,
                       const struct wf_formula_call *call)
{
    const struct wf_formula_entry *entry = wf_formula_read(who, cell);

    if (!sum_agrees(who, entry, call->args)) {
        return;
    }
    apply_formula(who, coll, call, entry->at, entry->last, entry->bytes);
    coll->flags |= WF_REQ_LAST;
    if (waits_of(call->args->kind) == FOR_ALL) {
        release_all(who, call, coll->at);
    }
    free_entry(who, cell);
}

static bool begin_at_hub(const struct wf_caller *who, uint32_t cell,
                         const struct wf_formula_call *call)
{
    struct wf_rank_request *coll = wf_request_edit(who, cell);
    uint64_t bytes = wf_formula_bytes(call->args);

    if (waits_of(call->args->kind) == FOR_ROOT) {
        apply_formula(who, coll, call, coll->at, who->number, bytes);
        release_all(who, call, coll->at);
        return true;
    }

    uint32_t found =
        find_or_create_entry(who, wf_rank_context(call->group->id, true), call->tag);
    struct wf_formula_entry *entry = edit_entry(who, found);
    uint32_t others = n_callers(call) - 1;

    if (!agrees_with_reports(who, cell, entry, call)) {
        return false;
    }
    count_member(entry, who->number, call->from, bytes);
    entry->own_call = cell;
    /* More reports than members are possible only in a run that will be rolled back. */
    coll->coll.missing = entry->reports < others ? others - entry->reports : 0;
    if (coll->coll.missing == 0) {
        end_at_hub(who, coll, found, call);
    }
    return (coll->flags & WF_REQ_LAST) != 0;
}

static bool begin_elsewhere(const struct wf_caller *who, uint32_t cell,
                            const struct wf_formula_call *call)
{
    struct wf_rank_request *coll = wf_request_edit(who, cell);
    enum waits waits = waits_of(call->args->kind);
    uint32_t hub = wf_rank_group_member(call->group, hub_of(call->args));

    if (waits != FOR_ROOT) {
        send_signal(who, hub, signal_of(call, WF_FORMULA_REPORT, call->from),
                    wf_time_add(coll->at, who->ranks->net->promise_ps));
    }
    if (waits == ROOT_FOR_ALL) {
        return true;
    }

    uint32_t found =
        find_or_create_entry(who, wf_rank_context(call->group->id, true), call->tag);
    struct wf_formula_entry *entry = edit_entry(who, found);
    uint64_t own = share_of(call->args, call->args->rank);
    if (entry->released) {
        if (!agrees_with_root(who, cell, entry, own, entry->bytes)) {
            return false;
        }
        release_member(who, coll, entry, entry->awaited, entry->at);
        free_entry(who, found);
        return true;
    }
    entry->own_call = cell;
    entry->bytes = own;
    entry->awaited = hub;
    coll->coll.missing = 1;
    return false;
}

bool wf_formula_run(const struct wf_caller *who, uint32_t cell,
                    const struct wf_formula_call *call)
{
    bool last = (wf_request_read(who, cell)->flags & WF_REQ_LAST) != 0;

    if (last || wf_ranks_only_send(who->ranks) || call->args->size == 1) {
        return true;
    }
    return call->args->rank == hub_of(call->args) ? begin_at_hub(who, cell, call)
                                                  : begin_elsewhere(who, cell, call);
}

/* ---- events ---- */

static void on_report(const struct wf_caller *who, const struct wf_formula_signal *signal)
{
    uint32_t found = find_or_create_entry(who, signal->context, signal->tag);
    struct wf_formula_entry *entry = edit_entry(who, found);
    uint32_t cell = entry->own_call;

    if (!agrees_with_hub(who, entry, signal)) {
        return;
    }
    count_member(entry, signal->src, signal->time, signal->bytes);
    entry->reports++;
    if (cell == 0) {
        return;
    }

    struct wf_rank_request *coll = wf_request_edit(who, cell);
    if (--coll->coll.missing == 0) {
        struct wf_coll_args args;
        struct wf_rank_group group;

        wf_collective_recall(who, cell, &args, &group);
        const struct wf_formula_call call = {&args, &group, signal->tag, 0};
        end_at_hub(who, coll, found, &call);
        if (who->rank->state != WF_RANK_FAILED) {
            wf_collective_continue(who, cell);
        }
    }
}

static void on_release(const struct wf_caller *who, const struct wf_formula_signal *signal)
{
    uint32_t found = find_or_create_entry(who, signal->context, signal->tag);
    struct wf_formula_entry *entry = edit_entry(who, found);
    uint32_t cell = entry->own_call;

    if (cell == 0) {
        entry->at = signal->time;
        entry->bytes = signal->bytes;
        entry->awaited = signal->src;
        entry->released = 1;
        return;
    }
    if (!agrees_with_root(who, cell, entry, entry->bytes, signal->bytes)) {
        return;
    }

    struct wf_rank_request *coll = wf_request_edit(who, cell);
    release_member(who, coll, entry, signal->src, signal->time);
    coll->flags |= WF_REQ_LAST;
    coll->coll.missing = 0;
    free_entry(who, found);
    wf_collective_continue(who, cell);
}

void wf_formula_signalled(const struct wf_caller *who, const struct wf_formula_signal *signal)
{
    if (signal->what == WF_FORMULA_REPORT) {
        on_report(who, signal);
    } else {
        on_release(who, signal);
    }
}
