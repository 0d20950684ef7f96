/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/dumpi/walk.h"

#include "base/array.h"
#include "base/units.h"

#include <stdlib.h>

static int64_t ps_of(int64_t ns)
{
    enum { PS_PER_NS = 1000 };

    return ns > WF_TIME_MAX / PS_PER_NS ? WF_TIME_MAX : ns * PS_PER_NS;
}

int64_t wf_dumpi_type_size(const struct wf_dumpi_file *file, int64_t type)
{
    /* The sizes of predefined types, for files that do not have them. A file has 0 for a type
     * that equals another one. */
    static const uint8_t usual[] = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                    8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};
    int64_t n_usual = (int64_t)(sizeof(usual) / sizeof(usual[0]));

    if (type >= 0 && type < file->n_sizes && (file->sizes[type] > 0 || type >= n_usual)) {
        return file->sizes[type];
    }
    return type >= 0 && type < n_usual ? usual[type] : -1;
}

/* ---- one record ---- */

void wf_dumpi_step_bad(const struct wf_dumpi_step *step, const char *words)
{
    wf_trace_bad(&step->walk->file->in.place, "%s: %s",
                 wf_dumpi_call(step->record->function)->name, words);
}

bool wf_dumpi_step_comm(struct wf_dumpi_step *step, int64_t handle)
{
    struct wf_dumpi_walk *walk = step->walk;
    const uint64_t *bound =
        handle == WF_DUMPI_COMM_WORLD ? NULL : wf_map_get(&walk->handles, (uint64_t)handle);
    uint32_t comm = handle == WF_DUMPI_COMM_WORLD  ? WF_DUMPI_WORLD
                    : handle == WF_DUMPI_COMM_SELF ? WF_DUMPI_SELF
                    : bound != NULL                ? (uint32_t)*bound
                                                   : WF_DUMPI_NO_COMM;
    struct wf_group group;

    if (comm == WF_DUMPI_SELF && walk->spool != NULL) {
        (void)wf_dumpi_comms_group(walk->comms, comm, walk->rank, &group);
        (void)wf_spool_group(walk->spool, walk->rank, group.id, &group, NULL);
    }
    if (comm == WF_DUMPI_NO_COMM) {
        wf_dumpi_step_lose(step, WF_DUMPI_LOST_COMM);
        wf_dumpi_step_call(step);
        return false;
    }
    step->comm = &walk->comms->items[comm];
    step->op.comm = step->comm->id;
    return true;
}

uint64_t wf_dumpi_step_bytes(struct wf_dumpi_step *step, int64_t count, int64_t type)
{
    int64_t size = wf_dumpi_type_size(step->walk->file, type);

    if (count < 0) {
        wf_dumpi_step_bad(step, "a negative count");
        return 0;
    }
    if (size < 0 && count > 0) {
        wf_dumpi_step_lose(step, WF_DUMPI_TYPE);
    }
    return size < 0 ? 0 : (uint64_t)count * (uint64_t)size;
}

void wf_dumpi_step_put(struct wf_dumpi_step *step)
{
    if (step->walk->spool != NULL) {
        wf_spool_put(step->walk->spool, &step->op, &step->walk->file->in.place);
    }
}

void wf_dumpi_step_call(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_walk *walk = step->walk;
    const struct wf_dumpi_record *record = step->record;

    if (walk->spool == NULL) {
        return;
    }
    int64_t ns = record->end[walk->clock] - record->begin[walk->clock];
    wf_spool_compute(walk->spool, walk->rank, ns > 0 ? ps_of(ns) : 0, walk->file->in.place.err);
    wf_spool_name(walk->spool, WF_NAME_CALL, record->function,
                  wf_dumpi_call(record->function)->name);
    step->op = (struct wf_op){.kind = WF_OP_CALL, .tag = (int32_t)record->function};
    wf_dumpi_step_put(step);
}

/* ---- time ---- */

/* Writes the computing before a call. */
static void put_gap(struct wf_dumpi_walk *walk, const struct wf_dumpi_record *record)
{
    enum wf_dumpi_clock clock = walk->clock;

    walk->losses[WF_DUMPI_THREAD] += record->thread != 0 ? 1 : 0;
    if (!record->has_time[clock]) {
        walk->losses[WF_DUMPI_NO_CLOCK]++;
        return;
    }
    if (!walk->begun) {
        walk->first = record->end[WF_DUMPI_WALL];
    } else if (record->begin[clock] > walk->latest) {
        wf_spool_compute(walk->spool, walk->rank, ps_of(record->begin[clock] - walk->latest),
                         walk->file->in.place.err);
    }
    if (!walk->begun || record->end[clock] > walk->latest) {
        walk->latest = record->end[clock];
    }
    walk->begun = true;
}

/* ---- all records ---- */

void wf_dumpi_on_plain(struct wf_dumpi_step *step)
{
    wf_dumpi_step_put(step);
}

static void walk_once(struct wf_dumpi_walk *walk)
{
    struct wf_dumpi_record record;

    wf_dumpi_file_rewind(walk->file);
    while (wf_dumpi_file_next(walk->file, &record)) {
        const struct wf_dumpi_call *call = walk->file->plans->of[record.function].call;
        struct wf_dumpi_step step = {.walk = walk, .record = &record, .op.kind = call->kind};

        if (walk->spool != NULL) {
            put_gap(walk, &record);
        }
        (call->handle != NULL ? call->handle : wf_dumpi_step_call)(&step);
    }
}

static int by_serial(const void *a, const void *b)
{
    const struct wf_dumpi_match *x = a, *y = b;

    return WF_ORDER(x->serial, y->serial);
}

/* Releases the requests, handles and windows of the rank. */
static void forget(struct wf_dumpi_walk *walk)
{
    wf_open_requests_fini(&walk->requests);
    wf_map_fini(&walk->handles);
    wf_map_fini(&walk->windows);
    walk->serial = 0;
    walk->next_created = 0;
}

void wf_dumpi_walk_rank(struct wf_dumpi_walk *walk, bool has_wildcards)
{
    struct wf_spool *spool = walk->spool;

    if (has_wildcards) {
        walk->spool = NULL;
        walk_once(walk);
        walk->spool = spool;
        WF_SORT(walk->matches, walk->n_matches, by_serial);
        forget(walk);
    }
    walk_once(walk);
    int64_t ns = walk->file->latest[WF_DUMPI_WALL] - walk->first;
    if (walk->begun && walk->first > 0 && ns >= 0) {
        wf_spool_wall(spool, walk->rank, ps_of(ns));
    }
    walk->losses[WF_DUMPI_IGNORED] += walk->file->n_ignored;
    forget(walk);
    free(walk->matches);
    wf_buf_fini(&walk->numbers);
    wf_buf_fini(&walk->kept);
    wf_buf_fini(&walk->places);
    wf_buf_fini(&walk->counts);
    wf_buf_fini(&walk->recv_counts);
}
