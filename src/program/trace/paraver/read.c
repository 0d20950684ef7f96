/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Paraver traces. */
#include "program/trace/paraver/paraver.h"

#include <stdlib.h>

static bool detect(const struct wf_reader_probe *probe)
{
    return !probe->is_directory && probe->n > 10 && memcmp(probe->bytes, "#Paraver (", 10) == 0;
}

static void release(struct wf_paraver_reading *r)
{
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        free(r->tasks[rank].items);
    }
    free(r->tasks);
    free(r->messages);
    wf_strings_fini(&r->names);
    wf_map_fini(&r->values);
    wf_paraver_colls_fini(&r->colls);
    wf_intext_close(&r->file);
}

static void add_notes(const struct wf_paraver_reading *r, struct wf_trace *out)
{
    if (!r->has_calls) {
        wf_trace_note(out, "no event is a call of MPI: ranks compute while they are in the "
                           "state Running, and send and receive when messages say so");
    }
    const struct wf_paraver_colls *colls = &r->colls;
    const struct {
        uint64_t n;
        const char *text;
    } notes[] = {
        {colls->n_unsized,
         "collectives without recorded sizes are read as calls that take their time"},
        {colls->n_unknown_comms,
         "collectives on communicators whose members are not recorded are read as calls that "
         "take their time"},
        {colls->n_partial, "collectives that not all members of the communicator have called "
                           "are read as calls that "
                           "take their time"},
        {colls->n_equal, "collectives with a list of lengths are read with equal lengths"},
        {colls->n_rootless,
         "collectives of which no root is recorded are read with the first member as root"},
        {r->n_nonblocking, "nonblocking collectives are read as calls without messages"},
        {r->n_bursts, "spans are recorded in the mode CPU Bursts, without calls and messages, "
                      "and count as computing"},
        {r->n_flushes, "flushes of the tracer's buffer are left out"},
        {r->n_threads, "records of further threads are left out"},
        {r->n_applications, "records of further applications are left out"},
    };
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        wf_trace_note_count(out, notes[i].n, notes[i].text);
    }
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    struct wf_paraver_reading r = {.err = err};

    wf_paraver_names_read(&r, probe->path);
    if (!wf_trace_failed(err) && wf_intext_open(&r.file, probe->path, err) == WF_OK) {
        r.file.place.unit = "rank";
        wf_paraver_records_read(&r, out);
    }
    if (!wf_trace_failed(err) && wf_spool_new(r.n_ranks, &r.spool, err) == WF_OK) {
        wf_paraver_ops_write(&r);
        add_notes(&r, out);
    }
    (void)wf_spool_end(r.spool, "paraver", &out->source, err);
    release(&r);
    return err->status;
}

const struct wf_reader_ops wf_paraver_reader_ops = {
    .name = "paraver",
    .summary = "Paraver traces with communications: a .prv file",
    .detect = detect,
    .open = open_trace,
};
