/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "trace/reader.h"
#include "trace/weft/block.h"
#include "trace/weft/decode.h"
#include "trace/weft/file.h"
#include "trace/weft/graph.h"
#include "trace/weft/native.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seats that are looked at to make room for one block. */
enum { HAND_STEPS = 4096, BLOCK_OVERHEAD = 4096 };

struct native;

/* Where a rank stands. */
struct seat_state {
    struct native *owner;
    uint32_t rank;
    struct seat_state *next; /* of all that there are */
    uint64_t op;             /* the number of the next op, if there is a block... */
    uint64_t end;            /* ...and of the first one behind that; 0 if there is none */
    struct wf_native_decoder *block; /* null: none, or forgotten */
    struct wf_created made; /* requests of the ops up to the farthest that was read... */
    uint64_t read_to;       /* ...if that is this many */
    struct wf_buf arrays;   /* of the latest op; never forgotten, since the caller has it */
};

struct seat {
    atomic_bool taken; /* by who asks for the rank, or takes its block away */
    struct seat_state *state;
};

struct native {
    struct wf_source source;
    struct wf_source_ops ops; /* its own, if it has the name of another format */
    struct native *self;      /* what is remembered is not part of what anybody can see */
    struct wf_native_set set;
    struct seat *seats;
    bool shares; /* blocks may be forgotten, and seats must be taken */
    uint64_t limit;
    atomic_ullong memory;
    atomic_uint hand;
    pthread_mutex_t lock; /* of the rest */
    struct seat_state *states;
    struct wf_native_tools *tools;
    struct wf_err failure;
};

static struct native *native_of(const struct wf_source *source)
{
    return ((const struct native *)source)->self;
}

static void fail(struct native *n, const struct wf_err *err)
{
    (void)pthread_mutex_lock(&n->lock);
    if (n->failure.status == WF_OK) {
        n->failure = *err;
    }
    (void)pthread_mutex_unlock(&n->lock);
}

/* ---- memory ---- */

static void forget_block(struct native *n, struct seat_state *state)
{
    if (state->block != NULL) {
        atomic_fetch_sub_explicit(&n->memory, wf_native_decoder_memory(state->block),
                                  memory_order_relaxed);
        wf_native_decoder_free(state->block);
        state->block = NULL;
        state->end = 0;
    }
}

static bool take_seat(struct seat *seat)
{
    return !atomic_exchange_explicit(&seat->taken, true, memory_order_acquire);
}

static void give_seat(struct seat *seat)
{
    atomic_store_explicit(&seat->taken, false, memory_order_release);
}

static void make_room(struct native *n)
{
    uint32_t n_steps = n->source.n_ranks < HAND_STEPS ? n->source.n_ranks : HAND_STEPS;

    for (uint32_t i = 0; i < n_steps; i++) {
        if (atomic_load_explicit(&n->memory, memory_order_relaxed) <= n->limit) {
            return;
        }
        uint32_t hand = atomic_fetch_add_explicit(&n->hand, 1, memory_order_relaxed);
        struct seat *seat = &n->seats[hand % n->source.n_ranks];
        if (take_seat(seat)) {
            if (seat->state != NULL) {
                forget_block(n, seat->state);
            }
            give_seat(seat);
        }
    }
}

/* ---- blocks ---- */

static struct wf_native_decoder *load(struct native *n, const struct wf_native_block *at,
                                      struct wf_created *made)
{
    struct wf_native_tools *tools = wf_native_take_tools(&n->tools, &n->lock);
    struct wf_native_decoder *block = NULL;
    const char *fault = NULL;
    struct wf_err err;

