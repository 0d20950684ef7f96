/* SPDX-License-Identifier: Apache-2.0 */
/* OTF2: the archives of Score-P and others. */
#include "base/mem.h"
#include "base/units.h"
#include "program/trace/kit/kit.h"
#include "program/trace/otf2/walk.h"
#include "program/trace/spool/spool.h"

#include <inttypes.h>
#include <stdlib.h>

#define ENDING ".otf2"

enum { MAGIC_BYTES = 2 + sizeof(WF_OTF2_MAGIC) };

static bool detect(const struct wf_reader_probe *probe)
{
    unsigned char bytes[MAGIC_BYTES];
    size_t n = 0;

    if (!probe->is_directory) {
        return wf_otf2_is_anchor(probe->bytes, probe->n);
    }
    const char *name = wf_probe_entry(probe, ENDING, &n);
    return n == 1 && wf_otf2_is_anchor(bytes, wf_probe_read(probe, name, bytes, sizeof(bytes)));
}

struct otf2_params {
    char *metrics;
    double kernels, copies;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct otf2_params, metrics, TEXT, .def = "",
                 .doc = "Metrics of time, with + between them, whose increase is computing, "
                        "instead of the clock's; such as ru_utime+ru_stime"),
    WF_PARAM_ROW(struct otf2_params, kernels, REAL, .def = "1", .min = "0",
                 .doc =
                     "Factor on computing while a GPU of the rank runs kernels; 0.5 is a GPU "
                     "of twice the speed"),
    WF_PARAM_ROW(struct otf2_params, copies, REAL, .def = "1", .min = "0",
                 .doc = "Factor on computing while data are copied to or from a GPU of the "
                        "rank, or within it"),
    WF_PARAM_END,
};

/* An archive that several workers read, rank by rank. */
struct opening {
    const char *path;
    struct wf_otf2_layout layout;
    struct wf_otf2_defs defs;
    uint32_t n_workers;
    struct wf_otf2_walk walks[WF_TRACE_WORKERS_MAX];
    struct wf_otf2_sums *sums[WF_TRACE_WORKERS_MAX];
};

/* ---- notes ---- */

/* Adds what accelerators did, and how to ask what if they were faster. */
static void note_devices(const struct opening *o, const struct otf2_params *params,
                         struct wf_trace *out)
{
    struct wf_trace_device all = {.n_streams = 0};
    char kernels[WF_UNITS_TEXT_MAX], copies[WF_UNITS_TEXT_MAX];

    wf_trace_note_count(out, o->defs.n_lost_streams,
                        "streams of accelerators belong to no rank and are not read");
    for (uint32_t rank = 0; out->devices != NULL && rank < o->defs.n_ranks; rank++) {
        all.n_kernels += out->devices[rank].n_kernels;
        all.n_copies += out->devices[rank].n_copies;
        all.computing_kernels =
            wf_time_add(all.computing_kernels, out->devices[rank].computing_kernels);
        all.computing_copies =
            wf_time_add(all.computing_copies, out->devices[rank].computing_copies);
    }
    if (out->devices == NULL || params->kernels != 1 || params->copies != 1) {
        return;
    }
    wf_trace_note(out,
                  "the ranks have GPUs, with %" PRIu64 " kernels and %" PRIu64
                  " copies: %s of their computing is at the same time as kernels and %s as "
                  "copies, on which -p trace.kernels and -p trace.copies are factors",
                  all.n_kernels, all.n_copies, wf_human_time(all.computing_kernels, kernels),
                  wf_human_time(all.computing_copies, copies));
}

