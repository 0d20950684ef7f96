/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/mem.h"
#include "base/varint.h"
#include "program/ops/groups.h"
#include "program/ops/quick_check.h"
#include "program/trace/weft/encode.h"
#include "program/trace/weft/fold.h"
#include "program/trace/weft/graph.h"
#include "program/trace/weft/out.h"

#include <stdlib.h>
#include <string.h>

/* Memory limit, in bytes, for the windows of all ranks together. */
#define MEMORY_MAX (UINT64_C(256) << 20)

/* Memory of a reader that keeps one block of each rank. It determines the block size. */
#define BLOCKS_BYTES (UINT64_C(256) << 20)
enum { RETURNS_MAX = 1 << 12 }; /* before windows take the place of short blocks */
enum { BLOCK_MIN = 1 << 10, BLOCK_MAX = 1 << 15, NAMES_MAX = 1 << 20 };

struct rank_out {
    struct wf_native_fold fold;
    struct wf_created created;
    uint64_t n_written; /* ops written to blocks */
    uint64_t n_ops;
};

/* Properties of a kind of op, looked up once. */
struct kind_out {
    struct wf_op_plan plan;
    uint8_t n_messages; /* that an op which passes the quick check sends */
    bool acts_in_background, has_comm;
};

/* A communicator of a rank, which ops name again and again. */
struct comm_out {
    uint32_t rank, comm;
    bool is_set, known;
    struct wf_group group; /* if it is known */
};

/* The names that are in the file already. */
struct named {
    bool *known;
    uint32_t capacity;
};

/* The block that is being encoded. */
struct block_out {
    struct wf_native_encoder encoder;
    struct wf_buf records;
    uint64_t n_ops;    /* with loops unrolled */
    uint64_t n_stored; /* with each loop body counted once */
};

struct native_writer {
    struct wf_trace_writer writer;
    struct wf_native_out *out;
    struct wf_groups *groups;
    struct rank_out *ranks;
    uint32_t n_ranks, block_size;
    uint32_t hand; /* the rank whose window is written next if memory is short */
    uint64_t memory;
    bool temporary; /* no loops */
    /* Ops go straight to the block, without a window: it holds those of the latest rank. */
    bool direct;
    uint32_t latest;
    uint64_t n_returns; /* ranks that wrote a block and had to begin another early */
    struct named names[WF_NAME_KINDS];
    struct wf_native_totals totals;
    struct block_out block;
    struct wf_buf raw;
    struct kind_out kinds[WF_OP_KINDS];
    struct comm_out comm; /* of the latest op */
    struct wf_native_fold_powers powers;
    struct wf_native_fold spare; /* empty; the window of a rank that has ended */
};

static struct native_writer *native(struct wf_trace_writer *writer)
{
    return (struct native_writer *)writer;
}

static void put_record(struct native_writer *w, enum wf_native_record_type type,
                       const uint64_t *numbers, size_t n, const char *text)
{
    wf_native_out_record(w->out, &(struct wf_native_record){type, numbers, n, text});
}

static void plan_kinds(struct native_writer *w)
{
    for (uint32_t i = 0; i < WF_OP_KINDS; i++) {
        enum wf_op_kind kind = (enum wf_op_kind)i;
        const struct wf_op op = {.kind = kind};
        struct wf_native_totals totals = {.n_ops = 0};

        wf_native_totals_add(&totals, &op);
        w->kinds[i] = (struct kind_out){.plan = wf_op_plan_of(kind, wf_op_layout_of(kind)),
                                        .n_messages = (uint8_t)totals.n_messages,
                                        .has_comm = wf_op_has_comm(kind),
                                        .acts_in_background = totals.acts_in_background};
    }
}

static enum wf_status writer_create(const char *path,
                                    const struct wf_trace_writer_options *options,
                                    struct wf_trace_writer **out, struct wf_err *err)
{
    if (options->n_ranks == 0 || options->n_ranks > WF_RANKS_MAX) {
        return wf_err_set(err, WF_ELIMIT, "a trace of %u ranks; expected 1 to %d",
                          options->n_ranks, WF_RANKS_MAX);
    }

