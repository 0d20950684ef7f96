/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/graph.h"

#include "base/mem.h"
#include "base/varint.h"
#include "program/trace/weft/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Decoded tasks take at most this many bytes per byte of the block. A task takes 5 bytes or more,
 * and zstd makes at most 2^15 bytes of one. */
enum { DECODED_PER_RAW = 8, TASKS_PER_BYTE = (1 << 15) / 5 };

/* A task. Its lists of sends and of waiting tasks begin where those of the row before end. */
struct row {
    int64_t duration;
    struct wf_task_needs needs;
    uint32_t sends_end, next_end;
    uint32_t stream;
};

/* A decoded block, in one allocation: rows, then sends, then the tasks that wait for them. */
struct tasks {
    size_t memory;
    uint32_t first;
    struct wf_task_send *sends;
    uint32_t *next;
    struct row rows[]; /* rows[0] is empty; task i has rows[i - first + 1] */
};

struct native_graph {
    struct wf_graph graph;
    struct native_graph *self; /* to load blocks through a const pointer */
    size_t *first;             /* first block of each PE, and the number of blocks */
    struct tasks **loaded;     /* the decoded tasks of each block, or null */
    struct wf_native_store store;
};

static struct native_graph *of(const struct wf_graph *graph)
{
    return ((const struct native_graph *)graph)->self;
}

static uint32_t n_tasks_of(const struct native_graph *g, uint32_t pe)
{
    size_t end = g->first[pe + 1];

    if (end == g->first[pe]) {
        return 0;
    }
    const struct wf_native_block *last = &g->store.set.blocks[end - 1];
    return (uint32_t)(last->first_op + last->n_ops);
}

/* ---- decoding ---- */

/* The state of decoding a block: the rows and lists read so far. */
struct decoding {
    const struct native_graph *g;
    uint32_t pe, n_tasks; /* the PE, and how many tasks it has */
    bool has_streams;
    struct wf_reading in;
    struct wf_task_send send; /* the latest one, to which differences are added */
    struct wf_buf rows, sends, next;
    const char *fault;
};

/* Returns whether a task exists. A missing task is a fault, except in a truncated trace. */
static bool is_there(struct decoding *d, uint64_t task, uint32_t n_tasks, const char *fault)
{
    if (task >= n_tasks && !d->g->store.set.damaged) {
        d->fault = fault;
    }
    return task < n_tasks;
}

/* The number of a stream or of an interface. */
static uint8_t get_below(struct decoding *d, uint32_t n)
{
    return (uint8_t)wf_varint_get_max(&d->in, n - 1);
}

static void decode_sends(struct decoding *d, const struct row *row)
{
    uint64_t n = wf_varint_get_u32(&d->in);
    uint64_t offset = 0;

    for (uint64_t i = 0; i < n && !d->in.failed && d->fault == NULL; i++) {
        struct wf_task_send send = {.offset = 0};
        offset += wf_varint_get_max(&d->in, INT64_MAX);
        send.bytes = d->send.bytes + wf_unzigzag(wf_varint_get(&d->in));
        uint64_t pe = d->send.pe + wf_unzigzag(wf_varint_get(&d->in));
        uint64_t id = d->send.id + wf_unzigzag(wf_varint_get(&d->in));
        if (d->in.failed || offset > (uint64_t)row->duration || pe >= d->g->graph.n_pes ||
            id > WF_NO_TASK || send.bytes > INT64_MAX) {
            d->fault = "a message of a task makes no sense";
            return;
        }
        send.offset = (int64_t)offset;
        send.pe = (uint32_t)pe;
        send.id = (uint32_t)id;
        send.nic = d->has_streams ? get_below(d, d->g->graph.n_nics) : 0;
        send.peer_nic = d->has_streams ? get_below(d, d->g->graph.n_nics) : 0;
        d->send = send;
        if (id != WF_NO_TASK &&
            !is_there(d, id, n_tasks_of(d->g, send.pe), "a message is to no task")) {
            send.id = WF_NO_TASK;
        }
        wf_buf_append(&d->sends, &send, sizeof(send));
    }
}

