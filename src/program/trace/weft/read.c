/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/mem.h"
#include "program/trace/reader.h"
#include "program/trace/weft/decode.h"
#include "program/trace/weft/file.h"
#include "program/trace/weft/graph.h"
#include "program/trace/weft/native.h"
#include "program/trace/weft/store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_OVERHEAD = 4096 };

struct native;

/* The reading position of a rank. */
struct slot {
    struct native *owner;
    uint32_t rank;
    struct slot *next;               /* in the list of all slots */
    uint64_t op;                     /* number of the next op, if there is a block */
    uint64_t end;                    /* first op after the block; 0 without a block */
    struct wf_native_decoder *block; /* null: none, or dropped to save memory */
    struct wf_created created;       /* requests that the ops read so far create... */
    uint64_t read_to;                /* ...and how many ops these are */
    struct wf_buf arrays;            /* arrays of the latest op, which the caller still uses */
};

struct native {
    struct wf_source source;
    struct wf_source_ops ops; /* used if the trace has the name of another format */
    struct native *self;      /* to load blocks through a const pointer */
    struct slot **slots;      /* per rank, or null */
    struct slot *all;         /* list of all slots; protected by the store's lock */
    struct wf_native_store store;
};

static struct native *native_of(const struct wf_source *source)
{
    return ((const struct native *)source)->self;
}

/* ---- blocks ---- */

static void forget_block(struct wf_native_store *store, struct slot *slot)
{
    if (slot->block != NULL) {
        wf_native_store_released(store, wf_native_decoder_memory(slot->block));
        wf_native_decoder_free(slot->block);
        slot->block = NULL;
        slot->end = 0;
    }
}

static void forget_rank(struct wf_native_store *store, uint32_t rank)
{
    const struct native *n =
        (const struct native *)((const char *)store - offsetof(struct native, store));

    if (n->slots[rank] != NULL) {
        forget_block(store, n->slots[rank]);
    }
}

static struct wf_native_decoder *load(struct native *n, const struct wf_native_block *at,
                                      struct wf_created *created)
{
    const struct wf_native_set *set = &n->store.set;
    struct wf_native_frame frame;
    struct wf_native_tools *tools = NULL;
    const unsigned char *mapped =
        wf_native_mapped_frame(set, at->file, at->offset, WF_NATIVE_PADDING, &frame);
    const char *fault = NULL;

    if (mapped == NULL) {
        tools = wf_native_store_read(&n->store, at);
        if (tools == NULL) {
            return NULL;
        }
    }
    const struct wf_native_decoder_source from = {
        .raw = mapped != NULL ? mapped : tools->raw.data,
        .size = mapped != NULL ? frame.stored_size : (uint32_t)tools->raw.size,
        .groups = set->groups,
        .created = created,
        .is_old = set->header.version < WF_NATIVE_FILE_VERSION,
        .is_ours = set->is_ours,
        .stays = mapped != NULL,
        .rank = at->rank,
        .first_op = at->first_op,
        .n_ops = at->n_ops,
    };
    struct wf_native_decoder *block = wf_native_decoder_new(&from, &fault);
    wf_native_store_decoded(&n->store, at, tools, fault,
                            block != NULL ? wf_native_decoder_memory(block) : 0);
    return block;
}

static const struct wf_native_block *find_block(const struct native *n, uint32_t rank,
                                                uint64_t op)
{
    return wf_native_store_find(&n->store, 0, n->store.set.n_blocks, rank, op);
}

/* Notes that an op of the rank's block is invalid, and drops the block. */
static __attribute__((noinline)) bool refuse(struct slot *slot)
{
    struct native *n = slot->owner;
    const struct wf_native_decoder *block = slot->block;
    char words[200];

    (void)snprintf(words, sizeof(words), "op %" PRIu64 " of the rank: %s",
                   block->first_op + (block->n_done > 0 ? block->n_done - 1 : 0), block->fault);
    wf_native_store_bad(&n->store, find_block(n, slot->rank, block->first_op), words);
    forget_block(&n->store, slot);
    return false;
}

