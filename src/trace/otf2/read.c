/* SPDX-License-Identifier: Apache-2.0 */
/* OTF2: the archives of Score-P and others. */
#include "base/mem.h"
#include "trace/otf2/check.h"
#include "trace/otf2/walk.h"
#include "trace/reader.h"

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

static void add_notes(const struct wf_otf2_walk *walk, struct wf_trace *out)
{
    uint64_t others = 0;

    for (uint32_t rank = 0; rank < walk->defs->n_ranks; rank++) {
        others += wf_records_of(walk->records, rank, walk->names[WF_OTF2_OTHER]).n;
    }
    wf_trace_note_count(
        out, walk->n_equal,
        "collectives have lengths that may differ from rank to rank, of which an "
        "archive has the sums: they are taken as equal, or of alltoallv in "
        "proportion to what one rank sends and the other receives");
    wf_trace_note_count(
        out, walk->n_lost,
        walk->n_inter > 0 ? "messages and collectives are left out: their communicator is not "
                            "known, or between two groups"
                          : "messages and collectives are left out: their communicator is not "
                            "known");
    wf_trace_note_count(out, walk->n_unfinished,
                        "requests are left out, since they are never complete and so it is not "
                        "known what they were");
    if (walk->n_off > 0) {
        wf_trace_note(out,
                      "recording was switched off %" PRIu64 " times: what was sent then is "
                      "missing, and the time counts as computing",
                      walk->n_off);
    }
    wf_trace_note_count(out, walk->defs->n_others,
                        "threads that are no rank of MPI are not read");
    wf_trace_note_count(
        out, others,
        "events of other kinds (one-sided operations, files, threads) are passed over");
    wf_trace_note_count(out, walk->defs->n_gpu_events,
                        "events of GPU streams are not read: the ranks wait for kernels in "
                        "calls of their own, whose time is computing");
}

/* Checks the files, then opens the archive twice: the second reader reads ahead. */
static void read_archive(const char *path, struct wf_trace *out, struct wf_err *err)
{
    struct wf_otf2_layout layout = {.is_plain = false};
    struct wf_otf2_defs defs = {.resolution = 0};
    struct wf_otf2_sums *sums = NULL;
    struct wf_otf2_walk walk = {
        .defs = &defs, .place = {.path = path, .counts = "event", .unit = "rank", .err = err}};

    wf_otf2_check_anchor(path, &layout, err);
    wf_otf2_check_definitions(path, &layout, err);
    walk.in = wf_otf2_in_open(path, &defs, err);
    wf_otf2_check_ranks(path, &layout, &defs, err);
    wf_otf2_in_open_ranks(walk.in);
    walk.ahead = wf_otf2_in_open(path, &defs, err);
    wf_otf2_in_open_ranks(walk.ahead);
    if (!wf_trace_failed(err)) {
        sums = wf_otf2_sums_read(walk.ahead, &defs);
        walk.sums = sums;
    }
    if (!wf_trace_failed(err) && wf_spool_new(defs.n_ranks, &walk.spool, err) == WF_OK) {
        out->records = wf_records_new(defs.n_ranks);
        walk.records = out->records;
        wf_otf2_walk(&walk);
        add_notes(&walk, out);
    }
    (void)wf_spool_end(walk.spool, "otf2", &out->source, err);
    wf_otf2_sums_free(sums);
    wf_otf2_in_close(walk.ahead);
    wf_otf2_in_close(walk.in);
    wf_otf2_defs_fini(&defs);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    char *path = probe->is_directory ? wf_probe_path(probe, wf_probe_entry(probe, ENDING, NULL))
                                     : wf_xstrdup(probe->path);

    if (wf_otf2_has_library(path, err) == WF_OK) {
        read_archive(path, out, err);
    }
    free(path);
    return err->status;
}

const struct wf_reader_ops wf_otf2_reader_ops = {
    .name = "otf2",
    .summary = "OTF2 of Score-P and others: a directory, or its anchor file (.otf2)",
    .detect = detect,
    .open = open_trace,
};
