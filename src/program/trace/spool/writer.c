/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/spool/writer.h"

#include "base/guard.h"
#include "base/mem.h"
#include "program/trace/spool/spool.h"

#include <stdlib.h>

struct spooled {
    struct wf_trace_writer writer;
    const struct wf_spooled_format *format;
    struct wf_sheet sheet;
    struct wf_spool *spool; /* null if a graph is written */
    char *path, *creator;
};

static struct spooled *spooled_of(struct wf_trace_writer *writer)
{
    return (struct spooled *)writer;
}

void wf_spooled_discard(struct wf_trace_writer *writer)
{
    struct spooled *own = spooled_of(writer);

    wf_spool_discard(own->spool);
    if (own->sheet.file != NULL) {
        (void)wf_fclose(own->sheet.file);
    }
    wf_target_discard(own->sheet.target);
    free(own->path);
    free(own->creator);
    free(own);
}

static enum wf_status check_parts(const struct wf_spooled_format *format,
                                  const struct wf_trace_writer_options *options,
                                  struct wf_err *err)
{
    if (options->n_parts == 0 || format->sheet == WF_SHEET_EITHER) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EUSAGE, "a %s %s; parts are for .weft", format->ops->extension,
                      format->sheet == WF_SHEET_FILE ? "is one file"
                                                     : "has a file for each rank");
}

enum wf_status wf_spooled_create(const struct wf_spooled_format *format, const char *path,
                                 const struct wf_trace_writer_options *options,
                                 struct wf_trace_writer **out, struct wf_err *err)
{
    bool directory = format->sheet == WF_SHEET_DIRECTORY || options->n_parts > 0;
    struct wf_target *target = NULL;
    FILE *file = NULL;

    WF_TRY(check_parts(format, options, err));
    WF_TRY(directory ? wf_target_open(path, true, options->force, &target, err)
                     : wf_target_open_file(path, options->force, &target, &file, err));
    struct spooled *own = wf_xcalloc(1, sizeof(*own));
    own->writer.ops = format->ops;
    own->format = format;
    own->path = wf_xstrdup(path);
    own->creator = options->creator != NULL ? wf_xstrdup(options->creator) : NULL;
    own->sheet = (struct wf_sheet){.target = target,
                                   .file = file,
                                   .path = own->path,
                                   .creator = own->creator,
                                   .n_ranks = options->n_ranks};
    if (!options->tasks) {
        enum wf_status status = wf_spool_new(options->n_ranks, &own->spool, err);
        if (status != WF_OK) {
            wf_spooled_discard(&own->writer);
            return status;
        }
    }
    *out = &own->writer;
    return WF_OK;
}

void wf_spooled_name(struct wf_trace_writer *writer, enum wf_source_name kind, uint32_t number,
                     const char *name)
{
    wf_spool_name(spooled_of(writer)->spool, kind, number, name);
}

enum wf_status wf_spooled_group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                                const struct wf_group *group, struct wf_err *err)
{
    return wf_spool_tell(spooled_of(writer)->spool, rank, comm, group, err);
}

enum wf_status wf_spooled_add(struct wf_trace_writer *writer, uint32_t rank,
                              const struct wf_op *op, struct wf_err *err)
{
    return wf_spool_add(spooled_of(writer)->spool, rank, op, err);
}

enum wf_status wf_spooled_add_graph(struct wf_trace_writer *writer,
                                    const struct wf_graph *graph, uint64_t *n_tasks,
                                    struct wf_err *err)
{
    struct spooled *own = spooled_of(writer);

    *n_tasks = 0;
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        *n_tasks += graph->ops->n_tasks(graph, pe);
    }
    own->sheet.losses = writer->losses;
    return own->format->write_graph(&own->sheet, graph, err);
}

static enum wf_status write_ops(struct spooled *own, struct wf_err *err)
{
    struct wf_source *source = NULL;
    struct wf_spool *spool = own->spool;

    own->spool = NULL;
    own->sheet.losses = own->writer.losses;
    WF_TRY(wf_spool_source(spool, own->format->ops->name, &source, err));
    enum wf_status status = own->format->write(&own->sheet, source, err);
    wf_source_free(source);
    return status;
}

/* Closes the file, if there is one, which then has everything that was written to it. */
static enum wf_status close_file(struct spooled *own, struct wf_err *err)
{
    FILE *file = own->sheet.file;

    if (file == NULL) {
        return WF_OK;
    }
    bool failed = ferror(file) != 0;
    failed = wf_fclose(file) != 0 || failed;
    own->sheet.file = NULL;
    return failed ? wf_target_cannot_write(own->sheet.target, err) : WF_OK;
}

enum wf_status wf_spooled_finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct spooled *own = spooled_of(writer);
    enum wf_status status = own->spool != NULL ? write_ops(own, err) : WF_OK;

    WF_THEN(status, close_file(own, err));
    if (status == WF_OK) {
        status = wf_target_commit(own->sheet.target, err);
        own->sheet.target = NULL;
    }
    wf_spooled_discard(writer);
    return status;
}