static void decode_next(struct decoding *d, uint32_t number)
{
    uint64_t n = wf_varint_get_u32(&d->in);
    uint64_t next = number;

    for (uint64_t i = 0; i < n && !d->in.failed && d->fault == NULL; i++) {
        next += wf_unzigzag(wf_varint_get(&d->in));
        if (is_there(d, next, d->n_tasks, "a task that waits is not there")) {
            uint32_t narrow = (uint32_t)next;
            wf_buf_append(&d->next, &narrow, sizeof(narrow));
        }
    }
}

static void decode_task(struct decoding *d, uint32_t number, int64_t *duration)
{
    uint64_t lasts = (uint64_t)*duration + wf_unzigzag(wf_varint_get(&d->in));
    struct row row = {.needs.tasks = wf_varint_get_u32(&d->in)};

    row.needs.messages = wf_varint_get_u32(&d->in);
    row.stream = d->has_streams ? get_below(d, d->g->graph.n_streams) : 0;
    if (d->in.failed || lasts > INT64_MAX) {
        d->fault = "a task makes no sense";
        return;
    }
    row.duration = (int64_t)lasts;
    *duration = row.duration;
    decode_sends(d, &row);
    decode_next(d, number);
    row.sends_end = (uint32_t)(d->sends.size / sizeof(struct wf_task_send));
    row.next_end = (uint32_t)(d->next.size / sizeof(uint32_t));
    wf_buf_append(&d->rows, &row, sizeof(row));
}

/* memcpy() must not be called with null, which is the data of an empty wf_buf. */
static void copy(void *to, const struct wf_buf *from)
{
    if (from->size > 0) {
        memcpy(to, from->data, from->size);
    }
}

static struct tasks *gather(const struct decoding *d, uint32_t first)
{
    size_t head = sizeof(struct tasks) + d->rows.size;
    size_t memory = head + d->sends.size + d->next.size;
    struct tasks *tasks = wf_xmalloc(memory);

    tasks->memory = memory;
    tasks->first = first;
    tasks->sends = (void *)((char *)tasks + head);
    tasks->next = (void *)((char *)tasks->sends + d->sends.size);
    copy(tasks->rows, &d->rows);
    copy(tasks->sends, &d->sends);
    copy(tasks->next, &d->next);
    return tasks;
}

static struct tasks *decode(const struct native_graph *g, const struct wf_native_block *at,
                            const struct wf_buf *raw, const char **fault)
{
    struct decoding d = {
        .g = g,
        .pe = at->rank,
        .n_tasks = n_tasks_of(g, at->rank),
        .has_streams = g->store.set.header.version == WF_NATIVE_STREAMS_VERSION,
        .in = {raw->data, raw->data + raw->size, false},
    };
    static const struct row none = {.duration = 0};
    struct tasks *tasks = NULL;
    int64_t duration = 0;

    wf_buf_append(&d.rows, &none, sizeof(none));
    for (uint64_t i = 0; i < at->n_ops && d.fault == NULL && !d.in.failed; i++) {
        decode_task(&d, (uint32_t)(at->first_op + i), &duration);
    }
    if (d.fault == NULL && (d.in.failed || d.in.at != d.in.end)) {
        d.fault = "it has another number of tasks than its head says";
    }
    if (d.fault == NULL) {
        tasks = gather(&d, (uint32_t)at->first_op);
    }
    wf_buf_fini(&d.rows);
    wf_buf_fini(&d.sends);
    wf_buf_fini(&d.next);
    *fault = d.fault;
    return tasks;
}

/* ---- blocks ---- */

/* Stands for a block that cannot be read, which is not tried again for each of its tasks. */
static struct tasks unreadable;

static struct tasks *load(struct native_graph *g, const struct wf_native_block *at)
{
    struct wf_native_tools *tools = wf_native_store_read(&g->store, at);
    const char *fault = NULL;

    if (tools == NULL) {
        return NULL;
    }
    struct tasks *tasks = decode(g, at, &tools->raw, &fault);
    wf_native_store_decoded(&g->store, at, tools, fault, tasks != NULL ? tasks->memory : 0);
    return tasks;
}

static void forget(struct wf_native_store *store, uint32_t pe)
{
    const struct native_graph *g =
        (const struct native_graph *)((const char *)store -
                                      offsetof(struct native_graph, store));

    for (size_t i = g->first[pe]; i < g->first[pe + 1]; i++) {
        if (g->loaded[i] != NULL && g->loaded[i] != &unreadable) {
            wf_native_store_released(store, g->loaded[i]->memory);
            free(g->loaded[i]);
            g->loaded[i] = NULL;
        }
    }
}

