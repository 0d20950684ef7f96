/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/program.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/extrapolate/normal.h"
#include "program/extrapolate/requests.h"
#include "program/ops/fields.h"
#include "program/ops/retimed.h"
#include "program/ops/robust.h"
#include "program/trace/weft/native.h"

#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

uint32_t wf_ext_shape_put(struct wf_ext_input *input, const struct wf_ext_shape *shape)
{
    uint32_t number = wf_strings_put(&input->shape_table, (const char *)shape, sizeof(*shape));

    if (number == input->n_shapes) {
        WF_PUSH(input->shapes, input->n_shapes, input->shapes_capacity, *shape);
    }
    return number;
}

bool wf_ext_rooted(const struct wf_ext_shape *shape)
{
    return (wf_op_layout_of((enum wf_op_kind)shape->kind)->flags & WF_HAS_ROOT) != 0;
}

uint32_t wf_ext_slots(const struct wf_ext_shape *shape)
{
    static const uint8_t of[] = {
        [WF_FAMILY_SEND] = 1,       [WF_FAMILY_RECV] = 1,     [WF_FAMILY_SENDRECV] = 2,
        [WF_FAMILY_PERSISTENT] = 1, [WF_FAMILY_ONESIDED] = 1, [WF_FAMILY_PROBE] = 1,
        [WF_FAMILY_FILE] = 0,
    };

    return wf_ext_rooted(shape) ? 1 : of[wf_op_info((enum wf_op_kind)shape->kind)->family];
}

/* ---- computing as a part of the next op ---- */

static bool is_compute(const struct wf_ext_input *input, const struct wf_ext_op *op)
{
    return input->shapes[op->shape].kind == WF_OP_COMPUTE;
}

bool wf_ext_computes_everywhere(const struct wf_ext_input *input)
{
    uint64_t n = 0, after = 0, twice = 0;

    for (uint32_t c = 0; c < input->n_counts; c++) {
        const struct wf_ext_rank *rank = &input->counts[c].ranks[input->counts[c].n / 2];
        for (uint32_t i = 1; i < rank->n; i++) {
            bool computed = is_compute(input, &rank->ops[i - 1]);
            bool computes = is_compute(input, &rank->ops[i]);
            n += computes ? 0 : 1;
            after += computed && !computes ? 1 : 0;
            twice += computed && computes ? 1 : 0;
        }
    }
    return 2 * after > n && 8 * twice <= n;
}

/* Computing after the last op stays an op. */
static void attach_rank(struct wf_ext_input *input, struct wf_ext_rank *rank, uint32_t shape)
{
    struct wf_ext_op end = {.compute = -1, .shape = shape};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < rank->n; i++) {
        struct wf_ext_op op = rank->ops[i];
        if (is_compute(input, &op)) {
            end.compute = wf_time_add(end.compute < 0 ? 0 : end.compute, op.compute);
            end.site = op.site;
            continue;
        }
        op.compute = end.compute;
        op.site = end.site;
        rank->ops[kept++] = op;
        end.compute = -1;
        end.site = 0;
    }
    rank->n = kept;
    WF_PUSH(rank->ops, rank->n, rank->capacity, end);
}

static uint32_t compute_shape(struct wf_ext_input *input)
{
    struct wf_ext_shape shape;

    memset(&shape, 0, sizeof(shape));
    shape.kind = WF_OP_COMPUTE;
    shape.tag = shape.recv_tag = WF_EXT_NO_TAG;
    return wf_ext_shape_put(input, &shape);
}

void wf_ext_attach(struct wf_ext_input *input)
{
    uint32_t shape = compute_shape(input);

    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            attach_rank(input, &input->counts[c].ranks[r], shape);
        }
    }
    input->attached = true;
}

/* ---- work ---- */

/* Loops in a small file make many ops, and each is compared with others. What a trace may ask for is
 * proportional to its size: 128 ops for each byte, and some millions. A trace that does not know
 * its size had an op for some of its bytes. */
enum { WORK_PER_BYTE = 1 << 13, WORK_PER_OP = 64, RANKS_MIN = 1024, BYTES_PER_RANK = 44 };
#define WORK_MIN (UINT64_C(1) << 28)

static enum wf_status too_much(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "'%.200s': its loops make too many ops for extrapolation, which reads "
                      "them one by one; weft cut takes some iterations or ranks of it",
                      path);
}

