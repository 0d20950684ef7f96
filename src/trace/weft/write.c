/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/varint.h"
#include "ops/created.h"
#include "ops/groups.h"
#include "trace/weft/encode.h"
#include "trace/weft/fold.h"
#include "trace/weft/frame.h"
#include "trace/weft/graph.h"
#include "trace/weft/out.h"

#include <stdlib.h>
#include <string.h>

/* Windows of all ranks together are kept to this many bytes. */
#define MEMORY_MAX (UINT64_C(256) << 20)

/* Blocks of all ranks together, one each, as a reader keeps them. */
#define BLOCKS_BYTES (UINT64_C(256) << 20)
enum { BLOCK_MIN = 1 << 10, BLOCK_MAX = 1 << 15, NAMES_MAX = 1 << 20 };

struct rank_out {
    struct wf_fold fold;
    struct wf_created made;
    uint64_t n_written; /* ops in blocks */
    uint64_t n_ops;
};

/* Which names are in the file. */
struct named {
    bool *known;
    size_t n;
};

struct native_writer {
    struct wf_trace_writer writer;
    struct wf_native_out *out;
    struct wf_groups *groups;
    struct rank_out *ranks;
    uint32_t n_ranks, block_size;
    uint32_t hand; /* the rank whose window is written next if memory is short */
    uint64_t memory;
    struct named names[WF_NAME_KINDS];
    struct wf_totals totals;
    struct wf_encoder encoder;
    struct wf_buf raw;
    struct wf_fold_powers powers;
};

static struct native_writer *native(struct wf_trace_writer *writer)
{
    return (struct native_writer *)writer;
}

static void add_creator(struct native_writer *w, const char *creator)
{
    struct wf_buf record = {.data = NULL};

    wf_buf_append(&record, creator, strlen(creator));
    wf_native_out_record(w->out, WF_RECORD_CREATOR, &record);
    wf_buf_fini(&record);
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
    enum wf_status status = wf_native_out_open(path, options, (uint32_t)block, &files, err);
    if (status != WF_OK) {
        return status;
    }

    struct native_writer *w = wf_xcalloc(1, sizeof(*w));
    w->writer.ops = &wf_native_writer_ops;
    w->out = files;
    w->n_ranks = options->n_ranks;
    w->block_size = (uint32_t)block;
    w->groups = wf_groups_new(options->n_ranks);
    w->ranks = wf_xcalloc(options->n_ranks, sizeof(*w->ranks));
    wf_fold_powers_init(&w->powers);
    if (options->creator != NULL) {
        add_creator(w, options->creator);
    }
    *out = &w->writer;
    return WF_OK;
}

static void release(struct native_writer *w)
{
    for (uint32_t rank = 0; rank < w->n_ranks; rank++) {
        wf_fold_fini(&w->ranks[rank].fold);
        wf_created_fini(&w->ranks[rank].made);
    }
    for (uint32_t kind = 0; kind < WF_NAME_KINDS; kind++) {
        free(w->names[kind].known);
    }
    free(w->ranks);
    wf_groups_free(w->groups);
    wf_encoder_fini(&w->encoder);
    wf_buf_fini(&w->raw);
    free(w);
}

/* ---- tables ---- */

static bool is_known(struct named *named, uint32_t number)
{
    if (number >= named->n) {
        size_t n = (size_t)number * 2 + 16;
        named->known = wf_xrealloc(named->known, n, sizeof(*named->known));
        memset(named->known + named->n, 0, (n - named->n) * sizeof(*named->known));
        named->n = n;
    }
    return named->known[number];
}

static void writer_name(struct wf_trace_writer *writer, enum wf_name_kind kind, uint32_t number,
                        const char *name)
{
    struct native_writer *w = native(writer);
    struct wf_buf record = {.data = NULL};

    if (number >= NAMES_MAX || is_known(&w->names[kind], number)) {
        return;
    }
    w->names[kind].known[number] = true;
    wf_varint_put(&record, kind);
    wf_varint_put(&record, number);
    wf_buf_append(&record, name, strlen(name));
    wf_native_out_record(w->out, WF_RECORD_NAME, &record);
    wf_buf_fini(&record);
}