static void give(struct native_graph *g, uint32_t pe)
{
    if (g->store.shares) {
        wf_native_store_give(&g->store, pe);
    }
}

/* Returns the block of a task, or null if it cannot be read. The PE stays locked until the
 * caller calls give(), in both cases. */
static const struct tasks *take_tasks(struct native_graph *g, uint32_t pe, uint32_t task)
{
    struct wf_native_store *store = &g->store;

    /* Another thread that drops blocks of the PE holds it for a short time only. */
    while (store->shares && !wf_native_store_take(store, pe)) {
    }
    const struct wf_native_block *block =
        wf_native_store_find(store, g->first[pe], g->first[pe + 1], pe, task);
    struct tasks **loaded = &g->loaded[block - store->set.blocks];
    if (*loaded == NULL) {
        wf_native_store_make_room(store);
        if (wf_native_store_is_full(store)) {
            /* The blocks of this PE alone exceed the memory limit. */
            forget(store, pe);
        }
        struct tasks *tasks = load(g, block);
        *loaded = tasks != NULL ? tasks : &unreadable;
    }
    return *loaded != &unreadable ? *loaded : NULL;
}

/* ---- functions of the graph ---- */

static uint32_t graph_n_tasks(const struct wf_graph *graph, uint32_t pe)
{
    return n_tasks_of(of(graph), pe);
}

static struct wf_task_needs graph_needs(const struct wf_graph *graph, uint32_t pe,
                                        uint32_t task)
{
    struct native_graph *g = of(graph);
    const struct tasks *tasks = take_tasks(g, pe, task);
    struct wf_task_needs needs = {0, 0};

    if (tasks != NULL) {
        needs = tasks->rows[task - tasks->first + 1].needs;
    }
    give(g, pe);
    return needs;
}

static uint32_t graph_root(const struct wf_graph *graph, uint32_t pe, uint32_t from)
{
    const struct native_graph *g = of(graph);
    uint32_t end = n_tasks_of(g, pe);

    if (g->store.set.roots_end != NULL && g->store.set.roots_end[pe] < end) {
        end = g->store.set.roots_end[pe];
    }
    return wf_graph_root(graph, graph_needs, pe, from, end);
}

static void graph_task(const struct wf_graph *graph, uint32_t pe, uint32_t task,
                       struct wf_task *out)
{
    struct native_graph *g = of(graph);
    const struct tasks *tasks = take_tasks(g, pe, task);

    *out = (struct wf_task){.pe = pe, .number = task};
    if (tasks != NULL) {
        const struct row *row = &tasks->rows[task - tasks->first + 1];
        out->duration = row->duration;
        out->stream = row->stream;
        out->own[0] = row[-1].sends_end;
        out->own[1] = row[-1].next_end;
        out->n_sends = row->sends_end - row[-1].sends_end;
        out->n_next = row->next_end - row[-1].next_end;
    }
    give(g, pe);
}

static void graph_send(const struct wf_graph *graph, const struct wf_task *task, uint32_t i,
                       struct wf_task_send *out)
{
    struct native_graph *g = of(graph);
    const struct tasks *tasks = take_tasks(g, task->pe, task->number);

    if (tasks != NULL) {
        *out = tasks->sends[task->own[0] + i];
    } else {
        *out = (struct wf_task_send){.pe = task->pe, .id = WF_NO_TASK};
    }
    give(g, task->pe);
}

static uint32_t graph_next(const struct wf_graph *graph, const struct wf_task *task, uint32_t i)
{
    struct native_graph *g = of(graph);
    const struct tasks *tasks = take_tasks(g, task->pe, task->number);
    uint32_t next = tasks != NULL ? tasks->next[task->own[1] + i] : task->number;

    give(g, task->pe);
    return next;
}

static enum wf_status graph_check(const struct wf_graph *graph, struct wf_err *err)
{
    return wf_native_store_check(&of(graph)->store, err);
}