static enum wf_status begin_work(struct wf_ext_input *input, const char *path,
                                 const struct wf_source *source, struct wf_err *err)
{
    struct wf_native_facts facts = {.n_ops = 0};

    while (!wf_native_facts(source, &facts) && source->inner != NULL) {
        source = source->inner;
    }
    input->left = facts.n_bytes > 0 ? WORK_MIN + WORK_PER_BYTE * facts.n_bytes : UINT64_MAX;
    if (facts.n_bytes > 0 && source->n_ranks > RANKS_MIN + facts.n_bytes / BYTES_PER_RANK) {
        return wf_err_set(
            err, WF_EINVAL,
            "'%.200s': of its %u ranks, most do nothing, so that there is nothing "
            "to extrapolate",
            path, (unsigned)source->n_ranks);
    }
    return facts.n_ops > input->left / WORK_PER_OP ? too_much(path, err) : WF_OK;
}

static enum wf_status work(struct wf_ext_input *input, const char *path, uint64_t amount,
                           struct wf_err *err)
{
    if (amount > input->left) {
        return too_much(path, err);
    }
    input->left -= amount;
    return WF_OK;
}

/* ---- reading a rank ---- */

struct reading {
    struct wf_ext_input *input;
    const struct wf_source *source;
    const char *path;
    uint32_t number; /* of the rank */
    struct wf_ext_normal normal;
    struct wf_ext_rank *rank;
    struct wf_ext_requests active, persistent;
    uint32_t compute_shape;
    uint32_t *positions;
    uint32_t n_positions, positions_capacity;
};

static void drop_request(struct wf_ext_requests *list, uint32_t i)
{
    memmove(&list->items[i], &list->items[i + 1], (list->n - i - 1) * sizeof(*list->items));
    list->n--;
}

static uint32_t find_comm(struct reading *reading, uint32_t number)
{
    struct wf_ext_rank *rank = reading->rank;
    struct wf_group group;

    for (uint32_t i = 0; i < rank->n_comms; i++) {
        if (rank->comms[i].number == number) {
            return i;
        }
    }
    if (!wf_source_group(reading->source, reading->number, number, &group)) {
        return UINT32_MAX;
    }
    WF_GROW(rank->comms, rank->n_comms, rank->comms_capacity);
    struct wf_ext_comm *comm = &rank->comms[rank->n_comms];
    *comm = (struct wf_ext_comm){.number = number, .size = group.size, .rank = group.rank};
    comm->members = wf_xcalloc(group.size, sizeof(*comm->members));
    uint64_t *left = &reading->input->left;
    *left -= group.size < *left ? group.size : *left;
    for (uint32_t i = 0; i < group.size; i++) {
        comm->members[i] = wf_group_rank(&group, i);
    }
    return rank->n_comms++;
}

/* The rank in the program of a peer. */
static uint32_t peer_of(const struct reading *reading, uint32_t comm, uint32_t peer)
{
    const struct wf_ext_comm *found = &reading->rank->comms[comm];

    return peer >= WF_PROC_NULL || found->members == NULL || peer >= found->size
               ? peer
               : found->members[peer];
}

/* Collects the positions of the requests of an op in a list. */
static void collect(struct reading *reading, const struct wf_op *op,
                    const struct wf_ext_requests *list)
{
    uint32_t count = wf_op_info(op->kind)->detail == WF_WAIT_ONE ? 1 : op->count;

    reading->n_positions = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = wf_ext_requests_find(list, wf_op_request_at(op, i));
        if (found < list->n) {
            WF_PUSH(reading->positions, reading->n_positions, reading->positions_capacity,
                    found);
        }
    }
}

/* Describes the collected positions in the shape. */
static void name_requests(struct reading *reading, const struct wf_ext_requests *list,
                          bool single, struct wf_ext_shape *shape)
{
    shape->persistent = list == &reading->persistent ? 1 : 0;
    wf_ext_requests_name(list, reading->positions, reading->n_positions, single,
                         &reading->input->positions, shape);
}