static void add_notes(const struct opening *o, struct wf_trace *out)
{
    uint64_t n_equal = 0, n_lost = 0, n_inter = 0, n_unfinished = 0, n_off = 0, others = 0;
    char metrics[200];

    for (uint32_t i = 0; i < o->n_workers; i++) {
        n_equal += o->walks[i].n_equal;
        n_lost += o->walks[i].n_lost;
        n_inter += o->walks[i].n_inter;
        n_unfinished += o->walks[i].n_unfinished;
        n_off += o->walks[i].n_off;
    }
    struct wf_record_count *totals = wf_records_totals(out->records);
    uint64_t n_metrics =
        totals[wf_records_name(out->records, wf_otf2_kind_name(WF_OTF2_METRIC))].n;
    for (uint32_t kind = 0; kind < WF_OTF2_KINDS; kind++) {
        const char *name = wf_otf2_kind_name((enum wf_otf2_kind)kind);
        others += wf_otf2_kind_is_passed((enum wf_otf2_kind)kind)
                      ? totals[wf_records_name(out->records, name)].n
                      : 0;
    }
    free(totals);
    wf_trace_note_count(
        out, n_equal,
        "collectives have lengths that may differ from rank to rank, of which an "
        "archive has the sums: they are taken as equal, or of alltoallv in "
        "proportion to what one rank sends and the other receives");
    wf_trace_note_count(
        out, n_lost,
        n_inter > 0 ? "messages and collectives are left out: their communicator is not "
                      "known, or between two groups"
                    : "messages and collectives are left out: their communicator is not "
                      "known");
    wf_trace_note_count(out, n_unfinished,
                        "requests are left out, since they are never complete and so it is not "
                        "known what they were");
    if (n_off > 0) {
        wf_trace_note(out,
                      "recording was switched off %" PRIu64 " times: what was sent then is "
                      "missing, and the time counts as computing",
                      n_off);
    }
    wf_trace_note_count(out, o->defs.n_others, "threads that are no rank of MPI are not read");
    wf_trace_note_count(
        out, others,
        "events of other kinds (one-sided operations, files, threads) are passed over");
    wf_trace_note_count(out, o->defs.metrics.n_used == 0 ? n_metrics : 0,
                        "values of metrics of ranks (METRIC) are not used");
    wf_trace_note_count(out, o->defs.n_metric_events,
                        "values of metrics in locations of their own are not read");
    wf_otf2_metrics_list(&o->defs, metrics, sizeof(metrics));
    if (o->defs.metrics.n_used == 0 && metrics[0] != '\0') {
        wf_trace_note(out,
                      "computing is the clock's time between calls; the archive has metrics of "
                      "time, too, which -p trace.metrics uses instead: %s",
                      metrics);
    }
}

/* ---- workers ---- */

static void sum_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    struct opening *o = arg;

    wf_otf2_sums_read(o->sums[worker], &o->walks[worker].events, rank, err);
}

static void walk_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    struct opening *o = arg;

    wf_otf2_walk_rank(&o->walks[worker], rank, err);
    wf_spool_rank_ends(o->walks[worker].spool, rank);
}

/* Reads the sizes of collectives that differ from rank to rank, if there are any. */
static void read_sums(struct opening *o, struct wf_err *err)
{
    for (uint32_t i = 0; i < o->n_workers; i++) {
        o->sums[i] = wf_otf2_sums_new(&o->defs);
    }
    if (o->sums[0] == NULL) {
        return;
    }
    wf_trace_visit_all(o->defs.n_ranks, o->n_workers, sum_rank, o, err);
    for (uint32_t i = 1; i < o->n_workers; i++) {
        wf_otf2_sums_join(o->sums[0], o->sums[i]);
    }
    wf_otf2_sums_finish(o->sums[0]);
}

static void walk_all(struct opening *o, struct wf_spool *spool, struct wf_trace *out,
                     struct wf_err *err)
{
    struct wf_records *records[WF_TRACE_WORKERS_MAX];

