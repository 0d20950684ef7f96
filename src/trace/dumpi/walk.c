/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/dumpi/walk.h"

#include "base/mem.h"
#include "base/units.h"
#include "trace/dumpi/calls.h"

#include <stdlib.h>
#include <string.h>

static int64_t ps_of(int64_t ns)
{
    enum { PS_PER_NS = 1000 };

    return ns > WF_TIME_MAX / PS_PER_NS ? WF_TIME_MAX : ns * PS_PER_NS;
}

void wf_dumpi_walk_fini(struct wf_dumpi_walk *walk)
{
    wf_open_requests_fini(&walk->requests);
    free(walk->handles.items);
    free(walk->windows.items);
    free(walk->matches);
    wf_buf_fini(&walk->numbers);
    wf_buf_fini(&walk->kept);
    wf_buf_fini(&walk->places);
    wf_buf_fini(&walk->counts);
    wf_buf_fini(&walk->recv_counts);
}

/* ---- handles ---- */

uint32_t wf_dumpi_find(const struct wf_dumpi_bindings *bindings, int64_t number)
{
    for (uint32_t i = bindings->n; i-- > 0;) {
        if (bindings->items[i].number == number) {
            return bindings->items[i].comm;
        }
    }
    return WF_DUMPI_NO_COMM;
}

void wf_dumpi_bind(struct wf_dumpi_bindings *bindings, int64_t number, uint32_t comm)
{
    uint32_t i = 0;

    while (i < bindings->n && bindings->items[i].number != number) {
        i++;
    }
    if (i == bindings->n) {
        if (bindings->n == bindings->capacity) {
            bindings->capacity = bindings->capacity * 2 + 8;
            bindings->items =
                wf_xrealloc(bindings->items, bindings->capacity, sizeof(*bindings->items));
        }
        bindings->n++;
    }
    bindings->items[i] = (struct wf_dumpi_binding){(int16_t)number, comm};
}

int64_t wf_dumpi_type_size(const struct wf_dumpi_file *file, int64_t type)
{
    /* Of the predefined types, if the file does not say: it says 0 of a type that is the same
     * as another one. */
    static const uint8_t usual[] = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                    8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};
    int64_t n_usual = (int64_t)(sizeof(usual) / sizeof(usual[0]));

    if (type >= 0 && type < file->n_sizes && (file->sizes[type] > 0 || type >= n_usual)) {
        return file->sizes[type];
    }
    return type >= 0 && type < n_usual ? usual[type] : -1;
}

/* ---- a step ---- */

enum wf_status wf_dumpi_step_bad(const struct wf_dumpi_step *step, const char *words)
{
    return wf_dumpi_bad(step->walk->file, step->record->offset, step->err, "%s: %s",
                        wf_dumpi_layout(step->record->function)->name, words);
}

static enum wf_status tell_self(struct wf_dumpi_walk *walk, struct wf_err *err)
{
    struct wf_group group;

    if (walk->told_self || walk->spool == NULL) {
        return WF_OK;
    }
    walk->told_self = true;
    struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
    (void)wf_dumpi_comms_group(walk->comms, WF_DUMPI_SELF, walk->rank, &group);
    return writer->ops->group(writer, walk->rank, group.id, &group, err);
}

bool wf_dumpi_step_comm(struct wf_dumpi_step *step, int64_t handle)
{
    uint32_t comm = handle == WF_DUMPI_COMM_WORLD ? WF_DUMPI_WORLD
                    : handle == WF_DUMPI_COMM_SELF
                        ? WF_DUMPI_SELF
                        : wf_dumpi_find(&step->walk->handles, handle);

    if (comm == WF_DUMPI_NO_COMM ||
        (comm == WF_DUMPI_SELF && tell_self(step->walk, step->err) != WF_OK)) {
        step->walk->losses->n_lost_comms += step->walk->spool != NULL ? 1 : 0;
        return false;
    }
    step->comm = wf_dumpi_comms_at(step->walk->comms, comm);
    step->op.comm = step->comm->id;
    return true;
}

enum wf_status wf_dumpi_step_bytes(const struct wf_dumpi_step *step, int64_t count,
                                   int64_t type, uint64_t *bytes)
{
    int64_t size = wf_dumpi_type_size(step->walk->file, type);

    if (count < 0) {
        return wf_dumpi_step_bad(step, "a negative count");
    }
    if (size < 0 && count > 0) {
        step->walk->losses->n_types += step->walk->spool != NULL ? 1 : 0;
    }
    *bytes = size < 0 ? 0 : (uint64_t)count * (uint64_t)size;
    return WF_OK;
}

enum wf_status wf_dumpi_step_put(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;

    if (walk->spool == NULL) {
        return WF_OK;
    }
    enum wf_status status = wf_spool_op(walk->spool, walk->rank, &step->op, step->err);
    if (status == WF_EINVAL) {
        wf_err_prefix(step->err, "%.200s: byte %llu, rank %u: ", walk->file->in.place.path,
                      (unsigned long long)step->record->offset, walk->rank);
    }
    return status;
}