    enum wf_status status = wf_native_read_block(&n->set, at, tools, &err);
    if (status == WF_OK) {
        const struct wf_native_decoder_source from = {
            .raw = tools->raw.data,
            .size = (uint32_t)tools->raw.size,
            .groups = n->set.groups,
            .made = made,
            .is_old = n->set.header.version < WF_NATIVE_FILE_VERSION,
            .rank = at->rank,
            .first_op = at->first_op,
            .n_ops = at->n_ops,
        };
        block = wf_native_decoder_new(&from, &fault);
        status = block == NULL ? wf_native_bad_block(&n->set, at, fault, &err) : WF_OK;
    }
    wf_native_give_tools(&n->tools, &n->lock, tools);
    if (status != WF_OK) {
        fail(n, &err);
        return NULL;
    }
    atomic_fetch_add_explicit(&n->memory, wf_native_decoder_memory(block),
                              memory_order_relaxed);
    return block;
}

/* The block of the rank that has op number `op`; null if there is none. */
static const struct wf_native_block *find_block(const struct native *n, uint32_t rank,
                                                uint64_t op)
{
    size_t low = 0, high = n->set.n_blocks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct wf_native_block *block = &n->set.blocks[middle];
        if (block->rank < rank ||
            (block->rank == rank && block->first_op + block->n_ops <= op)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n->set.n_blocks && n->set.blocks[low].rank == rank ? &n->set.blocks[low]
                                                                    : NULL;
}

/* An op of the rank's block makes no sense: says so, and is done with the block. */
static __attribute__((noinline)) bool refuse(struct native *n, uint32_t rank,
                                             struct seat_state *state)
{
    const struct wf_native_decoder *block = state->block;
    const struct wf_native_block *at = find_block(n, rank, block->first_op);
    char words[200];
    struct wf_err err;

    (void)snprintf(words, sizeof(words), "op %" PRIu64 " of the rank: %s",
                   block->first_op + (block->n_done > 0 ? block->n_done - 1 : 0), block->fault);
    (void)wf_native_bad_block(&n->set, at, words, &err);
    fail(n, &err);
    forget_block(n, state);
    return false;
}

/* Brings the rank to its op number `op`. False if it has none, or it cannot be read. */
static __attribute__((noinline)) bool go_to(struct native *n, uint32_t rank,
                                            struct seat_state *state, uint64_t op)
{
    struct wf_native_decoder *block = state->block;

    /* Who has skipped ops knows nothing of the requests that they made. */
    state->read_to = state->op > state->read_to ? state->op : state->read_to;
    state->made.all |= op > state->read_to;
    if (block == NULL || op < block->first_op || op - block->first_op >= block->n_ops) {
        const struct wf_native_block *at = find_block(n, rank, op);
        if (at == NULL) {
            if (n->set.damaged) {
                fail(n, &n->set.damage);
            }
            return false;
        }
        forget_block(n, state);
        block = load(n, at, &state->made);
        if (block == NULL) {
            return false;
        }
        state->block = block;
        state->op = block->first_op;
        state->end = block->first_op + block->n_ops;
        if (n->shares && atomic_load_explicit(&n->memory, memory_order_relaxed) > n->limit) {
            make_room(n);
        }
    }
    if (state->op != op &&
        !wf_native_decoder_seek(block, &state->arrays, op - block->first_op)) {
        return refuse(n, rank, state);
    }
    state->op = op;
    return true;
}

static __attribute__((noinline)) struct seat_state *new_state(struct native *n, uint32_t rank)
{
    struct seat_state *state = wf_xcalloc(1, sizeof(*state));

    state->owner = n;
    state->rank = rank;
    (void)pthread_mutex_lock(&n->lock);
    state->next = n->states;
    n->states = state;
    (void)pthread_mutex_unlock(&n->lock);
    return state;
}

/* An op that cannot be read: the rank stays where it was. */
static __attribute__((noinline)) bool refuse_next(struct seat_state *state,
                                                  struct wf_cursor *cursor)
{
    state->op--;
    cursor->word[0]--;
    return refuse(state->owner, state->rank, state);
}

/* What was cancelled is of nobody: what waits for it finds it complete. */
static __attribute__((noinline)) void cancel(const struct native *n, uint32_t rank,
                                             uint64_t number, struct wf_op *op)
{
    const struct wf_native_cancelled key = {rank, number};
    enum wf_op_family family = wf_op_info(op->kind)->family;

    if ((family == WF_FAMILY_SEND || family == WF_FAMILY_RECV) &&
        bsearch(&key, n->set.cancelled, n->set.n_cancelled, sizeof(key), wf_native_by_op) !=
            NULL) {
        op->peer = WF_PROC_NULL;
        op->tag = 0;
        op->recorded = false;
    }
}

/* The op that the rank's block stands at. */
static inline bool take_next(struct seat_state *state, struct wf_cursor *cursor,
                             struct wf_op *op)
{
    state->op++;
    cursor->word[0] = state->op;
    if (!wf_native_decoder_next(state->block, &state->arrays, op)) {
        return refuse_next(state, cursor);
    }
    if (state->owner->set.n_cancelled > 0) {
        cancel(state->owner, state->rank, state->op - 1, op);
    }
    return true;
}

static __attribute__((noinline)) bool next_elsewhere(struct seat_state *state,
                                                     struct wf_cursor *cursor, struct wf_op *op)
{
    return go_to(state->owner, state->rank, state, cursor->word[0]) &&
           take_next(state, cursor, op);
}

static inline bool next_of(struct seat_state *state, struct wf_cursor *cursor, struct wf_op *op)
{
    return cursor->word[0] == state->op && state->op < state->end
               ? take_next(state, cursor, op)
               : next_elsewhere(state, cursor, op);
}

static __attribute__((noinline)) bool next_shared(struct native *n, uint32_t rank,
                                                  struct wf_cursor *cursor, struct wf_op *op)
{
    struct seat *seat = &n->seats[rank];

    /* Who takes a block away is done soon. */
    while (!take_seat(seat)) {
    }
    if (seat->state == NULL) {
        seat->state = new_state(n, rank);
    }
    bool more = next_of(seat->state, cursor, op);
    give_seat(seat);
    return more;
}

/* What is done for every op is short, and keeps little over calls: the rest is elsewhere. */
static bool native_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    struct native *n = native_of(source);

    assert(rank < source->n_ranks);
    if (n->shares || n->seats[rank].state == NULL) {
        return next_shared(n, rank, cursor, op);
    }
    return next_of(n->seats[rank].state, cursor, op);
}