static int by_position(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

/* Removes the collected requests from the list. */
static void complete(struct reading *reading, struct wf_ext_requests *list)
{
    if (reading->n_positions == 0) {
        return;
    }
    WF_SORT(reading->positions, reading->n_positions, by_position);
    for (uint32_t i = reading->n_positions; i-- > 0;) {
        if (reading->positions[i] < list->n) {
            drop_request(list, reading->positions[i]);
        }
    }
}

static void read_wait(struct reading *reading, const struct wf_op *op,
                      struct wf_ext_shape *shape)
{
    bool single = wf_op_info(op->kind)->detail == WF_WAIT_ONE;

    collect(reading, op, &reading->active);
    name_requests(reading, &reading->active, single, shape);
    complete(reading, &reading->active);
}

static void read_start(struct reading *reading, const struct wf_op *op,
                       struct wf_ext_shape *shape)
{
    collect(reading, op, &reading->persistent);
    name_requests(reading, &reading->persistent, op->kind == WF_OP_START, shape);
    for (uint32_t i = 0; i < reading->n_positions; i++) {
        const struct wf_ext_request *made = &reading->persistent.items[reading->positions[i]];
        wf_ext_requests_add(&reading->active, made->number, made->sort);
    }
}

static void read_free(struct reading *reading, const struct wf_op *op,
                      struct wf_ext_shape *shape)
{
    bool made = wf_ext_requests_find(&reading->persistent, op->request) < reading->persistent.n;
    struct wf_ext_requests *list = made ? &reading->persistent : &reading->active;

    collect(reading, op, list);
    name_requests(reading, list, true, shape);
    if (op->kind == WF_OP_REQUEST_FREE) {
        complete(reading, list);
    }
}

static void read_arrays(struct reading *reading, const struct wf_op *op, uint32_t comm_size,
                        struct wf_ext_op *out, struct wf_ext_shape *shape)
{
    struct wf_ext_rank *rank = reading->rank;
    struct wf_op_parts parts;

    wf_op_take_apart(op, comm_size, &parts);
    out->arrays = rank->n_words;
    for (uint32_t i = 0; i < parts.layout->n_arrays; i++) {
        uint32_t which = parts.layout->arrays[i].offset == offsetof(struct wf_op, counts) ? 0
                         : parts.layout->arrays[i].offset == offsetof(struct wf_op, recv_counts)
                             ? 1
                             : 2;
        if (which > 1 || parts.arrays[i] == NULL) {
            continue;
        }
        const uint64_t *from = parts.arrays[i];
        shape->arrays |= 1U << which;
        out->n_elements[which] = parts.lengths[i];
        for (uint32_t j = 0; j < parts.lengths[i]; j++) {
            WF_PUSH(rank->words, rank->n_words, rank->words_capacity, from[j]);
        }
    }
}

/* Sets the members of ops that have a peer. */
static void read_peers(struct reading *reading, const struct wf_op *op,
                       struct wf_ext_shape *shape, struct wf_ext_op *out)
{
    out->peer[0] = peer_of(reading, shape->comm, op->peer);
    out->tag[0] = op->tag;
    shape->tag = op->tag;
    if (wf_op_info(op->kind)->family == WF_FAMILY_SENDRECV) {
        out->peer[1] = peer_of(reading, shape->comm, op->recv_peer);
        out->tag[1] = op->recv_tag;
        out->bytes[1] = op->recv_bytes;
        shape->recv_tag = op->recv_tag;
    }
    if (wf_op_info(op->kind)->family == WF_FAMILY_SENDRECV &&
        (op->peer == WF_PROC_NULL) != (op->recv_peer == WF_PROC_NULL)) {
        /* The side without a peer has no tag of its own in a trace. */
        uint32_t null = op->peer == WF_PROC_NULL ? 0 : 1;
        out->tag[null] = out->tag[1 - null];
        shape->tag = out->tag[0];
        shape->recv_tag = out->tag[1];
    }
    for (uint32_t i = 0; i < WF_EXT_SLOTS; i++) {
        shape->any |= out->peer[i] == WF_ANY_SOURCE ? 1U << i : 0;
    }
    reading->input->n_wildcards_forgotten += shape->any != 0 && op->recorded ? 1 : 0;
}

/* Sets what depends on the family. */
static void read_family(struct reading *reading, const struct wf_op *op,
                        struct wf_ext_shape *shape, struct wf_ext_op *out)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    const char *name = NULL;

    switch (info->family) {
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_SENDRECV:
    case WF_FAMILY_PROBE:
    case WF_FAMILY_PERSISTENT:
    case WF_FAMILY_ONESIDED:
        read_peers(reading, op, shape, out);
        break;
    case WF_FAMILY_WAIT:
        read_wait(reading, op, shape);
        break;
    case WF_FAMILY_START:
        read_start(reading, op, shape);
        break;
    case WF_FAMILY_FREE:
        read_free(reading, op, shape);
        break;
    case WF_FAMILY_MARKER:
    case WF_FAMILY_CALL:
        name = op->tag < 0 ? NULL
                           : wf_source_name_of(reading->source, wf_op_names(op->kind),
                                               (uint32_t)op->tag);
        shape->name =
            name != NULL ? 1 + wf_strings_put(&reading->input->names, name, strlen(name)) : 0;
        shape->number = name == NULL && op->tag > 0 ? (uint32_t)op->tag : 0;
        break;
    case WF_FAMILY_COMPUTE:
    case WF_FAMILY_COLLECTIVE:
    case WF_FAMILY_COMM:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_TEST: /* program/extrapolate/normal.h makes them waits */
    case WF_FAMILY_FILE: /* refused */
        break;
    }
}