static void record_group(struct native_writer *w, uint32_t comm, const struct wf_group *group)
{
    struct wf_buf record = {.data = NULL};

    wf_varint_put(&record, comm);
    wf_varint_put(&record, group->id);
    wf_varint_put(&record, group->size);
    wf_varint_put(&record, group->members == NULL ? 1 : 0);
    if (group->members == NULL) {
        wf_varint_put(&record, group->first);
        wf_varint_put(&record, group->stride);
        wf_varint_put(&record, group->width);
        wf_varint_put(&record, group->stride2);
    } else {
        uint32_t before = 0;
        for (uint32_t r = 0; r < group->size; r++) {
            wf_varint_put(&record, wf_zigzag((int64_t)group->members[r] - (int64_t)before));
            before = group->members[r];
        }
    }
    wf_native_out_record(w->out, WF_RECORD_GROUP, &record);
    wf_buf_fini(&record);
}

static void record_bind(struct native_writer *w, uint32_t rank, uint32_t comm,
                        const struct wf_group *group)
{
    struct wf_buf record = {.data = NULL};

    wf_varint_put(&record, rank);
    wf_varint_put(&record, comm);
    wf_varint_put(&record, group->id);
    wf_varint_put(&record, wf_group_rank(group, 0));
    wf_native_out_record(w->out, WF_RECORD_BIND, &record);
    wf_buf_fini(&record);
}

static enum wf_status writer_group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                                   const struct wf_group *group, struct wf_err *err)
{
    struct native_writer *w = native(writer);

    if (comm == WF_COMM_WORLD) {
        return WF_OK;
    }
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
        record_bind(w, rank, comm, group);
    }
    return WF_OK;
}

static void put_time(struct native_writer *w, enum wf_record_type type, uint32_t rank,
                     int64_t ps)
{
    struct wf_buf record = {.data = NULL};

    wf_varint_put(&record, rank);
    wf_varint_put(&record, (uint64_t)ps);
    wf_native_out_record(w->out, type, &record);
    wf_buf_fini(&record);
}

static void writer_wall(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    put_time(native(writer), WF_RECORD_WALL, rank, ps);
}

static void writer_cost(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    put_time(native(writer), WF_RECORD_COST, rank, ps);
}

/* ---- ops ---- */

static void put_block(struct native_writer *w, uint32_t rank)
{
    struct rank_out *r = &w->ranks[rank];
    struct wf_block_place place = {rank, r->n_written, w->encoder.n_ops};

    if (w->encoder.n_slots == 0) {
        return;
    }
    r->n_written += w->encoder.n_ops;
    w->totals.n_stored += w->encoder.n_stored;
    w->raw.size = 0;
    wf_encoder_take(&w->encoder, &w->raw);
    w->totals.raw_bytes += w->raw.size;
    wf_native_out_block(w->out, &place, &w->raw);
}

/* Writes the first `n` items of the rank's window. */
static void put_items(struct native_writer *w, uint32_t rank, uint32_t n)
{
    struct wf_fold *fold = &w->ranks[rank].fold;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t begin = fold->items[i].at, end = wf_fold_end(fold, i);

        if (wf_encoder_size(&w->encoder) + (end - begin) > w->block_size) {
            put_block(w, rank);
        }
        wf_encode_items(&w->encoder, fold->bytes.data + begin, end - begin);
    }
    put_block(w, rank);
    wf_fold_drop(fold, n);
}

/* Writes windows, one rank after the other, until the others have half the memory. */
static void make_room(struct native_writer *w)
{
    for (uint32_t i = 0; i < w->n_ranks && w->memory > MEMORY_MAX / 2; i++) {
        struct wf_fold *fold = &w->ranks[w->hand].fold;

        w->memory -= wf_fold_memory(fold);
        put_items(w, w->hand, fold->n);
        wf_fold_fini(fold);
        w->hand = w->hand + 1 == w->n_ranks ? 0 : w->hand + 1;
    }
}