    for (uint32_t i = 0; i < o->n_workers; i++) {
        struct wf_otf2_walk *walk = &o->walks[i];
        records[i] = walk->records = wf_records_new(o->defs.n_ranks);
        walk->spool = wf_spool_part(spool, i);
        walk->sums = o->sums[0];
        wf_otf2_walk_begin(walk);
    }
    wf_trace_visit_all(o->defs.n_ranks, o->n_workers, walk_rank, o, err);
    for (uint32_t i = 0; i < o->n_workers; i++) {
        wf_otf2_walk_end(&o->walks[i]);
    }
    out->records = wf_records_new(o->defs.n_ranks);
    wf_otf2_tally_names(out->records);
    wf_records_merge(out->records, records, o->n_workers);
    add_notes(o, out);
}

/* ---- the archive ---- */

static void begin_walks(struct opening *o, const struct otf2_params *params,
                        struct wf_trace *out, struct wf_err *err)
{
    o->n_workers = wf_trace_workers(o->defs.n_ranks);
    if (o->defs.n_streams > 0) {
        out->devices = wf_xcalloc(o->defs.n_ranks, sizeof(*out->devices));
    }
    for (uint32_t i = 0; i < o->n_workers; i++) {
        o->walks[i] = (struct wf_otf2_walk){
            .events = {.path = o->path, .layout = &o->layout, .defs = &o->defs},
            .defs = &o->defs,
            .factors = {.kernels = params->kernels, .copies = params->copies},
            .all_devices = out->devices,
            .place = {.path = o->path, .counts = "event", .unit = "rank", .err = err}};
    }
}

/* Fails if there is nothing that the factors of accelerators could change. */
static void check_factors(const struct opening *o, const struct otf2_params *params,
                          struct wf_err *err)
{
    if (wf_trace_failed(err) || (params->kernels == 1 && params->copies == 1)) {
        return;
    }
    if (o->defs.n_streams == 0) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.200s: trace.kernels and trace.copies change the time of GPUs, and "
                         "no rank of this archive has events of one",
                         o->path);
    } else if (o->defs.metrics.n_used > 0) {
        (void)wf_err_set(
            err, WF_EINVAL,
            "%.200s: trace.kernels and trace.copies change computing by the clock, "
            "and trace.metrics does not use it in any rank; use one or the other",
            o->path);
    }
}

static void read_archive(const char *path, const struct otf2_params *params,
                         struct wf_trace *out, struct wf_err *err)
{
    struct opening *o = wf_xcalloc(1, sizeof(*o));
    struct wf_spool *spool = NULL;

    o->path = path;
    wf_otf2_anchor_read(path, &o->layout, err);
    wf_otf2_defs_read(path, &o->layout, &o->defs, err);
    if (!wf_trace_failed(err)) {
        wf_otf2_metrics_use(&o->defs, params->metrics, path, err);
        check_factors(o, params, err);
    }
    if (!wf_trace_failed(err)) {
        begin_walks(o, params, out, err);
        read_sums(o, err);
    }
    if (!wf_trace_failed(err) &&
        wf_spool_new_parts(o->defs.n_ranks, o->n_workers, &spool, err) == WF_OK) {
        walk_all(o, spool, out, err);
        note_devices(o, params, out);
    }
    (void)wf_spool_end(spool, "otf2", &out->source, err);
    for (uint32_t i = 0; i < o->n_workers; i++) {
        wf_otf2_sums_free(o->sums[i]);
        wf_otf2_events_close(&o->walks[i].events);
    }
    wf_otf2_defs_fini(&o->defs);
    free(o);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    char *path = probe->is_directory ? wf_probe_path(probe, wf_probe_entry(probe, ENDING, NULL))
                                     : wf_xstrdup(probe->path);

    read_archive(path, params, out, err);
    free(path);
    return err->status;
}

const struct wf_reader_ops wf_otf2_reader_ops = {
    .name = "otf2",
    .summary = "OTF2 of Score-P and others: a directory, or its anchor file (.otf2)",
    .params = params_table,
    .params_size = sizeof(struct otf2_params),
    .detect = detect,
    .open = open_trace,
};