static enum wf_status read_op(struct reading *reading, const struct wf_op *op,
                              struct wf_err *err)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    struct wf_ext_rank *rank = reading->rank;
    struct wf_ext_shape shape;
    struct wf_ext_op out = {.compute = -1};

    if (info->family == WF_FAMILY_FILE) {
        return wf_err_set(err, WF_EINVAL,
                          "the program has operations on files, which cannot be extrapolated");
    }
    memset(&shape, 0, sizeof(shape));
    shape.kind = op->kind;
    shape.tag = shape.recv_tag = WF_EXT_NO_TAG;
    shape.reduction = wf_op_reduces(op->kind) ? op->reduction : 0;
    out.bytes[0] = info->family == WF_FAMILY_WAIT || info->family == WF_FAMILY_START ||
                           info->family == WF_FAMILY_EPOCH
                       ? 0
                       : op->bytes;
    if (wf_op_has_comm(op->kind)) {
        shape.comm = find_comm(reading, op->comm);
    }
    if (info->family == WF_FAMILY_COMM) {
        shape.new_comm = find_comm(reading, op->new_comm);
    }
    if (shape.comm == UINT32_MAX) {
        return wf_ext_normal_refuse(&reading->normal, op,
                                    "the rank does not have the communicator", err);
    }
    read_family(reading, op, &shape, &out);
    if (wf_ext_rooted(&shape)) {
        out.peer[0] = op->root;
    }
    uint32_t size = shape.comm == 0 ? reading->source->n_ranks : rank->comms[shape.comm].size;
    read_arrays(reading, op, size, &out, &shape);
    if (info->returns_request) {
        wf_ext_requests_add(&reading->active, op->request, wf_ext_sort(&shape));
    } else if (info->family == WF_FAMILY_PERSISTENT) {
        wf_ext_requests_add(&reading->persistent, op->request, wf_ext_sort(&shape));
    }
    out.shape = wf_ext_shape_put(reading->input, &shape);
    WF_PUSH(rank->ops, rank->n, rank->capacity, out);
    return WF_OK;
}

static void read_compute(struct reading *reading, const struct wf_op *op)
{
    struct wf_ext_rank *rank = reading->rank;

    reading->input->has_counters = reading->input->has_counters || op->n_counters > 0;
    WF_PUSH(rank->ops, rank->n, rank->capacity,
            (struct wf_ext_op){
                .compute = op->duration, .site = op->site, .shape = reading->compute_shape});
}

/* Requests are looked up one by one; the elements of arrays and of communicators are kept. */
static uint64_t work_of(const struct reading *reading, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool looks = info->family == WF_FAMILY_WAIT || info->family == WF_FAMILY_START;
    uint64_t n_open = (uint64_t)reading->active.n + reading->persistent.n;
    struct wf_group group;
    uint64_t n = WORK_PER_OP;

    if (looks || info->family == WF_FAMILY_FREE) {
        return n + n_open * (info->detail == WF_WAIT_ONE ? 1 : 1 + (uint64_t)op->count);
    }
    if (info->family == WF_FAMILY_COLLECTIVE &&
        wf_source_group(reading->source, reading->number, op->comm, &group)) {
        n += (op->counts != NULL ? group.size : 0) + (op->recv_counts != NULL ? group.size : 0);
    }
    return n + (wf_op_has_comm(op->kind) ? reading->rank->n_comms : 0);
}