    uint64_t block = BLOCKS_BYTES / options->n_ranks;
    block = block < BLOCK_MIN ? BLOCK_MIN : block > BLOCK_MAX ? BLOCK_MAX : block;
    struct wf_native_out *files = NULL;
    WF_TRY(wf_native_out_open(path, options, (uint32_t)block, &files, err));

    struct native_writer *w = wf_xaligned_zero(sizeof(*w)); /* several may be used at once */
    w->writer.ops = &wf_native_writer_ops;
    w->out = files;
    w->n_ranks = options->n_ranks;
    w->temporary = options->temporary;
    w->direct = options->by_rank && options->temporary;
    w->block_size = (uint32_t)block;
    w->groups = wf_groups_new(options->n_ranks);
    w->ranks = wf_xcalloc(options->n_ranks, sizeof(*w->ranks));
    wf_native_fold_powers_init(&w->powers);
    plan_kinds(w);
    if (options->creator != NULL) {
        put_record(w, WF_RECORD_CREATOR, NULL, 0, options->creator);
    }
    *out = &w->writer;
    return WF_OK;
}

static void release(struct native_writer *w)
{
    for (uint32_t rank = 0; rank < w->n_ranks; rank++) {
        wf_native_fold_fini(&w->ranks[rank].fold);
        wf_created_fini(&w->ranks[rank].created);
    }
    wf_native_fold_fini(&w->spare);
    for (uint32_t kind = 0; kind < WF_NAME_KINDS; kind++) {
        free(w->names[kind].known);
    }
    free(w->ranks);
    wf_groups_free(w->groups);
    wf_buf_fini(&w->block.records);
    wf_buf_fini(&w->raw);
    free(w);
}

/* ---- tables ---- */

static void writer_name(struct wf_trace_writer *writer, enum wf_source_name kind,
                        uint32_t number, const char *name)
{
    struct native_writer *w = native(writer);
    struct named *named = &w->names[kind];

    if (number >= NAMES_MAX) {
        return;
    }
    WF_GROW_ZERO(named->known, number, named->capacity);
    if (!named->known[number]) {
        named->known[number] = true;
        put_record(w, WF_RECORD_NAME, (const uint64_t[]){kind, number}, 2, name);
    }
}

static void record_group(struct native_writer *w, uint32_t comm, const struct wf_group *group)
{
    uint64_t *numbers = wf_xmalloc(((size_t)group->size + 8) * sizeof(*numbers));

    put_record(w, WF_RECORD_GROUP, numbers, wf_native_group_numbers(comm, group, numbers),
               NULL);
    free(numbers);
}

static enum wf_status writer_group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                                   const struct wf_group *group, struct wf_err *err)
{
    struct native_writer *w = native(writer);

    if (comm == WF_COMM_WORLD) {
        return WF_OK;
    }
    w->comm.is_set = false;
    const char *fault = wf_groups_fault(w->groups, group);
    if (fault != NULL) {
        return wf_err_set(err, WF_EINVAL, "communicator %u of rank %u: %s", comm, rank, fault);
    }
    enum wf_learnt learnt = wf_groups_learn(w->groups, rank, comm, group);
    if (learnt == WF_LEARNT_WRONG) {
        return wf_err_set(err, WF_EINVAL, "communicator %u of rank %u: it is no member", comm,
                          rank);
    }
    if (learnt == WF_LEARNT_GROUP || learnt == WF_LEARNT_BOTH) {
        record_group(w, comm, group);
    }
    if (learnt == WF_LEARNT_NUMBER || learnt == WF_LEARNT_BOTH) {
        const uint64_t bound[] = {rank, comm, group->id, wf_group_rank(group, 0)};
        put_record(w, WF_RECORD_BIND, bound, 4, NULL);
    }
    return WF_OK;
}

static void writer_wall(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    put_record(native(writer), WF_RECORD_WALL, (const uint64_t[]){rank, (uint64_t)ps}, 2, NULL);
}