/* ---- the rest of a source ---- */

static bool native_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                         struct wf_group *out)
{
    return wf_groups_find(native_of(source)->set.groups, rank, comm, out);
}

static const char *native_name_of(const struct wf_source *source, enum wf_source_name kind,
                                  uint32_t number)
{
    const struct wf_native_names *names = &native_of(source)->set.names[kind];

    return number < names->n ? names->names[number] : NULL;
}

static bool find_time(const struct wf_native_times *times, uint32_t rank, int64_t *ps)
{
    size_t low = 0, high = times->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->times[middle].rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == times->n || times->times[low].rank != rank) {
        return false;
    }
    *ps = times->times[low].ps;
    return true;
}

static bool native_wall(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    return find_time(&native_of(source)->set.walls, rank, ps);
}

static bool native_cost(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    return find_time(&native_of(source)->set.costs, rank, ps);
}

static enum wf_status native_check(const struct wf_source *source, struct wf_err *err)
{
    struct native *n = native_of(source);

    (void)pthread_mutex_lock(&n->lock);
    enum wf_status status = n->failure.status;
    if (status != WF_OK && err != NULL) {
        *err = n->failure;
    }
    (void)pthread_mutex_unlock(&n->lock);
    return status;
}

static void native_destroy(struct wf_source *source)
{
    struct native *n = native_of(source);

    while (n->states != NULL) {
        struct seat_state *state = n->states;
        n->states = state->next;
        wf_native_decoder_free(state->block);
        wf_buf_fini(&state->arrays);
        wf_created_fini(&state->made);
        free(state);
    }
    wf_native_free_tools(n->tools);
    free(n->seats);
    wf_native_set_close(&n->set);
    (void)pthread_mutex_destroy(&n->lock);
    free(n);
}

