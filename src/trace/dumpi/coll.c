/* SPDX-License-Identifier: Apache-2.0 */
/* Records of collectives, communicators and windows. */
#include "base/mem.h"
#include "base/units.h"
#include "trace/dumpi/calls.h"
#include "trace/dumpi/walk.h"

#include <stddef.h>

enum { NONE = 0xff, COLL_FIRST = 52 };

/* Where the arguments of a collective are: numbers among the values, arrays among the arrays.
 * `other` is the block as the receiving side has it, or the root; it is the right one where it
 * is, since who works in place has no count of his own. */
struct coll {
    uint16_t function;
    enum wf_op_kind kind;
    uint8_t comm, root;
    uint8_t count, type, other_count, other_type;
    uint8_t array, array_type, recv_array, recv_type;
};

static const struct coll colls[] = {
    {52, WF_OP_BARRIER, 0, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
    {53, WF_OP_BCAST, 3, 2, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {54, WF_OP_GATHER, 4, 3, 1, 2, 5, 6, NONE, NONE, NONE, NONE},
    {55, WF_OP_GATHERV, 5, 4, 2, 3, NONE, NONE, 0, 6, NONE, NONE},
    {56, WF_OP_SCATTER, 4, 3, 1, 2, 5, 6, NONE, NONE, NONE, NONE},
    {57, WF_OP_SCATTERV, 6, 5, 3, 4, NONE, NONE, 0, 2, NONE, NONE},
    {58, WF_OP_ALLGATHER, 4, NONE, 0, 1, 2, 3, NONE, NONE, NONE, NONE},
    {59, WF_OP_ALLGATHERV, 4, NONE, 1, 2, NONE, NONE, 0, 3, NONE, NONE},
    {60, WF_OP_ALLTOALL, 4, NONE, 0, 1, 2, 3, NONE, NONE, NONE, NONE},
    {61, WF_OP_ALLTOALLV, 3, NONE, NONE, NONE, NONE, NONE, 0, 1, 2, 2},
    {62, WF_OP_REDUCE, 4, 3, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {65, WF_OP_ALLREDUCE, 3, NONE, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {66, WF_OP_REDUCE_SCATTER, 3, NONE, NONE, NONE, NONE, NONE, 0, 1, NONE, NONE},
    {67, WF_OP_SCAN, 3, NONE, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {156, WF_OP_EXSCAN, 3, NONE, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    /* The types of an alltoallw are arrays too: the ones behind those of the displacements. */
    {155, WF_OP_ALLTOALLW, 1, NONE, NONE, NONE, NONE, NONE, 0, NONE, 3, NONE},
};

static const struct coll *coll_of(uint32_t function)
{
    for (size_t i = 0; i < sizeof(colls) / sizeof(colls[0]); i++) {
        if (colls[i].function == function) {
            return &colls[i];
        }
    }
    return NULL;
}

/* The lengths of the blocks of an array of counts. */
static enum wf_status read_counts(struct wf_dumpi_step *step, uint8_t array, uint8_t type,
                                  struct wf_buf *into)
{
    const struct wf_dumpi_record *record = step->record;
    const struct wf_dumpi_array *counts = &record->arrays[array];

    if (counts->n != step->comm->size ||
        (type == NONE && record->arrays[array + 2].n != counts->n)) {
        return wf_dumpi_step_bad(step, "not as many counts as its communicator has ranks");
    }
    into->size = 0;
    for (uint32_t i = 0; i < counts->n; i++) {
        uint64_t bytes = 0;
        int64_t of = type == NONE ? record->arrays[array + 2].items[i] : record->values[type];
        enum wf_status status = wf_dumpi_step_bytes(step, counts->items[i], of, &bytes);
        if (status != WF_OK) {
            return status;
        }
        wf_buf_append(into, &bytes, sizeof(bytes));
    }
    return WF_OK;
}

static enum wf_status read_blocks(struct wf_dumpi_step *step, const struct coll *coll)
{
    struct wf_dumpi_walk *walk = step->walk;
    enum wf_status status = WF_OK;

    /* Of a rooted one the arrays are at the root. */
    if (coll->array != NONE && coll->array < step->record->n_arrays) {
        status = read_counts(step, coll->array, coll->array_type, &walk->counts);
        step->op.counts = (const uint64_t *)(const void *)walk->counts.data;
    }
    if (status == WF_OK && coll->recv_array != NONE) {
        status = read_counts(step, coll->recv_array, coll->recv_type, &walk->recv_counts);
        step->op.recv_counts = (const uint64_t *)(const void *)walk->recv_counts.data;
    }
    return status;
}

/* The operation is behind the type; its numbers are ours, but that users have more than one. */
static uint32_t reduction_of(const struct wf_dumpi_record *record, const struct coll *coll)
{
    uint8_t at = (uint8_t)((coll->type != NONE ? coll->type : coll->array_type) + 1);
    int64_t number = at < record->n_values ? record->values[at] : WF_REDUCE_UNKNOWN;

    return number < 0 || number > WF_REDUCE_USER ? WF_REDUCE_USER : (uint32_t)number;
}

static enum wf_status do_coll(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;
    const struct coll *coll = coll_of(record->function);
    enum wf_status status = WF_OK;

    if (!wf_dumpi_step_comm(step, record->values[coll->comm])) {
        return wf_dumpi_step_call(step);
    }
    if (step->comm->n_low > 0) {
        step->walk->losses->n_inter += step->walk->spool != NULL ? 1 : 0;
        return wf_dumpi_step_call(step);
    }
    if (wf_op_reduces(coll->kind)) {
        step->op.reduction = reduction_of(record, coll);
    }
    if (coll->root != NONE) {
        step->op.root = (uint32_t)record->values[coll->root];
    }
    if (coll->other_count != NONE && coll->other_type < record->n_values) {
        status = wf_dumpi_step_bytes(step, record->values[coll->other_count],
                                     record->values[coll->other_type], &step->op.bytes);
    } else if (coll->count != NONE) {
        /* In place there is no count. */
        int64_t count = record->values[coll->count];
        bool in_place = count < 0 && coll->array != NONE;
        status = wf_dumpi_step_bytes(step, in_place ? 0 : count, record->values[coll->type],
                                     &step->op.bytes);
    }
    if (status == WF_OK) {
        status = read_blocks(step, coll);
    }
    return status == WF_OK ? wf_dumpi_step_put(step) : status;
}

uint64_t wf_dumpi_own_bytes(const struct wf_dumpi_file *file,
                            const struct wf_dumpi_record *record)
{
    enum { SEND = 0, RECV = 1, SENDRECV_REPLACE = 34 };
    const struct coll *coll = coll_of(record->function);
    enum wf_op_kind kind = WF_OP_CALL;
    uint8_t count = 0, type = 1;
    uint64_t items = 0;
    int64_t of = 0;

    if (coll != NULL && coll->count == NONE && coll->array != NONE) {
        const struct wf_dumpi_array *counts = &record->arrays[coll->array];
        for (uint32_t i = 0; i < counts->n; i++) {
            of = coll->array_type != NONE ? record->values[coll->array_type]
                 : i < record->arrays[coll->array + 2].n
                     ? record->arrays[coll->array + 2].items[i]
                     : 0;
            int64_t size = wf_dumpi_type_size(file, of);
            if (counts->items[i] > 0 && size > 0) {
                items = wf_count_add(items, (uint64_t)counts->items[i] * (uint64_t)size);
            }
        }
        return items;
    }
    if (coll != NULL) {
        if (coll->count == NONE) {
            return 0;
        }
        count = coll->count;
        type = coll->type;
    } else if (wf_dumpi_p2p(record->function, &kind) == NULL || kind == WF_OP_PROBE ||
               kind == WF_OP_IPROBE) {
        return 0;
    }
    int64_t size = wf_dumpi_type_size(file, record->values[type]);
    return record->values[count] > 0 && size > 0
               ? (uint64_t)record->values[count] * (uint64_t)size
               : 0;
}

/* ---- communicators ---- */

static enum wf_status do_comm(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;
    uint32_t made = wf_dumpi_comms_made(walk->comms, walk->rank, &walk->next_made);
    enum wf_status status = WF_OK;
    int64_t parent = 0, handle = 0;
    struct wf_group group;

    (void)wf_dumpi_makes_comm(step->record, &parent, &handle);
    wf_dumpi_bind(&walk->handles, handle, made);
    if (!wf_dumpi_step_comm(step, parent)) {
        return wf_dumpi_step_call(step);
    }
    step->op.new_comm = UINT32_MAX; /* the rank is in none */
    if (made != WF_DUMPI_NO_COMM &&
        wf_dumpi_comms_group(walk->comms, made, walk->rank, &group)) {
        step->op.new_comm = group.id;
        if (walk->spool != NULL) {
            struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
            status = writer->ops->group(writer, walk->rank, group.id, &group, step->err);
        }
    }
    return status == WF_OK ? wf_dumpi_step_put(step) : status;
}

static enum wf_status do_comm_free(struct wf_dumpi_step *step)
{
    int64_t handle = step->record->values[0];

    if (handle <= WF_DUMPI_COMM_SELF || !wf_dumpi_step_comm(step, handle)) {
        return wf_dumpi_step_call(step);
    }
    wf_dumpi_bind(&step->walk->handles, handle, WF_DUMPI_NO_COMM);
    return wf_dumpi_step_put(step);
}

/* ---- windows ---- */

static enum wf_status on_window(struct wf_dumpi_step *step, int64_t window)
{
    uint32_t comm = wf_dumpi_find(&step->walk->windows, window);

    if (comm == WF_DUMPI_NO_COMM) {
        step->walk->losses->n_lost_comms += step->walk->spool != NULL ? 1 : 0;
        return wf_dumpi_step_call(step);
    }
    step->comm = wf_dumpi_comms_at(step->walk->comms, comm);
    step->op.comm = step->comm->id;
    return wf_dumpi_step_put(step);
}

static enum wf_status do_win_create(struct wf_dumpi_step *step)
{
    const int64_t *values = step->record->values;

    if (!wf_dumpi_step_comm(step, values[3])) {
        wf_dumpi_bind(&step->walk->windows, values[4], WF_DUMPI_NO_COMM);
        return wf_dumpi_step_call(step);
    }
    wf_dumpi_bind(&step->walk->windows, values[4],
                  (uint32_t)(step->comm - wf_dumpi_comms_at(step->walk->comms, 0)));
    return wf_dumpi_step_put(step);
}

static enum wf_status do_win_free(struct wf_dumpi_step *step)
{
    enum wf_status status = on_window(step, step->record->values[0]);

    wf_dumpi_bind(&step->walk->windows, step->record->values[0], WF_DUMPI_NO_COMM);
    return status;
}

static enum wf_status do_fence(struct wf_dumpi_step *step)
{
    return on_window(step, step->record->values[1]);
}

static enum wf_status do_one_sided(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;

    step->op.peer = record->values[2] < 0 ? WF_PROC_NULL : (uint32_t)record->values[2];
    enum wf_status status =
        wf_dumpi_step_bytes(step, record->values[0], record->values[1], &step->op.bytes);
    /* The window is the last of the values; accumulate has one more. */
    return status == WF_OK ? on_window(step, record->values[record->n_values - 1]) : status;
}

static enum wf_status do_flush(struct wf_dumpi_step *step)
{
    /* The window is all there is, or behind the rank. */
    return on_window(step, step->record->values[step->record->n_values - 1]);
}

static enum wf_status do_sync(struct wf_dumpi_step *step)
{
    step->walk->losses->n_sync += step->walk->spool != NULL ? 1 : 0;
    return wf_dumpi_step_call(step);
}

wf_dumpi_handler wf_dumpi_collective(uint32_t function, enum wf_op_kind *kind)
{
    static const struct {
        uint16_t function;
        enum wf_op_kind kind;
        wf_dumpi_handler handler;
    } others[] = {
        {WF_DUMPI_COMM_DUP, WF_OP_COMM_DUP, do_comm},
        {WF_DUMPI_COMM_CREATE, WF_OP_COMM_CREATE, do_comm},
        {WF_DUMPI_COMM_SPLIT, WF_OP_COMM_SPLIT, do_comm},
        {WF_DUMPI_INTERCOMM_CREATE, WF_OP_COMM_CREATE, do_comm},
        {WF_DUMPI_INTERCOMM_MERGE, WF_OP_COMM_CREATE, do_comm},
        {WF_DUMPI_CART_CREATE, WF_OP_CART_CREATE, do_comm},
        {WF_DUMPI_GRAPH_CREATE, WF_OP_GRAPH_CREATE, do_comm},
        {WF_DUMPI_CART_SUB, WF_OP_COMM_SPLIT, do_comm},
        {87, WF_OP_COMM_FREE, do_comm_free},
        {132, WF_OP_COMM_FREE, do_comm_free},
        {141, WF_OP_ACCUMULATE, do_one_sided},
        {142, WF_OP_GET, do_one_sided},
        {143, WF_OP_PUT, do_one_sided},
        {145, WF_OP_WIN_CREATE, do_win_create},
        {146, WF_OP_FENCE, do_fence},
        {147, WF_OP_WIN_FREE, do_win_free},
        {144, WF_OP_WIN_FLUSH, do_flush},
        {149, WF_OP_CALL, do_sync},
        {150, WF_OP_CALL, do_sync},
        {151, WF_OP_CALL, do_sync},
        {153, WF_OP_WIN_FLUSH, do_flush},
        {154, WF_OP_CALL, do_sync},
    };
    const struct coll *coll = function >= COLL_FIRST ? coll_of(function) : NULL;

    if (coll != NULL) {
        *kind = coll->kind;
        return do_coll;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (others[i].function == function) {
            *kind = others[i].kind;
            return others[i].handler;
        }
    }
    return NULL;
}
