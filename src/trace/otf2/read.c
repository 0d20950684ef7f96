/* SPDX-License-Identifier: Apache-2.0 */
/* OTF2: the archives of Score-P and others. */
#include "base/mem.h"
#include "trace/otf2/scan.h"
#include "trace/otf2/walk.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (walk->n_equal > 0) {
        wf_trace_note(out,
                      "%" PRIu64 " collectives have lengths that may differ from rank to rank, "
                      "of which an archive has the sums: they are taken as equal, or of "
                      "alltoallv in proportion to what one rank sends and the other receives",
                      walk->n_equal);
    }
    if (walk->n_lost > 0) {
        wf_trace_note(out,
                      "%" PRIu64
                      " messages and collectives are left out: their communicator is "
                      "not known%s",
                      walk->n_lost, walk->n_inter > 0 ? ", or between two groups" : "");
    }
    if (walk->n_unfinished > 0) {
        wf_trace_note(out,
                      "%" PRIu64 " requests are left out, since they are never complete and so "
                      "it is not known what they were",
                      walk->n_unfinished);
    }
    if (walk->n_off > 0) {
        wf_trace_note(out,
                      "recording was switched off %" PRIu64 " times: what was sent then is "
                      "missing, and the time counts as computing",
                      walk->n_off);
    }
    if (walk->defs->n_others > 0) {
        wf_trace_note(out, "%" PRIu32 " threads that are no rank of MPI are not read",
                      walk->defs->n_others);
    }
    uint64_t others = 0;
    for (uint32_t rank = 0; rank < walk->defs->n_ranks; rank++) {
        others += wf_records_of(walk->records, rank, walk->names[WF_OTF2_OTHER]).n;
    }
    if (others > 0) {
        wf_trace_note(out,
                      "%" PRIu64
                      " events of other kinds (one-sided operations, files, threads, "
                      "metrics) are passed over",
                      others);
    }
}

/* Opens the archive twice, of which one reads ahead, when its files were looked through. */
static enum wf_status open_archive(const char *path, const struct wf_otf2_layout *layout,
                                   struct wf_otf2_defs *defs, struct wf_otf2_walk *walk)
{
    enum wf_status status = wf_otf2_scan_definitions(path, layout, walk->err);

    if (status == WF_OK) {
        status = wf_otf2_in_open(path, defs, &walk->in, walk->err);
    }
    if (status == WF_OK) {
        status = wf_otf2_scan_ranks(path, layout, defs, walk->err);
    }
    if (status == WF_OK) {
        status = wf_otf2_in_open_ranks(walk->in, walk->err);
    }
    if (status == WF_OK) {
        status = wf_otf2_in_open(path, defs, &walk->ahead, walk->err);
    }
    return status == WF_OK ? wf_otf2_in_open_ranks(walk->ahead, walk->err) : status;
}

/* Whether a text names the anchor file or one of those that are called like it. */
static bool names_archive(const char *text, const char *path)
{
    char stem[256];

    (void)snprintf(stem, sizeof(stem), "%.200s", path);
    char *dot = strrchr(stem, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
    return strstr(text, stem) != NULL;
}

static enum wf_status read_archive(const char *path, const struct wf_otf2_layout *layout,
                                   struct wf_trace *out, struct wf_err *err)
{
    struct wf_otf2_defs defs = {.resolution = 0};
    struct wf_otf2_walk walk = {.defs = &defs, .err = err};

    struct wf_otf2_sums *sums = NULL;

    enum wf_status status = open_archive(path, layout, &defs, &walk);
    if (status == WF_OK) {
        status = wf_otf2_sums_read(walk.ahead, &defs, &sums, err);
        walk.sums = sums;
    }
    if (status == WF_OK) {
        out->records = wf_records_new(defs.n_ranks);
        walk.records = out->records;
        status = wf_spool_new(defs.n_ranks, &walk.spool, err);
    }
    if (status == WF_OK) {
        status = wf_otf2_walk(&walk);
    }
    if (status == WF_OK) {
        status = wf_spool_source(walk.spool, "otf2", &out->source, err);
        add_notes(&walk, out);
    } else {
        wf_spool_discard(walk.spool);
        if (!names_archive(err->text, path)) {
            wf_err_prefix(err, "%.200s: ", path);
        }
    }
    wf_otf2_sums_free(sums);
    wf_otf2_in_close(walk.ahead);
    wf_otf2_in_close(walk.in);
    wf_otf2_defs_fini(&defs);
    return status;
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    char *path = probe->is_directory ? wf_probe_path(probe, wf_probe_entry(probe, ENDING, NULL))
                                     : wf_xstrdup(probe->path);

    struct wf_otf2_layout layout = {.is_plain = false};

    (void)params;
    enum wf_status status = wf_otf2_check(path, err);
    if (status == WF_OK) {
        status = wf_otf2_check_anchor(path, &layout, err);
    }
    if (status == WF_OK) {
        status = read_archive(path, &layout, out, err);
    }
    free(path);
    return status;
}

const struct wf_reader_ops wf_otf2_reader_ops = {
    .name = "otf2",
    .summary = "OTF2 of Score-P and others: a directory, or its anchor file (.otf2)",
    .detect = detect,
    .open = open_trace,
};