/* Moves the rank to its op number `op`. Returns false if there is none, or on a read error. */
static __attribute__((noinline)) bool go_to(struct slot *slot, uint64_t op)
{
    struct native *n = slot->owner;
    struct wf_native_decoder *block = slot->block;

    /* The requests that skipped ops create are unknown, so any request is accepted then. */
    slot->read_to = slot->op > slot->read_to ? slot->op : slot->read_to;
    slot->created.all |= op > slot->read_to;
    if (block == NULL || op < block->first_op || op - block->first_op >= block->n_ops) {
        const struct wf_native_block *at = find_block(n, slot->rank, op);
        if (at == NULL) {
            if (n->store.set.damaged) {
                wf_native_store_fail(&n->store, &n->store.set.damage);
            }
            /* After the last op, mostly nobody comes back. */
            forget_block(&n->store, slot);
            wf_buf_fini(&slot->arrays);
            return false;
        }
        forget_block(&n->store, slot);
        block = load(n, at, &slot->created);
        if (block == NULL) {
            return false;
        }
        slot->block = block;
        slot->op = block->first_op;
        slot->end = block->first_op + block->n_ops;
        wf_native_store_make_room(&n->store);
    }
    if (slot->op != op && !wf_native_decoder_seek(block, &slot->arrays, op - block->first_op)) {
        return refuse(slot);
    }
    slot->op = op;
    return true;
}

static __attribute__((noinline)) void new_slot(struct native *n, uint32_t rank)
{
    struct slot *slot = wf_xcalloc(1, sizeof(*slot));

    slot->owner = n;
    slot->rank = rank;
    (void)pthread_mutex_lock(&n->store.lock);
    slot->next = n->all;
    n->all = slot;
    (void)pthread_mutex_unlock(&n->store.lock);
    n->slots[rank] = slot;
}

/* The next op cannot be read: moves the rank and the cursor back to it. */
static __attribute__((noinline)) bool refuse_next(struct slot *slot, struct wf_cursor *cursor)
{
    slot->op--;
    cursor->word[0]--;
    return refuse(slot);
}

/* A cancelled send or receive matches no message and completes at once. */
static __attribute__((noinline)) void cancel(const struct slot *slot, struct wf_op *op)
{
    const struct wf_native_set *set = &slot->owner->store.set;
    const struct wf_native_cancelled key = {slot->rank, slot->op - 1};
    enum wf_op_family family = wf_op_info(op->kind)->family;

    if ((family == WF_FAMILY_SEND || family == WF_FAMILY_RECV) &&
        bsearch(&key, set->cancelled, set->n_cancelled, sizeof(key), wf_native_by_op) != NULL) {
        op->peer = WF_PROC_NULL;
        op->tag = 0;
        op->recorded = false;
    }
}

/* Reads the next op of the rank's block. */
static inline bool take_next(struct slot *slot, struct wf_cursor *cursor, struct wf_op *op)
{
    slot->op++;
    cursor->word[0] = slot->op;
    if (!wf_native_decoder_next(slot->block, &slot->arrays, op)) {
        return refuse_next(slot, cursor);
    }
    if (slot->owner->store.set.n_cancelled > 0) {
        cancel(slot, op);
    }
    return true;
}

static __attribute__((noinline)) bool next_elsewhere(struct slot *slot,
                                                     struct wf_cursor *cursor, struct wf_op *op)
{
    return go_to(slot, cursor->word[0]) && take_next(slot, cursor, op);
}

static inline bool next_of(struct slot *slot, struct wf_cursor *cursor, struct wf_op *op)
{
    return cursor->word[0] == slot->op && slot->op < slot->end
               ? take_next(slot, cursor, op)
               : next_elsewhere(slot, cursor, op);
}