static void writer_cost(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    put_record(native(writer), WF_RECORD_COST, (const uint64_t[]){rank, (uint64_t)ps}, 2, NULL);
}

/* ---- ops ---- */

static void encode_items(struct block_out *block, const unsigned char *items, size_t size);

static void encode_op(struct block_out *block, struct wf_reading *in)
{
    enum wf_op_kind kind = (enum wf_op_kind) * in->at++;
    const struct wf_op_layout *layout = wf_op_layout_of(kind);
    const unsigned char *spans[WF_ARRAYS_MAX][2];
    uint64_t values[WF_FIELDS_MAX], arrays = 0;
    unsigned char bytes[WF_NATIVE_OP_MAX];

    for (uint32_t i = 0; i < layout->n_fields; i++) {
        values[i] = wf_varint_get(in);
    }
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        spans[i][0] = in->at;
        uint64_t n = wf_varint_get(in);
        arrays |= n > 0 ? UINT64_C(1) << i : 0;
        for (uint64_t k = 1; k < n; k++) {
            (void)wf_varint_get(in);
        }
        spans[i][1] = in->at;
    }
    unsigned char *end = wf_native_encode_op(&block->encoder, kind, values, arrays, bytes);
    wf_buf_append(&block->records, bytes, (size_t)(end - bytes));
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        if ((arrays >> i & 1) != 0) {
            wf_buf_append(&block->records, spans[i][0], (size_t)(spans[i][1] - spans[i][0]));
        }
    }
    block->n_ops++;
    block->n_stored++;
}

/* Encodes the body first and then moves it: the head before it contains its length. */
static void encode_loop(struct block_out *block, struct wf_reading *in)
{
    const unsigned char *at = in->at + 1;
    uint64_t count = wf_fixed_read(&at, 8);
    uint64_t body_ops = wf_fixed_read(&at, 8);
    size_t length = (size_t)wf_fixed_read(&at, 4);
    uint64_t before = block->n_ops;
    size_t begin = block->records.size;
    unsigned char head[1 + 3 * WF_VARINT_MAX];

    wf_native_encode_restart(&block->encoder);
    encode_items(block, at, length);
    wf_native_encode_restart(&block->encoder);
    in->at = at + length;

    size_t encoded = block->records.size - begin;
    unsigned char *to = head;
    *to++ = WF_NATIVE_LOOP;
    to = wf_varint_write(to, count);
    to = wf_varint_write(to, body_ops);
    to = wf_varint_write(to, encoded);
    size_t n = (size_t)(to - head);
    (void)wf_buf_extend(&block->records, n);
    memmove(block->records.data + begin + n, block->records.data + begin, encoded);
    memcpy(block->records.data + begin, head, n);
    block->n_ops = before + count * body_ops;
}

/* Adds items of program/trace/weft/fold.h to the block. */
static void encode_items(struct block_out *block, const unsigned char *items, size_t size)
{
    struct wf_reading in = {items, items + size, false};

    while (in.at < in.end) {
        if (*in.at == WF_NATIVE_LOOP) {
            encode_loop(block, &in);
        } else {
            encode_op(block, &in);
        }
    }
}

static void put_block(struct native_writer *w, uint32_t rank)
{
    struct rank_out *r = &w->ranks[rank];
    struct block_out *block = &w->block;

    if (block->encoder.n_slots == 0) {
        return;
    }
    const struct wf_native_block place = {
        .rank = rank, .first_op = r->n_written, .n_ops = block->n_ops};
    w->raw.size = 0;
    unsigned char *at = wf_buf_extend(&w->raw, (size_t)block->encoder.n_slots + 1);
    (void)wf_native_encode_head(&block->encoder, at);
    wf_buf_append(&w->raw, block->records.data, block->records.size);
    r->n_written += block->n_ops;
    w->totals.n_stored += block->n_stored;
    w->totals.raw_bytes += w->raw.size;
    wf_native_out_block(w->out, place, &w->raw);
    block->records.size = 0;
    block->n_ops = 0;
    block->n_stored = 0;
}