static bool asks_time(const struct wf_op *op, const struct wf_op_info *info)
{
    switch (info->family) {
    case WF_FAMILY_RECV:
        return op->peer == WF_ANY_SOURCE || op->tag == WF_ANY_TAG;
    case WF_FAMILY_SENDRECV:
        return op->recv_peer == WF_ANY_SOURCE || op->recv_tag == WF_ANY_TAG;
    case WF_FAMILY_PROBE:
    case WF_FAMILY_TEST:
        return true;
    case WF_FAMILY_WAIT:
        return info->detail >= WF_WAIT_ANY;
    case WF_FAMILY_PERSISTENT:
        return info->detail == WF_PERSISTENT_RECV &&
               (op->peer == WF_ANY_SOURCE || op->tag == WF_ANY_TAG);
    case WF_FAMILY_COMPUTE:
    case WF_FAMILY_SEND:
    case WF_FAMILY_START:
    case WF_FAMILY_FREE:
    case WF_FAMILY_COLLECTIVE:
    case WF_FAMILY_COMM:
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_MARKER:
    case WF_FAMILY_CALL:
        break;
    }
    return false;
}

static void count_op(struct wf_totals *totals, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool sends = info->family == WF_FAMILY_SEND;
    bool persistent = info->family == WF_FAMILY_PERSISTENT;

    totals->n_ops++;
    totals->n_messages += sends || info->family == WF_FAMILY_SENDRECV ? 1 : 0;
    if (((sends || persistent) && info->detail == WF_SEND_SYNCHRONOUS) ||
        (info->family == WF_FAMILY_COLLECTIVE && info->returns_request) ||
        info->family == WF_FAMILY_ONESIDED) {
        totals->acts_in_background = true;
    }
    if (asks_time(op, info) && (persistent || !op->recorded)) {
        totals->depends_on_time = true;
    }
}

static enum wf_status writer_add(struct wf_trace_writer *writer, uint32_t rank,
                                 const struct wf_op *op, struct wf_err *err)
{
    struct native_writer *w = native(writer);
    struct wf_group group = {.size = 0};
    struct wf_parts parts;

    if (rank >= w->n_ranks) {
        return wf_err_set(err, WF_EINVAL, "rank %u is not in a trace of %u ranks", rank,
                          w->n_ranks);
    }
    struct rank_out *r = &w->ranks[rank];
    if (op->kind >= WF_OP_KINDS) {
        return wf_err_set(err, WF_EINVAL, "op %llu of rank %u: unknown kind %u",
                          (unsigned long long)r->n_ops, rank, (unsigned)op->kind);
    }
    bool known = wf_groups_find(w->groups, rank, op->comm, &group);
    const char *fault = wf_op_fault(op, known ? &group : NULL);
    if (fault == NULL) {
        fault = wf_created_check(&r->made, op);
    }
    if (fault != NULL) {
        return wf_err_set(err, WF_EINVAL, "op %llu of rank %u, a %s: %s",
                          (unsigned long long)r->n_ops, rank, wf_op_name(op->kind), fault);
    }
    wf_op_take_apart(op, group.size, &parts);
    size_t before = wf_fold_memory(&r->fold);
    wf_fold_add(&r->fold, &w->powers, op->kind, &parts);
    r->n_ops++;
    count_op(&w->totals, op);
    w->memory += wf_fold_memory(&r->fold) - before;
    /* The newer half stays: what repeats it is still to come. */
    if (wf_fold_is_full(&r->fold)) {
        put_items(w, rank, (r->fold.n + 1) / 2);
    }
    if (w->memory > MEMORY_MAX) {
        make_room(w);
    }
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

static enum wf_status writer_finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct native_writer *w = native(writer);

    for (uint32_t rank = 0; rank < w->n_ranks; rank++) {
        put_items(w, rank, w->ranks[rank].fold.n);
        wf_fold_fini(&w->ranks[rank].fold);
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
    .add = writer_add,
    .add_graph = writer_add_graph,
    .finish = writer_finish,
    .discard = writer_discard,
};