static enum wf_status read_ops(struct reading *reading, struct wf_err *err)
{
    struct wf_op op;
    bool more = true;

    for (;;) {
        WF_TRY(wf_ext_normal_next(&reading->normal, &op, &more, err));
        if (!more) {
            return wf_source_check(reading->source, err);
        }
        WF_TRY(work(reading->input, reading->path, work_of(reading, &op), err));
        if (op.kind == WF_OP_COMPUTE) {
            read_compute(reading, &op);
        } else {
            WF_TRY(read_op(reading, &op, err));
        }
    }
}

static enum wf_status read_rank(struct reading *reading, struct wf_err *err)
{
    struct wf_ext_input *input = reading->input;

    reading->active.n = reading->persistent.n = 0;
    WF_GROW(reading->rank->comms, 0U, reading->rank->comms_capacity);
    reading->rank->comms[0] =
        (struct wf_ext_comm){.size = reading->source->n_ranks, .rank = reading->number};
    reading->rank->n_comms = 1;
    wf_ext_normal_begin(&reading->normal, reading->source, reading->path, reading->number);
    enum wf_status status = read_ops(reading, err);
    input->n_tests += reading->normal.n_tests;
    input->n_joined += reading->normal.n_joined;
    input->n_neighbors += reading->normal.n_neighbors;
    input->n_ops_max =
        reading->rank->n > input->n_ops_max ? reading->rank->n : input->n_ops_max;
    wf_ext_normal_fini(&reading->normal);
    return status;
}

static enum wf_status read_ranks(struct reading *reading, struct wf_ext_count *count,
                                 struct wf_err *err)
{
    enum wf_status status = WF_OK;

    for (; reading->number < count->n && status == WF_OK; reading->number++) {
        reading->rank = &count->ranks[reading->number];
        status = read_rank(reading, err);
    }
    free(reading->active.items);
    free(reading->persistent.items);
    free(reading->positions);
    return status;
}

/* Reads a trace with the compute times that the operating system disturbed replaced by what other
 * ranks and iterations took, as replay does. */
enum wf_status wf_ext_read(struct wf_ext_input *input, const char *path,
                           struct wf_source *source, struct wf_err *err)
{
    struct reading reading = {.input = input, .source = source, .path = path};
    struct wf_places places;
    struct wf_robust robust;
    struct wf_source *corrected = NULL;

    WF_TRY(begin_work(input, path, source, err));
    reading.compute_shape = compute_shape(input);
    input->counts =
        wf_xrealloc(input->counts, (size_t)input->n_counts + 1, sizeof(*input->counts));
    struct wf_ext_count *count = &input->counts[input->n_counts++];
    *count = (struct wf_ext_count){.path = path, .n = source->n_ranks};
    count->ranks = wf_xcalloc(source->n_ranks, sizeof(*count->ranks));
    WF_TRY(wf_places_init(&places, source, err));
    wf_robust_init(&robust, &places);
    const struct wf_retimed_config config = {.duration = wf_robust_duration, .arg = &robust};
    if (robust.n_disturbed > 0) {
        input->n_corrected += robust.n_disturbed;
        corrected = wf_retimed_new(source, false, &config);
        reading.source = corrected;
    }
    enum wf_status status = read_ranks(&reading, count, err);
    if (corrected != NULL) {
        wf_source_free(corrected);
    }
    wf_robust_fini(&robust);
    wf_places_fini(&places);
    return status;
}

void wf_ext_input_fini(struct wf_ext_input *input)
{
    for (uint32_t i = 0; i < input->n_counts; i++) {
        for (uint32_t r = 0; r < input->counts[i].n; r++) {
            struct wf_ext_rank *rank = &input->counts[i].ranks[r];
            for (uint32_t c = 0; c < rank->n_comms; c++) {
                free(rank->comms[c].members);
            }
            free(rank->comms);
            free(rank->ops);
            free(rank->words);
        }
        free(input->counts[i].ranks);
    }
    free(input->counts);
    free(input->shapes);
    wf_strings_fini(&input->shape_table);
    wf_strings_fini(&input->positions);
    wf_strings_fini(&input->names);
}