/* Writes a window that has no items, but ops one after the other. */
static void put_ops(struct native_writer *w, uint32_t rank, struct wf_native_fold *fold)
{
    struct wf_reading in = {fold->bytes.data, fold->bytes.data + fold->bytes.size, false};

    while (in.at < in.end) {
        if (w->block.records.size >= w->block_size) {
            put_block(w, rank);
        }
        encode_op(&w->block, &in);
    }
}

/* Writes the first `n` items of the rank's window. */
static void put_items(struct native_writer *w, uint32_t rank, uint32_t n)
{
    struct wf_native_fold *fold = &w->ranks[rank].fold;
    struct block_out *block = &w->block;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t begin = fold->items[i].at, end = wf_native_fold_end(fold, i);

        if (block->records.size + block->encoder.n_slots + 1 + (end - begin) > w->block_size) {
            put_block(w, rank);
        }
        encode_items(block, fold->bytes.data + begin, end - begin);
    }
    if (w->temporary && fold->bytes.size > 0) {
        put_ops(w, rank, fold);
    }
    put_block(w, rank);
    wf_native_fold_drop(fold, n);
}

/* Writes the windows of one rank after another, until half of the memory limit is in use. */
static void make_room(struct native_writer *w)
{
    for (uint32_t i = 0; i < w->n_ranks && w->memory > MEMORY_MAX / 2; i++) {
        struct wf_native_fold *fold = &w->ranks[w->hand].fold;

        w->memory -= wf_native_fold_memory(fold);
        put_items(w, w->hand, fold->n);
        wf_native_fold_fini(fold);
        w->hand = w->hand + 1 == w->n_ranks ? 0 : w->hand + 1;
    }
}

/* Makes the block that of this rank. If ranks take turns, blocks are short and many: then windows
 * collect the ops of each rank. */
static void turn_to(struct native_writer *w, uint32_t rank)
{
    put_block(w, w->latest);
    w->latest = rank;
    w->n_returns += w->ranks[rank].n_written > 0 ? 1 : 0;
    w->direct = w->n_returns <= RETURNS_MAX;
}

/* Space for an op with arrays of this many elements together. */
static unsigned char *begin_direct(struct native_writer *w, size_t n_elements)
{
    struct wf_buf *records = &w->block.records;

    if (records->size >= w->block_size) {
        put_block(w, w->latest);
    }
    wf_buf_reserve(records, records->size + WF_NATIVE_OP_MAX + WF_VARINT_MAX * n_elements);
    return records->data + records->size;
}

static void end_direct(struct native_writer *w, const unsigned char *end)
{
    struct block_out *block = &w->block;

    block->records.size = (size_t)(end - block->records.data);
    block->n_ops++;
    block->n_stored++;
}

static void add_direct(struct native_writer *w, enum wf_op_kind kind,
                       const struct wf_op_parts *parts)
{
    const struct wf_op_layout *layout = parts->layout;
    size_t n_elements = 0;
    uint64_t arrays = 0;

    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        n_elements += 1 + (size_t)parts->lengths[i];
        arrays |= parts->arrays[i] != NULL ? UINT64_C(1) << i : 0;
    }
    unsigned char *at = begin_direct(w, n_elements);
    at = wf_native_encode_op(&w->block.encoder, kind, parts->values, arrays, at);
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        if (parts->arrays[i] != NULL) {
            at = wf_native_encode_array(parts, i, at);
        }
    }
    end_direct(w, at);
}

void wf_native_writer_rank_ends(struct wf_trace_writer *writer, uint32_t rank)
{
    struct native_writer *w = native(writer);
    struct rank_out *r = &w->ranks[rank];

    if (w->direct && w->latest == rank) {
        put_block(w, rank);
    }
    put_items(w, rank, r->fold.n);
    wf_created_fini(&r->created);
    if (r->fold.bytes.data != NULL && w->spare.bytes.data == NULL) {
        w->spare = r->fold; /* its memory still counts */
    } else {
        w->memory -= wf_native_fold_memory(&r->fold);
        wf_native_fold_fini(&r->fold);
    }
    r->fold = (struct wf_native_fold){.items = NULL};
}