enum wf_status wf_dumpi_step_call(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;
    const struct wf_dumpi_record *record = step->record;

    if (walk->spool == NULL) {
        return WF_OK;
    }
    struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
    int64_t ns = record->end[walk->clock] - record->begin[walk->clock];
    enum wf_status status =
        wf_spool_compute(walk->spool, walk->rank, ns > 0 ? ps_of(ns) : 0, step->err);
    if (status == WF_OK) {
        writer->ops->name_of(writer, WF_NAME_CALL, record->function,
                             wf_dumpi_layout(record->function)->name);
        step->op = (struct wf_op){.kind = WF_OP_CALL, .tag = (int32_t)record->function};
        status = wf_dumpi_step_put(step);
    }
    return status;
}

/* ---- time ---- */

/* The computing before a call. */
static enum wf_status put_gap(struct wf_dumpi_walk *walk, const struct wf_dumpi_record *record,
                              struct wf_err *err)
{
    enum wf_dumpi_clock clock = walk->clock;
    enum wf_status status = WF_OK;

    if (walk->spool == NULL) {
        return WF_OK;
    }
    walk->losses->n_threads += record->thread != 0 ? 1 : 0;
    if (!record->has_time[clock]) {
        walk->losses->n_no_clock++;
        return WF_OK;
    }
    if (!walk->begun) {
        walk->first = record->end[WF_DUMPI_WALL];
    } else if (record->begin[clock] > walk->latest) {
        status = wf_spool_compute(walk->spool, walk->rank,
                                  ps_of(record->begin[clock] - walk->latest), err);
    }
    if (!walk->begun || record->end[clock] > walk->latest) {
        walk->latest = record->end[clock];
    }
    walk->begun = true;
    return status;
}

static void put_wall(struct wf_dumpi_walk *walk)
{
    struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
    int64_t ns = walk->file->latest[WF_DUMPI_WALL] - walk->first;

    if (walk->begun && walk->first > 0 && ns >= 0) {
        writer->ops->wall(writer, walk->rank, ps_of(ns));
    }
}

/* ---- all records ---- */

static enum wf_status plain_op(struct wf_dumpi_step *step)
{
    return wf_dumpi_step_put(step);
}

static wf_dumpi_handler find_handler(uint32_t function, enum wf_op_kind *kind)
{
    enum { INIT = 124, FINALIZE = 125, INIT_THREAD = 171 };
    wf_dumpi_handler handler = wf_dumpi_p2p(function, kind);

    if (handler == NULL) {
        handler = wf_dumpi_completion(function, kind);
    }
    if (handler == NULL) {
        handler = wf_dumpi_collective(function, kind);
    }
    if (function == INIT || function == INIT_THREAD || function == FINALIZE) {
        *kind = function == FINALIZE ? WF_OP_FINALIZE : WF_OP_INIT;
        return plain_op;
    }
    return handler != NULL ? handler : wf_dumpi_step_call;
}

static enum wf_status walk_once(struct wf_dumpi_walk *walk, struct wf_err *err)
{
    struct wf_dumpi_record record;
    bool more = true;

    wf_dumpi_file_rewind(walk->file);
    enum wf_status status = wf_dumpi_file_next(walk->file, &record, &more, err);
    while (status == WF_OK && more) {
        struct wf_dumpi_step step = {.walk = walk, .record = &record, .err = err};
        wf_dumpi_handler handler = find_handler(record.function, &step.op.kind);

        status = put_gap(walk, &record, err);
        if (status == WF_OK) {
            status = handler(&step);
        }
        if (status == WF_OK) {
            status = wf_dumpi_file_next(walk->file, &record, &more, err);
        }
    }
    return status;
}

static int by_serial(const void *a, const void *b)
{
    const struct wf_dumpi_match *x = a, *y = b;

    return x->serial < y->serial ? -1 : x->serial > y->serial ? 1 : 0;
}

enum wf_status wf_dumpi_walk_rank(struct wf_dumpi_walk *walk, bool has_open, struct wf_err *err)
{
    struct wf_spool *spool = walk->spool;
    enum wf_status status = WF_OK;

    if (has_open) {
        walk->spool = NULL;
        status = walk_once(walk, err);
        walk->spool = spool;
        if (walk->n_matches > 1) {
            qsort(walk->matches, walk->n_matches, sizeof(*walk->matches), by_serial);
        }
        wf_open_requests_fini(&walk->requests);
        walk->handles.n = 0;
        walk->windows.n = 0;
        walk->serial = 0;
        walk->next_made = 0;
    }
    if (status == WF_OK) {
        status = walk_once(walk, err);
    }
    if (status == WF_OK) {
        put_wall(walk);
        walk->losses->n_ignored += walk->file->n_ignored;
    }
    return status;
}
