/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL schedules, written: one file, a nanosecond for a unit of local work. */
#include "base/mem.h"
#include "trace/goal/out.h"
#include "trace/kit/spool.h"
#include "trace/kit/target.h"
#include "trace/writer.h"

#include <stdlib.h>

/* A rank is written in one piece; ops may come in any order of ranks. So they wait in a spool
 * until all are there. */
struct goal {
    struct wf_trace_writer writer;
    struct wf_target *target;
    FILE *out;
    struct wf_spool *spool; /* null: tasks are written */
};

static void discard(struct wf_trace_writer *writer)
{
    struct goal *goal = (struct goal *)writer;

    wf_spool_discard(goal->spool);
    if (goal->out != NULL) {
        (void)fclose(goal->out);
    }
    wf_target_discard(goal->target);
    free(goal);
}

static enum wf_status create(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **result, struct wf_err *err)
{
    struct wf_target *target = NULL;

    if (options->n_parts > 0) {
        return wf_err_set(err, WF_EUSAGE, "a .goal is one file; parts are for .weft");
    }
    enum wf_status status = wf_target_open(path, false, options->force, &target, err);
    if (status != WF_OK) {
        return status;
    }
    struct goal *goal = wf_xcalloc(1, sizeof(*goal));
    goal->writer.ops = &wf_goal_writer_ops;
    goal->target = target;
    goal->out = wf_target_create(target, "");
    if (goal->out == NULL) {
        status = wf_target_cannot_write(target, err);
    } else if (!options->tasks) {
        status = wf_spool_new(options->n_ranks, &goal->spool, err);
    }
    if (status != WF_OK) {
        discard(&goal->writer);
        return status;
    }
    *result = &goal->writer;
    return WF_OK;
}

static enum wf_status group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                            const struct wf_group *of, struct wf_err *err)
{
    struct wf_trace_writer *spool = wf_spool_writer(((struct goal *)writer)->spool);

    return spool->ops->group(spool, rank, comm, of, err);
}

static enum wf_status add(struct wf_trace_writer *writer, uint32_t rank, const struct wf_op *op,
                          struct wf_err *err)
{
    return wf_spool_op(((struct goal *)writer)->spool, rank, op, err);
}

static enum wf_status add_graph(struct wf_trace_writer *writer, const struct wf_graph *graph,
                                uint64_t *n_tasks, struct wf_err *err)
{
    struct goal *goal = (struct goal *)writer;

    *n_tasks = 0;
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        *n_tasks += graph->ops->n_tasks(graph, pe);
    }
    return wf_goal_put_graph(goal->out, graph, writer->losses, err);
}

static enum wf_status finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct goal *goal = (struct goal *)writer;
    enum wf_status status = WF_OK;

    if (goal->spool != NULL) {
        struct wf_source *source = NULL;
        status = wf_spool_source(goal->spool, "goal", &source, err);
        goal->spool = NULL;
        if (status == WF_OK) {
            status = wf_goal_put_source(goal->out, source, writer->losses, err);
        }
        wf_source_free(source);
    }
    if (status == WF_OK) {
        bool failed = ferror(goal->out) != 0;
        failed = fclose(goal->out) != 0 || failed;
        goal->out = NULL;
        status = failed ? wf_target_cannot_write(goal->target, err)
                        : wf_target_commit(goal->target, err);
        goal->target = failed ? goal->target : NULL;
    }
    discard(writer);
    return status;
}

const struct wf_trace_writer_ops wf_goal_writer_ops = {
    .name = "goal",
    .extension = ".goal",
    .summary = "GOAL schedules of LogGOPSim: messages and local work in nanoseconds",
    .lacks = "collectives, names, communicators other than the world, recorded times, times "
             "below a nanosecond; tasks that send may be interrupted where they do",
    .create = create,
    .group = group,
    .add = add,
    .add_graph = add_graph,
    .finish = finish,
    .discard = discard,
};
