/* SPDX-License-Identifier: Apache-2.0 */
/* OTF2, written: a directory with the archive in it. */
#include "base/mem.h"
#include "trace/kit/spool.h"
#include "trace/kit/target.h"
#include "trace/otf2/put.h"
#include "trace/writer.h"

#include <stdlib.h>

/* The library holds a large buffer for each location that is open, so that ranks are written
 * one after the other; until all ops are there they wait in a spool. */
struct otf2 {
    struct wf_trace_writer writer;
    struct wf_target *target;
    struct wf_otf2_out *out;
    struct wf_spool *spool;
};

static void discard(struct wf_trace_writer *writer)
{
    struct otf2 *otf2 = (struct otf2 *)writer;

    wf_spool_discard(otf2->spool);
    wf_otf2_out_discard(otf2->out);
    wf_target_discard(otf2->target);
    free(otf2);
}

static enum wf_status create(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **result, struct wf_err *err)
{
    struct wf_target *target = NULL;

    if (options->n_parts > 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "a .otf2 has a file for each rank; parts are for "
                          ".weft");
    }
    enum wf_status status = wf_target_open(path, true, options->force, &target, err);
    if (status != WF_OK) {
        return status;
    }
    struct otf2 *otf2 = wf_xcalloc(1, sizeof(*otf2));
    otf2->writer.ops = &wf_otf2_writer_ops;
    otf2->target = target;
    status = wf_otf2_out_open(wf_target_place(target), options->n_ranks, options->creator,
                              &otf2->out, err);
    if (status == WF_OK) {
        status = wf_spool_new(options->n_ranks, &otf2->spool, err);
    }
    if (status != WF_OK) {
        discard(&otf2->writer);
        return status;
    }
    *result = &otf2->writer;
    return WF_OK;
}

static struct wf_trace_writer *spool_of(struct wf_trace_writer *writer)
{
    return wf_spool_writer(((struct otf2 *)writer)->spool);
}

static void name_of(struct wf_trace_writer *writer, enum wf_source_name kind, uint32_t number,
                    const char *name)
{
    spool_of(writer)->ops->name_of(spool_of(writer), kind, number, name);
}

static enum wf_status group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                            const struct wf_group *of, struct wf_err *err)
{
    return spool_of(writer)->ops->group(spool_of(writer), rank, comm, of, err);
}

static enum wf_status add(struct wf_trace_writer *writer, uint32_t rank, const struct wf_op *op,
                          struct wf_err *err)
{
    return wf_spool_op(((struct otf2 *)writer)->spool, rank, op, err);
}

static enum wf_status finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct otf2 *otf2 = (struct otf2 *)writer;
    struct wf_source *source = NULL;

    enum wf_status status = wf_spool_source(otf2->spool, "otf2", &source, err);
    otf2->spool = NULL;
    if (status == WF_OK) {
        status = wf_otf2_put_source(otf2->out, source, writer->losses, err);
    }
    wf_source_free(source);
    if (status == WF_OK) {
        status = wf_otf2_out_finish(otf2->out, err);
        otf2->out = NULL;
    }
    if (status == WF_OK) {
        status = wf_target_commit(otf2->target, err);
        otf2->target = NULL;
    }
    discard(writer);
    return status;
}

const struct wf_trace_writer_ops wf_otf2_writer_ops = {
    .name = "otf2",
    .extension = ".otf2",
    .summary = "OTF2 through its library: a directory with traces.otf2 and its files",
    .lacks = "times within calls, lengths that differ in a collective, counters, recorded "
             "times, what reductions reduce with",
    .create = create,
    .name_of = name_of,
    .group = group,
    .add = add,
    .finish = finish,
    .discard = discard,
};
