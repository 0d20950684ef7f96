/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/chakra/chakra.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

static int by_number(const void *a, const void *b)
{
    return WF_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void make_world(struct wf_chakra *trace)
{
    if (trace->names.n > 0) {
        return;
    }
    (void)wf_strings_put(&trace->names, "", 0);
    WF_GROW(trace->groups, 0, trace->groups_capacity);
    struct wf_chakra_group *world = &trace->groups[WF_CHAKRA_WORLD];
    world->n = trace->n_ranks;
    world->members = wf_xmalloc(trace->n_ranks * sizeof(*world->members));
    for (uint32_t i = 0; i < trace->n_ranks; i++) {
        world->members[i] = i;
    }
}

void wf_chakra_define(struct wf_chakra *trace, const char *name, uint32_t *members, uint32_t n,
                      const struct wf_trace_place *place)
{
    make_world(trace);
    WF_SORT(members, n, by_number);
    if (n > 0 && members[n - 1] >= trace->n_world && !trace->defined) {
        trace->n_world = members[n - 1] + 1;
    }
    for (uint32_t i = 1; i < n; i++) {
        if (members[i] == members[i - 1]) {
            wf_trace_bad(place, "group %.40s has rank %" PRIu32 " twice", name, members[i]);
            return;
        }
    }
    const struct wf_chakra_group *world = &trace->groups[WF_CHAKRA_WORLD];
    const uint32_t *given = n > 0 ? members : world->members;
    uint32_t n_given = n > 0 ? n : world->n, before = trace->names.n;
    uint32_t number = wf_strings_put(&trace->names, name, strlen(name));

    if (number == before) {
        uint32_t *copy = wf_xmalloc(n_given * sizeof(*copy));
        memcpy(copy, given, n_given * sizeof(*copy));
        WF_GROW(trace->groups, number, trace->groups_capacity);
        trace->groups[number] = (struct wf_chakra_group){copy, n_given};
    } else if (trace->groups[number].n != n_given ||
               memcmp(trace->groups[number].members, given, n_given * sizeof(*given)) != 0) {
        wf_trace_bad(place, "group %.40s is defined again with other ranks", name);
    }
}

/* Builds the trace; `err` holds the first failure. */
struct building {
    struct wf_chakra *trace;
    const char *path;
    struct wf_err *err;
    uint32_t rank;
};

static void bad_node(struct building *b, const struct wf_chakra_node *node, const char *what)
{
    if (!wf_trace_failed(b->err)) {
        (void)wf_err_set(b->err, WF_EINVAL, "%.200s: rank %" PRIu32 ", node %" PRIu64 ": %s",
                         b->path, b->rank, node->id, what);
    }
}

/* The group of this rank in a trace of one rank that all play: as long and as wide a row as that
 * which the trace defines, or all ranks. Null if there is none. */
static const struct wf_chakra_group *group_alike(struct building *b, uint32_t *number)
{
    struct wf_chakra *trace = b->trace;
    const struct wf_chakra_group *group = &trace->groups[*number];
    uint32_t n = group->n, stride = n > 1 ? group->members[1] - group->members[0] : 1;
    struct wf_trace_place place = {.path = b->path, .err = b->err};
    char name[96];

    if (*number == WF_CHAKRA_WORLD || n == trace->n_world) {
        *number = WF_CHAKRA_WORLD;
        return &trace->groups[WF_CHAKRA_WORLD];
    }
    for (uint32_t i = 1; i < n; i++) {
        if (group->members[i] - group->members[i - 1] != stride) {
            return NULL;
        }
    }
    uint64_t row = (uint64_t)n * stride;
    if (trace->n_ranks % row != 0) {
        return NULL;
    }
    uint32_t first = (uint32_t)(b->rank / row * row) + b->rank % stride;
    uint32_t *members = wf_xmalloc(n * sizeof(*members));
    for (uint32_t i = 0; i < n; i++) {
        members[i] = first + i * stride;
    }
    (void)snprintf(name, sizeof(name), "%" PRIu32 " x %" PRIu32 " from %" PRIu32, n, stride,
                   first);
    wf_chakra_define(trace, name, members, n, &place);
    free(members);
    *number = wf_strings_find(&trace->names, name, strlen(name));
    return &trace->groups[*number];
}

/* Replaces the rank's own numbers of groups by those of the trace, and finds its member. */
static void resolve_group(struct building *b, struct wf_chakra_rank *rank,
                          struct wf_chakra_node *node)
{
    struct wf_chakra *trace = b->trace;
    uint32_t number = WF_CHAKRA_WORLD;

    if (node->group != UINT32_MAX) {
        const char *name = wf_strings_at(&rank->groups, node->group);
        number = wf_strings_find(&trace->names, name, strlen(name));
        if (number == WF_STRINGS_NONE && strcmp(name, "0") == 0) {
            number = WF_CHAKRA_WORLD;
        }
    }
    if (number == WF_STRINGS_NONE) {
        bad_node(b, node,
                 "its process group is not defined; -p trace.groups=FILE names a file "
                 "of groups, like {\"1\": [0, 1]}");
        return;
    }
    const struct wf_chakra_group *group =
        trace->replicated ? group_alike(b, &number) : &trace->groups[number];
    if (group == NULL) {
        bad_node(b, node,
                 "its process group cannot be made for other ranks: its members are at uneven "
                 "distances, or the number of ranks is not a multiple of its rows");
        return;
    }
    const uint32_t *found =
        bsearch(&b->rank, group->members, group->n, sizeof(*group->members), by_number);
    if (found == NULL) {
        bad_node(b, node, "its rank is not in its process group");
        return;
    }
    node->group = number;
    node->member = (uint32_t)(found - group->members);
    if (wf_coll_has_root((enum wf_coll_kind)node->kind) && node->peer != UINT32_MAX) {
        /* The root is a rank of the trace. */
        found =
            bsearch(&node->peer, group->members, group->n, sizeof(*group->members), by_number);
        node->peer =
            found != NULL && !trace->replicated ? (uint32_t)(found - group->members) : 0;
    } else {
        node->peer = 0;
    }
    if (group->n == 1) {
        node->type = WF_CHAKRA_COMP; /* takes its recorded time */
    } else {
        node->duration = 0;
    }
}

/* ---- dependencies ---- */

/* Where the dependencies of a node end. */
static uint64_t deps_end(const struct wf_chakra_rank *rank, uint32_t node)
{
    return rank->without_ctrl ? rank->deps_of[node].ctrl : rank->deps_of[node + 1].data;
}

/* Replaces the ids of nodes that others wait for by their numbers, or by UINT64_MAX if no other
 * node has the id. */
static void resolve_ids(struct building *b, struct wf_chakra_rank *rank)
{
    struct wf_map ids = {.n = 0};

    for (uint32_t i = 0; i < rank->n && !wf_trace_failed(b->err); i++) {
        uint64_t *index = wf_map_put(&ids, rank->nodes[i].id);
        if (*index != 0) {
            bad_node(b, &rank->nodes[i], "another node has the same id");
        }
        *index = (uint64_t)i + 1;
    }
    for (uint32_t i = 0; i < rank->n; i++) {
        for (uint64_t k = rank->deps_of[i].data; k < rank->deps_of[i + 1].data; k++) {
            const uint64_t *index = wf_map_get(&ids, rank->deps[k]);
            bool is_there = index != NULL && *index != (uint64_t)i + 1;
            rank->n_dangling += is_there ? 0 : 1;
            rank->deps[k] = is_there ? *index - 1 : UINT64_MAX;
        }
    }
    wf_map_fini(&ids);
}

/* Counts how many nodes each node waits for, and how many wait for it. */
static void count_deps(struct wf_chakra_rank *rank)
{
    for (uint32_t i = 0; i < rank->n; i++) {
        rank->nodes[i].n_before = 0;
        rank->nodes[i].n_after = 0;
    }
    for (uint32_t i = 0; i < rank->n; i++) {
        for (uint64_t k = rank->deps_of[i].data; k < deps_end(rank, i); k++) {
            if (rank->deps[k] != UINT64_MAX) {
                rank->nodes[rank->deps[k]].n_after++;
                rank->nodes[i].n_before++;
            }
        }
    }
}

/* Lists the nodes that wait for each node. */
static void invert_deps(struct building *b, struct wf_chakra_rank *rank)
{
    uint64_t sum = 0;

    count_deps(rank);
    for (uint32_t i = 0; i < rank->n; i++) {
        struct wf_chakra_node *node = &rank->nodes[i];
        node->after = (uint32_t)sum;
        /* One more place for the next collective of a group. */
        sum += node->n_after + (node->type == WF_CHAKRA_COLL ? 1 : 0);
        node->n_after = 0;
    }
    if (sum > UINT32_MAX) {
        bad_node(b, &rank->nodes[0], "its rank has too many dependencies");
        return;
    }
    free(rank->after);
    rank->after = wf_xmalloc((sum + 1) * sizeof(*rank->after));
    for (uint32_t i = 0; i < rank->n; i++) {
        for (uint64_t k = rank->deps_of[i].data; k < deps_end(rank, i); k++) {
            if (rank->deps[k] != UINT64_MAX) {
                struct wf_chakra_node *node = &rank->nodes[rank->deps[k]];
                rank->after[node->after + node->n_after++] = i;
            }
        }
    }
}

/* A heap of ready nodes, the lowest id first. */
struct heap {
    const struct wf_chakra_node *nodes;
    uint32_t *items;
    uint32_t n;
};

static bool is_lower(const struct heap *heap, uint32_t a, uint32_t b)
{
    return heap->nodes[heap->items[a]].id < heap->nodes[heap->items[b]].id;
}

static void swap(struct heap *heap, uint32_t a, uint32_t b)
{
    uint32_t item = heap->items[a];

    heap->items[a] = heap->items[b];
    heap->items[b] = item;
}

static void heap_put(struct heap *heap, uint32_t item)
{
    uint32_t at = heap->n++;

    heap->items[at] = item;
    while (at > 0 && is_lower(heap, at, (at - 1) / 2)) {
        swap(heap, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static uint32_t heap_take(struct heap *heap)
{
    uint32_t item = heap->items[0], at = 0;

    heap->items[0] = heap->items[--heap->n];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < heap->n && is_lower(heap, child + 1, child)) {
            child++;
        }
        if (child >= heap->n || !is_lower(heap, child, at)) {
            return item;
        }
        swap(heap, at, child);
        at = child;
    }
}

/* Orders the nodes so that none comes before one that it waits for; else by their ids. Returns a
 * node that waits in a circle, or the number of nodes. */
static uint32_t order_nodes(struct wf_chakra_rank *rank)
{
    uint32_t *missing = wf_xmalloc(((size_t)rank->n + 1) * sizeof(*missing)), n = 0, found = 0;
    struct heap heap = {.nodes = rank->nodes,
                        .items = wf_xmalloc(((size_t)rank->n + 1) * sizeof(uint32_t))};

    for (uint32_t i = 0; i < rank->n; i++) {
        missing[i] = rank->nodes[i].n_before;
        if (missing[i] == 0) {
            heap_put(&heap, i);
        }
    }
    while (heap.n > 0) {
        uint32_t at = heap_take(&heap);
        const struct wf_chakra_node *node = &rank->nodes[at];
        rank->order[n++] = at;
        for (uint32_t i = 0; i < node->n_after; i++) {
            if (--missing[rank->after[node->after + i]] == 0) {
                heap_put(&heap, rank->after[node->after + i]);
            }
        }
    }
    while (found < rank->n && missing[found] == 0) {
        found++;
    }
    free(missing);
    free(heap.items);
    return found;
}

/* Traces of PyTorch have control dependencies that form circles. Such a rank does without
 * them. */
static void find_order(struct building *b, struct wf_chakra_rank *rank)
{
    resolve_ids(b, rank);
    rank->order = wf_xmalloc(((size_t)rank->n + 1) * sizeof(*rank->order));
    for (int attempt = 0; attempt < 2 && !wf_trace_failed(b->err); attempt++) {
        rank->without_ctrl = attempt == 1;
        invert_deps(b, rank);
        uint32_t found = wf_trace_failed(b->err) ? rank->n : order_nodes(rank);
        if (found == rank->n) {
            break;
        }
        if (attempt == 1) {
            bad_node(b, &rank->nodes[found], "nodes wait for each other in a circle with it");
        }
    }
    free(rank->deps);
    free(rank->deps_of);
    rank->deps = NULL;
    rank->deps_of = NULL;
}

/* ---- messages ---- */

struct message {
    uint32_t src, dst;
    int32_t tag;
    uint32_t order; /* among the nodes of its rank */
    uint32_t node;
};

static int by_partner(const void *a, const void *b)
{
    const struct message *x = a, *y = b;

    return 8 * WF_ORDER(x->src, y->src) + 4 * WF_ORDER(x->dst, y->dst) +
           2 * WF_ORDER(x->tag, y->tag) + WF_ORDER(x->order, y->order);
}

static struct message *list_messages(const struct wf_chakra *trace, enum wf_chakra_type type,
                                     uint64_t *n)
{
    struct message *list = NULL;
    uint64_t capacity = 0;

    *n = 0;
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        const struct wf_chakra_rank *rank = &trace->ranks[r];
        for (uint32_t i = 0; i < rank->n; i++) {
            const struct wf_chakra_node *node = &rank->nodes[rank->order[i]];
            if (node->type == type) {
                bool sends = type == WF_CHAKRA_SEND;
                WF_GROW(list, *n, capacity);
                list[(*n)++] = (struct message){sends ? r : node->peer, sends ? node->peer : r,
                                                node->tag, i, rank->order[i]};
            }
        }
    }
    WF_SORT(list, *n, by_partner);
    return list;
}

/* The first message between two ranks with a tag matches their first receive, and so on. */
static void match_messages(struct wf_chakra *trace)
{
    uint64_t n_sends, n_recvs, at = 0;
    struct message *sends = list_messages(trace, WF_CHAKRA_SEND, &n_sends);
    struct message *recvs = list_messages(trace, WF_CHAKRA_RECV, &n_recvs);

    for (uint64_t i = 0; i < n_sends; i++) {
        struct message key = sends[i];
        key.order = 0;
        struct message recv = key;
        for (; at < n_recvs; at++) {
            recv = recvs[at];
            recv.order = 0;
            if (by_partner(&recv, &key) >= 0) {
                break;
            }
            trace->n_unmatched++;
        }
        if (at < n_recvs && by_partner(&recv, &key) == 0) {
            trace->ranks[sends[i].src].nodes[sends[i].node].match = recvs[at++].node;
        } else {
            trace->n_unmatched++;
        }
    }
    trace->n_unmatched += n_recvs - at;
    free(sends);
    free(recvs);
}

/* ---- collectives ---- */

/* The bytes of a call as algorithms want them: one block, where there are blocks. */
static uint64_t bytes_of(enum wf_coll_kind kind, uint64_t bytes, uint32_t size)
{
    bool divides = kind == WF_COLL_ALLTOALL || kind == WF_COLL_REDUCE_SCATTER_BLOCK ||
                   kind == WF_COLL_SCATTER;

    return divides ? bytes / size + (bytes % size != 0 ? 1 : 0) : bytes;
}

/* Step numbers are valid up to the last one. */
uint32_t wf_chakra_count_steps(const struct wf_coll_ops *ops, const struct wf_coll_args *args)
{
    struct wf_coll_step step;
    uint32_t low = 0, high = 1; /* step low - 1 exists */

    while (high < UINT32_C(1) << 30 && ops->step(args, high - 1, &step)) {
        low = high;
        high *= 2;
    }
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ops->step(args, middle - 1, &step)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

enum { STEPS_COMPARED_MAX = 1 << 22 };

bool wf_chakra_is_aligned(const struct wf_chakra_call *call)
{
    struct wf_coll_args args = call->args, other = call->args;
    struct wf_coll_step own, theirs;
    uint64_t n = 0;

    for (args.rank = 0; args.rank < args.size; args.rank++) {
        for (uint32_t i = 0; call->ops->step(&args, i, &own); i++) {
            if (++n > STEPS_COMPARED_MAX) {
                return false;
            }
            other.rank = own.recv_from;
            if (own.recv_from != WF_COLL_NOBODY &&
                (!call->ops->step(&other, i, &theirs) || theirs.send_to != args.rank)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_same_call(const struct wf_chakra_call *a, const struct wf_chakra_call *b)
{
    return a->args.kind == b->args.kind && a->args.size == b->args.size &&
           a->args.bytes == b->args.bytes && a->args.root == b->args.root;
}

void wf_chakra_choose(const struct wf_chakra *trace, struct wf_chakra_call *call,
                      const struct wf_chakra_call *last)
{
    bool is_same = last != NULL && !last->by_table && is_same_call(last, call);

    call->by_table = false;
    call->args.node_size = 0;
    call->args.nccl = NULL;
    call->ops = wf_coll_choose(trace->coll_rules, &call->args);
    call->protocol = wf_coll_choose_protocol(trace->coll_rules, &call->args);
    call->n_slots = call->ops->n_slots(&call->args);
    call->aligned = is_same ? last->aligned : wf_chakra_is_aligned(call);
}

/* The collectives of a group at one of its members, in their order. */
struct turn {
    uint32_t rank, at; /* `at`: the next place in the order of its nodes */
};

/* The next collective of the group at this member, or null. */
static struct wf_chakra_node *next_of_group(const struct wf_chakra *trace, struct turn *turn,
                                            uint32_t group)
{
    const struct wf_chakra_rank *rank = &trace->ranks[turn->rank];

    while (turn->at < rank->n) {
        struct wf_chakra_node *node = &rank->nodes[rank->order[turn->at++]];
        if (node->type == WF_CHAKRA_COLL && node->group == group) {
            return node;
        }
    }
    return NULL;
}

static void chain(struct wf_chakra_rank *rank, struct wf_chakra_node *before,
                  struct wf_chakra_node *node)
{
    if (before != NULL) {
        rank->after[before->after + before->n_after++] = (uint32_t)(node - rank->nodes);
        node->n_before++;
    }
}

/* Sets the call of one collective of all members. Returns false after the last, or if they
 * disagree. */
static bool take_call(struct building *b, uint32_t group, struct turn *turns,
                      struct wf_chakra_node **latest)
{
    struct wf_chakra *trace = b->trace;
    uint32_t n = trace->groups[group].n;
    struct wf_chakra_node *first = NULL;
    struct wf_chakra_call call = {.group = group, .firsts = trace->n_firsts};
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct wf_chakra_node *node = next_of_group(trace, &turns[i], group);
        b->rank = turns[i].rank;
        first = i == 0 ? node : first;
        if (i > 0 && (node == NULL) != (first == NULL)) {
            b->rank = node != NULL ? turns[i].rank : turns[0].rank;
            bad_node(b, node != NULL ? node : first,
                     "another member of its process group makes fewer collectives");
            return false;
        }
        if (node == NULL) {
            continue;
        }
        if (node->kind != first->kind || node->peer != first->peer) {
            bad_node(b, node,
                     "other members of its process group make another collective, or "
                     "one with another root");
            return false;
        }
        bytes = node->bytes > bytes ? node->bytes : bytes;
        chain(&trace->ranks[turns[i].rank], latest[i], node);
        latest[i] = node;
        node->match = (uint32_t)trace->n_calls;
    }
    if (first == NULL || trace->n_calls >= UINT32_MAX) {
        return false;
    }
    call.args = (struct wf_coll_args){.kind = (enum wf_coll_kind)first->kind,
                                      .size = n,
                                      .root = first->peer,
                                      .bytes = bytes_of(first->kind, bytes, n)};
    wf_chakra_choose(trace, &call,
                     trace->n_calls > 0 ? &trace->calls[trace->n_calls - 1] : NULL);
    WF_PUSH(trace->calls, trace->n_calls, trace->calls_capacity, call);
    for (uint32_t i = 0; i < n; i++) {
        WF_PUSH(trace->firsts, trace->n_firsts, trace->firsts_capacity, 0);
    }
    return true;
}

static void match_collectives(struct building *b)
{
    const struct wf_chakra *trace = b->trace;

    for (uint32_t group = 0; group < trace->names.n && !wf_trace_failed(b->err); group++) {
        uint32_t n = trace->groups[group].n;
        struct turn *turns = wf_xcalloc(n, sizeof(*turns));
        struct wf_chakra_node **latest = wf_xcalloc(n, sizeof(struct wf_chakra_node *));

        for (uint32_t i = 0; i < n; i++) {
            turns[i].rank = trace->groups[group].members[i];
        }
        while (n > 1 && take_call(b, group, turns, latest)) {
        }
        free(turns);
        free(latest);
    }
}

/* ---- tasks ---- */

static uint32_t tasks_of(const struct wf_chakra *trace, const struct wf_chakra_node *node)
{
    if (node->type != WF_CHAKRA_COLL) {
        return 1;
    }
    const struct wf_chakra_call *call = &trace->calls[node->match];
    if (call->by_table) {
        return wf_chakra_table_tasks(call, node->member);
    }
    struct wf_coll_args args = call->args;
    args.rank = node->member;
    return wf_chakra_count_steps(call->ops, &args) + 1;
}

bool wf_chakra_number_tasks(struct wf_chakra *trace)
{
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        struct wf_chakra_rank *rank = &trace->ranks[r];
        uint64_t next = 0;
        for (uint32_t i = 0; i < rank->n; i++) {
            struct wf_chakra_node *node = &rank->nodes[i];
            node->n_tasks = tasks_of(trace, node);
            node->first_task = (uint32_t)next;
            next += node->n_tasks;
            if (next >= WF_NO_TASK) {
                return false;
            }
            if (node->type == WF_CHAKRA_COLL) {
                trace->firsts[trace->calls[node->match].firsts + node->member] =
                    node->first_task;
            }
        }
        rank->n_tasks = (uint32_t)next;
    }
    return true;
}

void wf_chakra_build(struct wf_chakra *trace, const char *path, struct wf_err *err)
{
    struct building b = {.trace = trace, .path = path, .err = err};

    trace->coll_rules = (enum wf_coll_rules)trace->params->coll_rules;
    trace->defined = true;
    make_world(trace);
    for (b.rank = 0; b.rank < trace->n_ranks && !wf_trace_failed(err); b.rank++) {
        struct wf_chakra_rank *rank = &trace->ranks[b.rank];
        for (uint32_t i = 0; i < rank->n && !wf_trace_failed(err); i++) {
            if (rank->nodes[i].type == WF_CHAKRA_COLL) {
                resolve_group(&b, rank, &rank->nodes[i]);
            }
        }
        if (rank->n > 0 && !wf_trace_failed(err)) {
            find_order(&b, rank);
        }
    }
    if (!wf_trace_failed(err)) {
        match_messages(trace);
        match_collectives(&b);
    }
    if (!wf_trace_failed(err) && !wf_chakra_number_tasks(trace)) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.200s: the collectives of a rank have more steps than weft can "
                         "number",
                         path);
    }
}
