/* SPDX-License-Identifier: Apache-2.0 */
/* Records a program that runs as a trace, if the host asks for one (run/execute/run.h). */

#include "engine/hosts/comm.h"
#include "model/ranks/cpu/cpu.h"
#include "mpi/vrank/recorder.h"
#include "program/trace/writer.h"
#include "run/execute/stages.h"

#include <weft/weft.h>

#include <stdio.h>
#include <string.h>

enum wf_status wf_sim_trace_out_format(const char *path, const struct wf_trace_writer_ops **out,
                                       struct wf_err *err)
{
    const char *slash = strrchr(path, '/');

    if (path[0] != '\0' && strchr(slash != NULL ? slash + 1 : path, '.') == NULL) {
        *out = &wf_native_writer_ops;
        return WF_OK;
    }
    enum wf_status status = wf_trace_writer_for_path(path, out, err);
    if (status == WF_OK && (*out)->add == NULL) {
        status = wf_err_set(err, WF_EUSAGE, "a %s cannot hold operations; .weft can",
                            (*out)->extension);
    }
    return status;
}

/* The recorded compute times include the processor speed that the user set. */
int64_t wf_sim_trace_out_duration(const void *out, int64_t ps)
{
    return wf_cpu_time(((const struct wf_trace_out *)out)->scale, ps);
}

static enum wf_status check_recordable(const struct wf_plan *plan,
                                       const struct wf_sim_host *host, struct wf_err *err)
{
    if (plan->n_jobs != 1 || !plan->jobs[0].program) {
        return wf_err_set(err, WF_EUSAGE,
                          "only a single program that runs can be recorded as a trace; 'weft "
                          "convert' writes other sources");
    }
    if (plan->core.until > 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "until: a program that is stopped leaves no trace that can be "
                          "replayed; record it to its end, and stop the replay");
    }
    if (wf_comm_size(host->world) > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "only one process can record a trace; start weft without mpirun, and "
                          "with --threads to use more cores");
    }
    return WF_OK;
}

enum wf_status wf_stage_trace(struct wf_execution *x)
{
    struct wf_sim_trace *what = x->host->trace;
    const struct wf_plan *plan = &x->plan;
    const struct wf_trace_writer_ops *ops = NULL;
    char words[256];

    if (what == NULL) {
        return WF_OK;
    }
    WF_TRY(check_recordable(plan, x->host, x->err));
    WF_TRY(wf_sim_trace_out_format(what->path, &ops, x->err));
    (void)snprintf(words, sizeof(words), "weft %s: %.200s", weft_version(),
                   plan->core.job.source);
    const struct wf_trace_writer_options options = {
        .n_ranks = plan->jobs[0].n_ranks,
        .force = what->force,
        .n_parts = what->parts,
        .creator = words,
    };
    WF_TRY(ops->create(what->path, &options, &x->trace.writer, x->err));
    const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");
    x->trace.writer->losses = &what->losses;
    x->trace.scale = wf_cpu_scale(cpu->scale);
    return WF_OK;
}

enum wf_status wf_stage_end_trace(struct wf_execution *x)
{
    struct wf_trace_writer *writer = x->trace.writer;
    struct wf_sim_trace *what = x->host->trace;
    enum wf_status status = x->status;

    if (writer == NULL) {
        return WF_OK;
    }
    x->trace.writer = NULL;
    WF_THEN(status, wf_vrank_recorder_finish(x->trace.recorder, x->err));
    if (status != WF_OK) {
        writer->ops->discard(writer);
        return status;
    }
    what->n_ops = wf_vrank_recorder_n_ops(x->trace.recorder);
    what->n_open = wf_vrank_recorder_n_unmatched(x->trace.recorder);
    return writer->ops->finish(writer, x->err);
}