static void graph_destroy(struct wf_graph *graph)
{
    struct native_graph *g = of(graph);

    for (size_t i = 0; i < g->store.set.n_blocks; i++) {
        if (g->loaded[i] != &unreadable) {
            free(g->loaded[i]);
        }
    }
    free(g->loaded);
    free(g->first);
    wf_native_store_fini(&g->store);
    free(g);
}

static const struct wf_graph_ops graph_ops = {
    .name = "weft",
    .summary = "weft's own trace format",
    .destroy = graph_destroy,
    .n_tasks = graph_n_tasks,
    .root = graph_root,
    .needs = graph_needs,
    .task = graph_task,
    .send = graph_send,
    .next = graph_next,
    .check = graph_check,
};

/* ---- opening and closing ---- */

void wf_native_graph_limit(struct wf_graph *graph, uint64_t bytes)
{
    struct native_graph *g = of(graph);
    const struct wf_native_set *set = &g->store.set;

    g->store.limit = bytes;
    g->store.shares = !set->totals_known ||
                      set->totals.raw_bytes > (bytes / DECODED_PER_RAW) - (bytes >> 8) ||
                      set->n_blocks > (bytes >> 16);
}

uint64_t wf_native_graph_memory(const struct wf_graph *graph)
{
    return atomic_load_explicit(&of(graph)->store.memory, memory_order_relaxed);
}

static size_t *index_blocks(const struct wf_native_set *set)
{
    size_t *first = wf_xcalloc((size_t)set->header.n_ranks + 1, sizeof(*first));
    size_t block = 0;

    for (uint32_t pe = 0; pe < set->header.n_ranks; pe++) {
        first[pe] = block;
        while (block < set->n_blocks && set->blocks[block].rank == pe) {
            block++;
        }
    }
    first[set->header.n_ranks] = block;
    return first;
}

/* Whether the files have room for the tasks that their blocks claim to have. */
static enum wf_status check_blocks(const struct wf_native_set *set, struct wf_err *err)
{
    uint64_t left = TASKS_PER_BYTE * set->n_bytes;

    for (size_t i = 0; i < set->n_blocks; i++) {
        const struct wf_native_block *block = &set->blocks[i];
        if (block->first_op + block->n_ops > WF_NO_TASK) {
            return wf_err_set(err, WF_EINVAL, "%.200s: PE %" PRIu32 " has too many tasks",
                              set->path, block->rank);
        }
        if (block->n_ops > left) {
            return wf_err_set(err, WF_EINVAL,
                              "%.200s: block at byte %" PRIu64 ", PE %" PRIu32
                              ": it has no room for the %" PRIu64 " tasks that its head says",
                              set->path, block->offset, block->rank, block->n_ops);
        }
        left -= block->n_ops;
    }
    return WF_OK;
}

enum wf_status wf_native_graph_new(struct wf_native_set *set, struct wf_graph **out,
                                   struct wf_err *err)
{
    enum wf_status status = check_blocks(set, err);

    if (status != WF_OK) {
        wf_native_set_close(set);
        return status;
    }

    struct native_graph *g = wf_xcalloc(1, sizeof(*g));
    g->self = g;
    wf_native_store_init(&g->store, set, forget);
    g->graph = (struct wf_graph){
        .ops = &graph_ops,
        .n_pes = set->header.n_ranks,
        .tasks_expected = set->totals_known ? set->totals.n_ops : 0,
        .messages_expected = set->totals_known ? set->totals.n_messages : 0,
        .n_streams = set->n_streams > 0 ? set->n_streams : 1,
        .n_nics = set->n_nics > 0 ? set->n_nics : 1,
    };
    /* The store has a copy of the set. */
    g->graph.streams = set->n_streams > 0 ? g->store.set.streams : NULL;
    g->first = index_blocks(set);
    g->loaded = wf_xcalloc(set->n_blocks + 1, sizeof(struct tasks *));
    if (set->damaged) {
        g->store.failure = set->damage;
    }
    wf_native_graph_limit(&g->graph, WF_NATIVE_MEMORY);
    *out = &g->graph;
    return WF_OK;
}

bool wf_native_graph_facts(const struct wf_graph *graph, struct wf_native_facts *out)
{
    if (graph->ops != &graph_ops) {
        return false;
    }
    wf_native_set_facts(&of(graph)->store.set, out);
    return true;
}