static void add_to_window(struct native_writer *w, uint32_t rank, enum wf_op_kind kind,
                          const struct wf_op_parts *parts)
{
    struct rank_out *r = &w->ranks[rank];

    if (r->fold.bytes.data == NULL && w->spare.bytes.data != NULL) {
        r->fold = w->spare;
        w->spare = (struct wf_native_fold){.items = NULL};
    }
    size_t before = wf_native_fold_memory(&r->fold);
    wf_native_fold_add(&r->fold, w->temporary ? NULL : &w->powers, kind, parts);
    w->memory += wf_native_fold_memory(&r->fold) - before;
    /* Keeps the newer half of the window: later ops may repeat it. */
    if (wf_native_fold_is_full(&r->fold)) {
        put_items(w, rank, w->temporary ? r->fold.n : (r->fold.n + 1) / 2);
    }
    if (w->memory > MEMORY_MAX) {
        make_room(w);
    }
}

/* Encodes an op that passes the quick check, without its slot. The numbers are those of its shape (program/ops/fields_inline.h):
 * how many fields it has, and which of them have 64 bits. */
static inline unsigned char *encode_quickly(uint64_t *latest, const struct wf_op *op,
                                            const struct wf_op_plan *plan, unsigned char *at)
{
    uint64_t values[WF_FIELDS_MAX];

    switch (plan->layout->shape) {
    case WF_SHAPE_COMPUTE:
        wf_op_take_simple(op, WF_SHAPE_COMPUTE, false, values);
        return wf_native_encode_values(latest, values, 8, 0x3d, 0, at);
    case WF_SHAPE_SEND:
        wf_op_take_simple(op, WF_SHAPE_SEND, plan->creates_request, values);
        return wf_native_encode_values(latest, values, 5, 0x8, 0, at);
    case WF_SHAPE_RECV:
        wf_op_take_simple(op, WF_SHAPE_RECV, plan->creates_request, values);
        return wf_native_encode_values(latest, values, 8, 0x8, 0, at);
    default:
        wf_op_take_simple(op, WF_SHAPE_ONE, false, values);
        return wf_native_encode_values(latest, values, 1, 0, 0, at);
    }
}

/* The communicator of an op. */
static void find_comm(struct native_writer *w, uint32_t rank, uint32_t comm)
{
    struct comm_out *c = &w->comm;

    if (!c->is_set || c->rank != rank || c->comm != comm) {
        *c = (struct comm_out){.rank = rank, .comm = comm, .is_set = true};
        c->known = wf_groups_find(w->groups, rank, comm, &c->group);
    }
}

/* Checks an op that does not pass the quick check, and adds it. */
static __attribute__((noinline)) enum wf_status
add_checked(struct native_writer *w, uint32_t rank, const struct wf_op *op, struct wf_err *err)
{
    struct rank_out *r = &w->ranks[rank];
    struct wf_op_parts parts;

    const char *fault = wf_op_fault(op, w->comm.known ? &w->comm.group : NULL);
    if (fault == NULL) {
        fault = wf_created_check(&r->created, op);
    }
    if (fault != NULL) {
        return wf_err_set(err, WF_EINVAL, "op %llu of rank %u, a %s: %s",
                          (unsigned long long)r->n_ops, rank, wf_op_name(op->kind), fault);
    }
    wf_op_take_apart(op, w->comm.group.size, &parts);
    r->n_ops++;
    wf_native_totals_add(&w->totals, op);
    if (w->direct) {
        add_direct(w, op->kind, &parts);
    } else {
        add_to_window(w, rank, op->kind, &parts);
    }
    return wf_native_out_status(w->out, err);
}

static void writer_any_sizes(struct wf_trace_writer *writer)
{
    native(writer)->totals.any_sizes = true;
}