static __attribute__((noinline)) bool next_shared(struct native *n, uint32_t rank,
                                                  struct wf_cursor *cursor, struct wf_op *op)
{
    /* Another thread that drops blocks of the rank holds it for a short time only. */
    while (!wf_native_store_take(&n->store, rank)) {
    }
    if (n->slots[rank] == NULL) {
        new_slot(n, rank);
    }
    bool more = next_of(n->slots[rank], cursor, op);
    wf_native_store_give(&n->store, rank);
    return more;
}

/* The path of most ops is short and saves few registers; rare cases are separate functions. */
static bool native_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                        struct wf_op *op)
{
    struct native *n = native_of(source);

    assert(rank < source->n_ranks);
    if (n->store.shares || n->slots[rank] == NULL) {
        return next_shared(n, rank, cursor, op);
    }
    return next_of(n->slots[rank], cursor, op);
}

/* ---- other functions of the source ---- */

static bool native_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                         struct wf_group *out)
{
    return wf_groups_find(native_of(source)->store.set.groups, rank, comm, out);
}

static const char *native_name_of(const struct wf_source *source, enum wf_source_name kind,
                                  uint32_t number)
{
    const struct wf_native_names *names = &native_of(source)->store.set.names[kind];

    return number < names->n ? names->names[number] : NULL;
}

static bool find_time(const struct wf_native_times *times, uint32_t rank, int64_t *ps)
{
    size_t low = 0;

    WF_BISECT(low, times->n, middle, times->times[middle].rank < rank);
    if (low == times->n || times->times[low].rank != rank) {
        return false;
    }
    *ps = times->times[low].ps;
    return true;
}

static bool native_wall(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    return find_time(&native_of(source)->store.set.walls, rank, ps);
}

static bool native_cost(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    return find_time(&native_of(source)->store.set.costs, rank, ps);
}

static enum wf_status native_check(const struct wf_source *source, struct wf_err *err)
{
    return wf_native_store_check(&native_of(source)->store, err);
}

static void native_destroy(struct wf_source *source)
{
    struct native *n = native_of(source);

    while (n->all != NULL) {
        struct slot *slot = n->all;
        n->all = slot->next;
        wf_native_decoder_free(slot->block);
        wf_buf_fini(&slot->arrays);
        wf_created_fini(&slot->created);
        free(slot);
    }
    free(n->slots);
    wf_native_store_fini(&n->store);
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

/* Gives the source the name of another format. */
static void set_format(struct wf_source *source, const char *format)
{
    struct native *n = native_of(source);

    n->ops = native_ops;
    n->ops.name = format;
    n->source.ops = &n->ops;
}

void wf_native_limit(struct wf_source *source, uint64_t bytes)
{
    struct native *n = native_of(source);
    uint64_t each = (uint64_t)n->store.set.header.block_size + BLOCK_OVERHEAD;

    n->store.limit = bytes;
    n->store.shares = each > bytes / source->n_ranks;
}

uint64_t wf_native_memory(const struct wf_source *source)
{
    return atomic_load_explicit(&native_of(source)->store.memory, memory_order_relaxed);
}

static struct wf_source *new_source(const struct wf_native_set *set)
{
    struct native *n = wf_xcalloc(1, sizeof(*n));
    bool known = set->totals_known;

    n->self = n;
    wf_native_store_init(&n->store, set, forget_rank);
    n->source = (struct wf_source){
        .ops = &native_ops,
        .n_ranks = set->header.n_ranks,
        .messages_expected = known ? set->totals.n_messages : 0,
        .acts_in_background = !known || set->totals.acts_in_background,
        .depends_on_time = !known || set->totals.depends_on_time,
        .any_sizes = known && set->totals.any_sizes,
    };
    n->slots = wf_xcalloc(n->source.n_ranks, sizeof(struct slot *));
    wf_native_limit(&n->source, WF_NATIVE_MEMORY);
    return &n->source;
}

bool wf_native_facts(const struct wf_source *source, struct wf_native_facts *out)
{
    if (source->ops != &native_ops) {
        return false;
    }
    wf_native_set_facts(&native_of(source)->store.set, out);
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
    const struct wf_native_set *set = &n->store.set;
    const struct wf_native_block *end = set->blocks + set->n_blocks;
    while (block + 1 < end && block[1].rank == rank) {
        block++;
    }
    const struct wf_native_file *file = &set->files[block->file];
    *out = (struct wf_native_end){file->path, file->end, block->first_op + block->n_ops,
                                  file->is_whole};
    return true;
}

/* ---- the reader ---- */

struct native_params {
    uint64_t max_ops;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct native_params, max_ops, COUNT, .def = "0",
                 .doc = "Operations of a trace with loops; more are refused. 0: 10^8, and 10^4 "
                        "for each byte of the files"),
    WF_PARAM_END,
};

