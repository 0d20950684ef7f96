/* SPDX-License-Identifier: Apache-2.0 */
/* CLOG2: the logs of MPE. */
#include "program/trace/clog2/walk.h"
#include "program/trace/reader.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "CLOG-"

static bool detect(const struct wf_reader_probe *probe)
{
    if (probe->is_directory) {
        size_t n = 0;
        unsigned char bytes[sizeof(MAGIC)];
        const char *name = wf_probe_entry(probe, ".clog2", &n);
        return n == 1 && wf_probe_read(probe, name, bytes, sizeof(bytes)) == sizeof(bytes) &&
               memcmp(bytes, MAGIC, strlen(MAGIC)) == 0;
    }
    return probe->n >= strlen(MAGIC) && memcmp(probe->bytes, MAGIC, strlen(MAGIC)) == 0;
}

static void add_notes(const struct wf_clog2_tables *tables, struct wf_trace *out)
{
    wf_trace_note(out, "a log of this format does not say which request a wait is for: it is "
                       "read as the oldest one");
    wf_trace_note_count(out, tables->n_collectives,
                        "collectives are in the log without sizes and roots: they are read as "
                        "calls with their time, without messages");
    wf_trace_note_count(out, tables->n_lost,
                        "messages are left out, since their peer is not known");
    wf_trace_note_count(
        out, tables->n_between,
        "messages are between the two groups of a communicator: they are read as "
        "messages of the world with the same tags");
}

static void read_log(const char *path, struct wf_trace *out, struct wf_err *err)
{
    struct wf_clog2_tables tables = {.n_states = 0};
    struct wf_spool *spool = NULL;
    struct wf_clog2_file file;

    wf_clog2_open(&file, path, err);
    if (!wf_trace_failed(err)) {
        out->records = wf_records_new(file.n_ranks);
        tables.records = out->records;
        wf_clog2_survey(&file, &tables);
    }
    if (!wf_trace_failed(err) && wf_spool_new(file.n_ranks, &spool, err) == WF_OK) {
        wf_clog2_walk(&file, &tables, spool);
        add_notes(&tables, out);
    }
    (void)wf_spool_end(spool, "clog2", &out->source, err);
    wf_clog2_tables_fini(&tables);
    wf_clog2_close(&file);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    char *path = probe->is_directory
                     ? wf_probe_path(probe, wf_probe_entry(probe, ".clog2", NULL))
                     : NULL;

    read_log(path != NULL ? path : probe->path, out, err);
    free(path);
    return err->status;
}

const struct wf_reader_ops wf_clog2_reader_ops = {
    .name = "clog2",
    .summary = "CLOG2 of MPE: one file",
    .detect = detect,
    .open = open_trace,
};
