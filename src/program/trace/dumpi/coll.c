/* SPDX-License-Identifier: Apache-2.0 */
/* Records of collectives, communicators and windows. */
#include "base/units.h"
#include "program/trace/dumpi/walk.h"

enum { NONE = 0xff };

/* The indices of the arguments of a collective among the values and the arrays of its record.
 * `other_count` and `other_type` describe the block of the receiving side, or of the root. They
 * are preferred where they exist, since a rank with MPI_IN_PLACE has no count of its own. */
struct coll {
    enum wf_op_kind kind;
    uint8_t comm, root;
    uint8_t count, type, other_count, other_type;
    uint8_t array, array_type, recv_array, recv_type;
};

static const struct coll colls[] = {
    {WF_OP_BARRIER, 0, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
    {WF_OP_BCAST, 3, 2, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {WF_OP_GATHER, 4, 3, 1, 2, 5, 6, NONE, NONE, NONE, NONE},
    {WF_OP_GATHERV, 5, 4, 2, 3, NONE, NONE, 0, 6, NONE, NONE},
    {WF_OP_SCATTER, 4, 3, 1, 2, 5, 6, NONE, NONE, NONE, NONE},
    {WF_OP_SCATTERV, 6, 5, 3, 4, NONE, NONE, 0, 2, NONE, NONE},
    {WF_OP_ALLGATHER, 4, NONE, 0, 1, 2, 3, NONE, NONE, NONE, NONE},
    {WF_OP_ALLGATHERV, 4, NONE, 1, 2, NONE, NONE, 0, 3, NONE, NONE},
    {WF_OP_ALLTOALL, 4, NONE, 0, 1, 2, 3, NONE, NONE, NONE, NONE},
    {WF_OP_ALLTOALLV, 3, NONE, NONE, NONE, NONE, NONE, 0, 1, 2, 2},
    {WF_OP_REDUCE, 4, 3, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {WF_OP_ALLREDUCE, 3, NONE, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {WF_OP_REDUCE_SCATTER, 3, NONE, NONE, NONE, NONE, NONE, 0, 1, NONE, NONE},
    {WF_OP_SCAN, 3, NONE, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    {WF_OP_EXSCAN, 3, NONE, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE},
    /* The types of an alltoallw are arrays too: those after the displacements. */
    {WF_OP_ALLTOALLW, 1, NONE, NONE, NONE, NONE, NONE, 0, NONE, 3, NONE},
};

static const struct coll *coll_of(enum wf_op_kind kind)
{
    for (size_t i = 0; i < sizeof(colls) / sizeof(colls[0]); i++) {
        if (colls[i].kind == kind) {
            return &colls[i];
        }
    }
    return NULL;
}

/* Returns the datatype of element i of an array of counts. */
static int64_t type_of(const struct wf_dumpi_record *record, uint8_t array, uint8_t type,
                       uint32_t i)
{
    return type != NONE                      ? record->values[type]
           : i < record->arrays[array + 2].n ? record->arrays[array + 2].items[i]
                                             : 0;
}

/* Returns the lengths in bytes of the blocks of an array of counts. */
static const uint64_t *read_counts(struct wf_dumpi_step *step, uint8_t array, uint8_t type,
                                   struct wf_buf *into)
{
    const struct wf_dumpi_record *record = step->record;
    const struct wf_dumpi_array *counts = &record->arrays[array];

    if (counts->n != step->comm->size ||
        (type == NONE && record->arrays[array + 2].n != counts->n)) {
        wf_dumpi_step_bad(
            step, "the number of counts is not the number of ranks in its communicator");
        return NULL;
    }
    into->size = 0;
    for (uint32_t i = 0; i < counts->n; i++) {
        uint64_t bytes =
            wf_dumpi_step_bytes(step, counts->items[i], type_of(record, array, type, i));
        wf_buf_append(into, &bytes, sizeof(bytes));
    }
    return (const uint64_t *)(const void *)into->data;
}

/* The reduction follows the datatype. DUMPI and weft use the same numbers, except that DUMPI
 * has several numbers for operations defined by the program. */
static uint32_t reduction_of(const struct wf_dumpi_record *record, const struct coll *coll)
{
    uint8_t at = (uint8_t)((coll->type != NONE ? coll->type : coll->array_type) + 1);
    int64_t number = at < record->n_values ? record->values[at] : WF_REDUCE_UNKNOWN;

    return number < 0 || number > WF_REDUCE_USER ? WF_REDUCE_USER : (uint32_t)number;
}

void wf_dumpi_on_collective(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;
    const struct coll *coll = coll_of(step->op.kind);
    struct wf_dumpi_walk *walk = step->walk;

    if (!wf_dumpi_step_comm(step, record->values[coll->comm])) {
        return;
    }
    if (step->comm->n_low > 0) {
        wf_dumpi_step_lose(step, WF_DUMPI_INTER);
        wf_dumpi_step_call(step);
        return;
    }
    if (wf_op_reduces(coll->kind)) {
        step->op.reduction = reduction_of(record, coll);
    }
    if (coll->root != NONE) {
        step->op.root = (uint32_t)record->values[coll->root];
    }
    if (coll->other_count != NONE && coll->other_type < record->n_values) {
        step->op.bytes = wf_dumpi_step_bytes(step, record->values[coll->other_count],
                                             record->values[coll->other_type]);
    } else if (coll->count != NONE) {
        /* With MPI_IN_PLACE there is no count. */
        int64_t count = record->values[coll->count];
        bool in_place = count < 0 && coll->array != NONE;
        step->op.bytes =
            wf_dumpi_step_bytes(step, in_place ? 0 : count, record->values[coll->type]);
    }
    /* In a rooted collective, only the root has the arrays. */
    if (coll->array != NONE && coll->array < record->n_arrays) {
        step->op.counts = read_counts(step, coll->array, coll->array_type, &walk->counts);
    }
    if (coll->recv_array != NONE) {
        step->op.recv_counts =
            read_counts(step, coll->recv_array, coll->recv_type, &walk->recv_counts);
    }
    wf_dumpi_step_put(step);
}

static uint64_t bytes_of(const struct wf_dumpi_file *file, int64_t count, int64_t type)
{
    int64_t size = wf_dumpi_type_size(file, type);

    return count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

bool wf_dumpi_has_counts(const struct wf_dumpi_call *call)
{
    const struct coll *coll =
        call->handle == wf_dumpi_on_collective ? coll_of(call->kind) : NULL;

    return coll != NULL && coll->count == NONE && coll->array != NONE;
}

uint64_t wf_dumpi_own_bytes(const struct wf_dumpi_file *file,
                            const struct wf_dumpi_record *record)
{
    const struct wf_dumpi_plan *plan = &file->plans->of[record->function];
    uint64_t bytes = 0;

    if (plan->is_sized) {
        return bytes_of(file, record->values[0], record->values[1]);
    }
    const struct coll *coll = coll_of(plan->call->kind);
    if (coll == NULL) {
        return 0;
    }
    if (coll->count != NONE) {
        return bytes_of(file, record->values[coll->count], record->values[coll->type]);
    }
    for (uint32_t i = 0; coll->array != NONE && i < record->arrays[coll->array].n; i++) {
        bytes =
            wf_count_add(bytes, bytes_of(file, record->arrays[coll->array].items[i],
                                         type_of(record, coll->array, coll->array_type, i)));
    }
    return bytes;
}

/* ---- communicators ---- */

void wf_dumpi_on_comm(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;
    const struct wf_dumpi_record *record = step->record;
    uint32_t created = wf_dumpi_comms_created(walk->comms, walk->rank, &walk->next_created);
    struct wf_group group;

    *wf_map_put(&walk->handles, (uint64_t)record->values[record->n_values - 1]) = created;
    if (!wf_dumpi_step_comm(step, wf_dumpi_parent(record))) {
        return;
    }
    step->op.new_comm = UINT32_MAX; /* the rank is no member of a new communicator */
    if (created != WF_DUMPI_NO_COMM &&
        wf_dumpi_comms_group(walk->comms, created, walk->rank, &group)) {
        step->op.new_comm = group.id;
        if (walk->spool != NULL) {
            (void)wf_spool_group(walk->spool, walk->rank, group.id, &group,
                                 walk->file->in.place.err);
        }
    }
    wf_dumpi_step_put(step);
}

void wf_dumpi_on_comm_free(struct wf_dumpi_step *step)
{
    int64_t handle = step->record->values[0];

    if (handle <= WF_DUMPI_COMM_SELF) {
        wf_dumpi_step_call(step);
    } else if (wf_dumpi_step_comm(step, handle)) {
        (void)wf_map_remove(&step->walk->handles, (uint64_t)handle);
        wf_dumpi_step_put(step);
    }
}

/* ---- windows ---- */

/* The window is the last value of a record. */
static uint64_t window_of(const struct wf_dumpi_step *step)
{
    return (uint64_t)step->record->values[step->record->n_values - 1];
}

void wf_dumpi_on_window(struct wf_dumpi_step *step)
{
    const uint64_t *comm = wf_map_get(&step->walk->windows, window_of(step));

    if (comm == NULL) {
        wf_dumpi_step_lose(step, WF_DUMPI_LOST_COMM);
        wf_dumpi_step_call(step);
        return;
    }
    step->comm = &step->walk->comms->items[*comm];
    step->op.comm = step->comm->id;
    wf_dumpi_step_put(step);
}

void wf_dumpi_on_win_create(struct wf_dumpi_step *step)
{
    (void)wf_map_remove(&step->walk->windows, window_of(step));
    if (wf_dumpi_step_comm(step, step->record->values[3])) {
        *wf_map_put(&step->walk->windows, window_of(step)) =
            (uint64_t)(step->comm - step->walk->comms->items);
        wf_dumpi_step_put(step);
    }
}

void wf_dumpi_on_win_free(struct wf_dumpi_step *step)
{
    wf_dumpi_on_window(step);
    (void)wf_map_remove(&step->walk->windows, window_of(step));
}

void wf_dumpi_on_onesided(struct wf_dumpi_step *step)
{
    const int64_t *values = step->record->values;

    step->op.peer = values[2] < 0 ? WF_PROC_NULL : (uint32_t)values[2];
    step->op.bytes = wf_dumpi_step_bytes(step, values[0], values[1]);
    wf_dumpi_on_window(step);
}

void wf_dumpi_on_sync(struct wf_dumpi_step *step)
{
    wf_dumpi_step_lose(step, WF_DUMPI_SYNC);
    wf_dumpi_step_call(step);
}