/* Loops in loops make any number of operations of a few bytes. */
static enum wf_status check_amount(const struct wf_native_set *set, uint64_t max_ops,
                                   struct wf_err *err)
{
    enum { OPS = 100000000, OPS_PER_BYTE = 10000 };
    const struct wf_native_block *most = NULL;
    uint64_t most_allowed = max_ops > 0 ? max_ops : OPS + OPS_PER_BYTE * set->n_bytes;

    for (size_t i = 0; i < set->n_blocks; i++) {
        const struct wf_native_block *block = &set->blocks[i];
        most = most == NULL || block->n_ops > most->n_ops ? block : most;
    }
    if (set->n_ops <= most_allowed) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "%.200s: %" PRIu64 " bytes make %" PRIu64
                      " operations, and more than %" PRIu64
                      " are refused; the loops in the block at byte %" PRIu64 ", rank %" PRIu32
                      ", make %" PRIu64 " of them. If that is meant: -p trace.max_ops=%" PRIu64,
                      set->path, set->n_bytes, set->n_ops, most_allowed, most->offset,
                      most->rank, most->n_ops, set->n_ops);
}

static bool detect(const struct wf_reader_probe *probe)
{
    if (probe->is_directory) {
        return wf_probe_entry(probe, ".weft", NULL) != NULL;
    }
    /* A truncated file is recognised by the part of the magic bytes that it has. */
    size_t n = probe->n < WF_NATIVE_MAGIC_BYTES ? probe->n : WF_NATIVE_MAGIC_BYTES;
    return n >= 4 && memcmp(probe->bytes, wf_native_magic, n) == 0;
}

enum wf_status wf_native_open_own(const char *path, const char *format, struct wf_source **out,
                                  struct wf_err *err)
{
    struct wf_native_set set;

    WF_TRY(wf_native_set_open(path, &set, err));
    wf_native_set_own(&set);
    *out = new_source(&set);
    set_format(*out, format);
    return WF_OK;
}

static enum wf_status open_with(const char *path, const struct native_params *params,
                                struct wf_trace *out, struct wf_err *err)
{
    struct wf_native_set set;
    WF_TRY(wf_native_set_open(path, &set, err));
    if (set.header.version == WF_NATIVE_TASKS_VERSION ||
        set.header.version == WF_NATIVE_STREAMS_VERSION) {
        return wf_native_graph_new(&set, &out->graph, err);
    }
    enum wf_status status = check_amount(&set, params->max_ops, err);
    if (status != WF_OK) {
        wf_native_set_close(&set);
        return status;
    }
    out->source = new_source(&set);
    return WF_OK;
}

enum wf_status wf_native_open(const char *path, struct wf_trace *out, struct wf_err *err)
{
    return open_with(path, &(struct native_params){.max_ops = 0}, out, err);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    return open_with(probe->path, params, out, err);
}

const struct wf_reader_ops wf_native_reader_ops = {
    .name = "weft",
    .summary = "weft's own: a .weft file, or a directory of them",
    .params = params_table,
    .params_size = sizeof(struct native_params),
    .detect = detect,
    .open = open_trace,
};