static const struct wf_source_ops native_ops = {
    .name = "weft",
    .summary = "weft's own trace format",
    .destroy = native_destroy,
    .next = native_next,
    .group = native_group,
    .name_of = native_name_of,
    .wall = native_wall,
    .cost = native_cost,
    .check = native_check,
};

void wf_native_set_format(struct wf_source *source, const char *format)
{
    struct native *n = native_of(source);

    n->ops = native_ops;
    n->ops.name = format;
    n->source.ops = &n->ops;
}

void wf_native_limit(struct wf_source *source, uint64_t bytes)
{
    struct native *n = native_of(source);
    uint64_t each = (uint64_t)n->set.header.block_size + BLOCK_OVERHEAD;

    n->limit = bytes;
    n->shares = each > bytes / source->n_ranks;
}

uint64_t wf_native_memory(const struct wf_source *source)
{
    return atomic_load_explicit(&native_of(source)->memory, memory_order_relaxed);
}

static struct wf_source *new_source(const struct wf_native_set *set)
{
    struct native *n = wf_xcalloc(1, sizeof(*n));
    bool known = set->totals_known;

    n->self = n;
    n->set = *set;
    n->source = (struct wf_source){
        .ops = &native_ops,
        .n_ranks = set->header.n_ranks,
        .messages_expected = known ? set->totals.n_messages : 0,
        .acts_in_background = !known || set->totals.acts_in_background,
        .depends_on_time = !known || set->totals.depends_on_time,
    };
    n->seats = wf_xcalloc(n->source.n_ranks, sizeof(*n->seats));
    (void)pthread_mutex_init(&n->lock, NULL);
    wf_native_limit(&n->source, WF_NATIVE_MEMORY);
    return &n->source;
}

bool wf_native_facts(const struct wf_source *source, struct wf_native_facts *out)
{
    if (source->ops != &native_ops) {
        return false;
    }
    wf_native_set_facts(&native_of(source)->set, out);
    return true;
}

bool wf_native_end(const struct wf_source *source, uint32_t rank, struct wf_native_end *out)
{
    if (source == NULL || source->ops != &native_ops) {
        return false;
    }
    const struct native *n = native_of(source);
    const struct wf_native_block *block = find_block(n, rank, 0);
    if (block == NULL) {
        return false;
    }
    const struct wf_native_block *end = n->set.blocks + n->set.n_blocks;
    while (block + 1 < end && block[1].rank == rank) {
        block++;
    }
    const struct wf_native_file *file = &n->set.files[block->file];
    *out = (struct wf_native_end){file->path, file->end, block->first_op + block->n_ops,
                                  file->is_whole};
    return true;
}

/* ---- the reader ---- */

static bool detect(const struct wf_reader_probe *probe)
{
    if (probe->is_directory) {
        return wf_probe_entry(probe, ".weft", NULL) != NULL;
    }
    /* However short a truncated trace is, it is one. */
    size_t n = probe->n < WF_NATIVE_MAGIC_BYTES ? probe->n : WF_NATIVE_MAGIC_BYTES;
    return n >= 4 && memcmp(probe->bytes, wf_native_magic, n) == 0;
}

enum wf_status wf_native_open(const char *path, struct wf_trace *out, struct wf_err *err)
{
    struct wf_native_set set;
    enum wf_status status = wf_native_set_open(path, &set, err);

    if (status != WF_OK) {
        return status;
    }
    if (set.header.version == WF_NATIVE_TASKS_VERSION) {
        return wf_native_graph_new(&set, &out->graph, err);
    }
    out->source = new_source(&set);
    return WF_OK;
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    (void)params;
    return wf_native_open(probe->path, out, err);
}

const struct wf_reader_ops wf_native_reader_ops = {
    .name = "weft",
    .summary = "weft's own: a .weft file, or a directory of them",
    .detect = detect,
    .open = open_trace,
};
