/* SPDX-License-Identifier: Apache-2.0 */
/* OTF2: the archives of Score-P and others. */
#include "base/mem.h"
#include "trace/kit/kit.h"
#include "trace/otf2/check.h"
#include "trace/otf2/walk.h"

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
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct otf2_params, metrics, TEXT, .def = "",
                 .doc = "Metrics of time, with + between them, whose increase is computing, "
                        "instead of the clock's; such as ru_utime+ru_stime"),
    WF_PARAM_END,
};

/* An archive that several workers read, each a range of ranks. */
struct opening {
    const char *path;
    struct wf_otf2_layout layout;
    struct wf_otf2_defs defs;
    uint32_t n_workers;
    struct wf_otf2_walk walks[WF_TRACE_WORKERS_MAX];
    struct wf_otf2_sums *sums[WF_TRACE_WORKERS_MAX];
};

static void add_notes(const struct opening *o, struct wf_trace *out)
{
    uint64_t n_equal = 0, n_lost = 0, n_inter = 0, n_unfinished = 0, n_off = 0, others = 0;
    uint32_t other = wf_records_name(out->records, wf_otf2_walk_name(WF_OTF2_OTHER));
    char metrics[200];

    for (uint32_t i = 0; i < o->n_workers; i++) {
        n_equal += o->walks[i].n_equal;
        n_lost += o->walks[i].n_lost;
        n_inter += o->walks[i].n_inter;
        n_unfinished += o->walks[i].n_unfinished;
        n_off += o->walks[i].n_off;
    }
    for (uint32_t rank = 0; rank < o->defs.n_ranks; rank++) {
        others += wf_records_of(out->records, rank, other).n;
    }
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
    wf_otf2_metrics_list(&o->defs, metrics, sizeof(metrics));
    if (o->defs.metrics.n_used == 0 && metrics[0] != '\0') {
        wf_trace_note(out,
                      "computing is the clock's time between calls; the archive has metrics of "
                      "time, too, which -p trace.metrics uses instead: %s",
                      metrics);
    }
    wf_trace_note_count(out, o->defs.n_gpu_events,
                        "events of GPU streams are not read: the ranks wait for kernels in "
                        "calls of their own, whose time is computing");
}

/* ---- workers ---- */

/* The first rank of a worker. */
static uint32_t first_of(const struct opening *o, uint32_t worker)
{
    return (uint32_t)((uint64_t)o->defs.n_ranks * worker / o->n_workers);
}

static void check_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    const struct opening *o = arg;

    (void)worker;
    wf_otf2_check_rank(o->path, &o->layout, &o->defs, rank, err);
}

/* Items of the following visits are ranges of ranks: the library has to know before which ranks
 * a reader will read. */
static void open_range(void *arg, uint32_t worker, uint32_t range, struct wf_err *err)
{
    struct opening *o = arg;

    (void)worker;
    wf_otf2_in_use(o->walks[range].in, err);
    wf_otf2_in_open_ranks(o->walks[range].in, first_of(o, range), first_of(o, range + 1));
}

static void sum_range(void *arg, uint32_t worker, uint32_t range, struct wf_err *err)
{
    struct opening *o = arg;

    (void)worker;
    wf_otf2_in_use(o->walks[range].in, err);
    for (uint32_t rank = first_of(o, range);
         rank < first_of(o, range + 1) && !wf_trace_failed(err); rank++) {
        wf_otf2_sums_read(o->sums[range], o->walks[range].in, &o->defs, rank);
    }
}

static void walk_range(void *arg, uint32_t worker, uint32_t range, struct wf_err *err)
{
    struct opening *o = arg;
    struct wf_otf2_walk *walk = &o->walks[range];

    (void)worker;
    wf_otf2_in_use(walk->in, err);
    for (uint32_t rank = first_of(o, range);
         rank < first_of(o, range + 1) && !wf_trace_failed(err); rank++) {
        wf_otf2_walk_rank(walk, rank, err);
        wf_spool_rank_ends(walk->spool, rank);
    }
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
    wf_trace_visit_all(o->n_workers, o->n_workers, sum_range, o, err);
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
    wf_trace_visit_all(o->n_workers, o->n_workers, walk_range, o, err);
    for (uint32_t i = 0; i < o->n_workers; i++) {
        wf_otf2_walk_end(&o->walks[i]);
    }
    out->records = wf_records_new(o->defs.n_ranks);
    wf_otf2_walk_names(out->records);
    wf_records_merge(out->records, records, o->n_workers);
    add_notes(o, out);
}

/* ---- the archive ---- */

/* Opens a reader for each worker. The first reads the definitions. */
static void open_readers(struct opening *o, struct wf_err *err)
{
    for (uint32_t i = 0; i < o->n_workers && !wf_trace_failed(err); i++) {
        o->walks[i] = (struct wf_otf2_walk){
            .path = o->path,
            .defs = &o->defs,
            .in = wf_otf2_in_open(o->path, &o->defs, err),
            .place = {.path = o->path, .counts = "event", .unit = "rank", .err = err}};
        o->n_workers = i == 0 ? wf_trace_workers(o->defs.n_ranks) : o->n_workers;
    }
}

/* Checks the files, since the library trusts them, and then reads them with it. */
static void read_archive(const char *path, const struct otf2_params *params,
                         struct wf_trace *out, struct wf_err *err)
{
    struct opening *o = wf_xcalloc(1, sizeof(*o));
    struct wf_spool *spool = NULL;

    o->path = path;
    o->n_workers = 1;
    wf_otf2_check_anchor(path, &o->layout, err);
    wf_otf2_check_definitions(path, &o->layout, err);
    open_readers(o, err);
    if (!wf_trace_failed(err)) {
        wf_otf2_metrics_use(&o->defs, params->metrics, path, err);
    }
    wf_trace_visit_all(o->defs.n_ranks, o->n_workers, check_rank, o, err);
    wf_trace_visit_all(o->n_workers, o->n_workers, open_range, o, err);
    if (!wf_trace_failed(err)) {
        read_sums(o, err);
    }
    if (!wf_trace_failed(err) &&
        wf_spool_new_parts(o->defs.n_ranks, o->n_workers, &spool, err) == WF_OK) {
        walk_all(o, spool, out, err);
    }
    (void)wf_spool_end(spool, "otf2", &out->source, err);
    for (uint32_t i = 0; i < o->n_workers; i++) {
        wf_otf2_sums_free(o->sums[i]);
        wf_otf2_in_close(o->walks[i].in);
    }
    wf_otf2_defs_fini(&o->defs);
    free(o);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    char *path = probe->is_directory ? wf_probe_path(probe, wf_probe_entry(probe, ENDING, NULL))
                                     : wf_xstrdup(probe->path);

    if (wf_otf2_has_library(path, err) == WF_OK) {
        read_archive(path, params, out, err);
    }
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