static enum wf_status writer_add(struct wf_trace_writer *writer, uint32_t rank,
                                 const struct wf_op *op, struct wf_err *err)
{
    struct native_writer *w = native(writer);

    if (rank >= w->n_ranks) {
        return wf_err_set(err, WF_EINVAL, "rank %u is not in a trace of %u ranks", rank,
                          w->n_ranks);
    }
    struct rank_out *r = &w->ranks[rank];
    if (op->kind >= WF_OP_KINDS) {
        return wf_err_set(err, WF_EINVAL, "op %llu of rank %u: unknown kind %u",
                          (unsigned long long)r->n_ops, rank, (unsigned)op->kind);
    }
    if (w->direct && w->latest != rank) {
        turn_to(w, rank);
    }
    const struct kind_out *kind = &w->kinds[op->kind];
    if (kind->has_comm) {
        find_comm(w, rank, op->comm);
    }
    const struct wf_op_known known = {op->comm, w->comm.known ? w->comm.group.size : 0,
                                      r->created.latest};
    if (!w->direct || !wf_op_quick_check(op, &kind->plan, &known)) {
        return add_checked(w, rank, op, err);
    }
    r->n_ops++;
    w->totals.n_ops++;
    w->totals.n_messages += kind->n_messages;
    w->totals.acts_in_background |= kind->acts_in_background;
    unsigned char *at = begin_direct(w, 0);
    *at = wf_native_slot_of(&w->block.encoder, op->kind);
    end_direct(w, encode_quickly(w->block.encoder.values[*at], op, &kind->plan, at + 1));
    return wf_native_out_status(w->out, err);
}

enum wf_status wf_native_writer_compute(struct wf_trace_writer *writer, uint32_t rank,
                                        int64_t ps, struct wf_err *err)
{
    struct native_writer *w = native(writer);
    const uint64_t values[WF_FIELDS_MAX] = {(uint64_t)ps};

    if (!w->direct || w->latest != rank || ps < 0) {
        const struct wf_op op = {.kind = WF_OP_COMPUTE, .duration = ps};
        return writer_add(writer, rank, &op, err);
    }
    w->ranks[rank].n_ops++;
    w->totals.n_ops++;
    unsigned char *at = begin_direct(w, 0);
    *at = wf_native_slot_of(&w->block.encoder, WF_OP_COMPUTE);
    end_direct(
        w, wf_native_encode_values(w->block.encoder.values[*at], values, 8, 0x3d, 0, at + 1));
    return wf_native_out_status(w->out, err);
}

static enum wf_status writer_add_graph(struct wf_trace_writer *writer,
                                       const struct wf_graph *graph, uint64_t *n_tasks,
                                       struct wf_err *err)
{
    struct native_writer *w = native(writer);
    enum wf_status status = wf_native_graph_write(w->out, graph, &w->totals, err);

    *n_tasks = w->totals.n_ops;
    return status;
}

/* Of a temporary trace, where the order of the blocks does not matter. */
static void writer_rank_ends(struct wf_trace_writer *writer, uint32_t rank)
{
    if (native(writer)->temporary) {
        wf_native_writer_rank_ends(writer, rank);
    }
}

static enum wf_status writer_finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct native_writer *w = native(writer);

    if (w->direct) {
        put_block(w, w->latest);
    }
    for (uint32_t rank = 0; rank < w->n_ranks; rank++) {
        put_items(w, rank, w->ranks[rank].fold.n);
        wf_native_fold_fini(&w->ranks[rank].fold);
    }
    enum wf_status status = wf_native_out_finish(w->out, &w->totals, err);
    release(w);
    return status;
}

static void writer_discard(struct wf_trace_writer *writer)
{
    struct native_writer *w = native(writer);

    wf_native_out_discard(w->out);
    release(w);
}

const struct wf_trace_writer_ops wf_native_writer_ops = {
    .name = "weft",
    .extension = ".weft",
    .summary = "weft's own: compressed, with loops, all that an op holds",
    .create = writer_create,
    .name_of = writer_name,
    .group = writer_group,
    .wall = writer_wall,
    .cost = writer_cost,
    .any_sizes = writer_any_sizes,
    .add = writer_add,
    .rank_ends = writer_rank_ends,
    .add_graph = writer_add_graph,
    .finish = writer_finish,
    .discard = writer_discard,
};
