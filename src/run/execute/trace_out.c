/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/trace_out.h"

#include "engine/hosts/comm.h"
#include "model/ranks/cpu/cpu.h"
#include "mpi/vrank/recorder.h"
#include "program/trace/writer.h"

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

static enum wf_status check(const struct wf_plan *plan, const struct wf_sim_host *host,
                            struct wf_err *err)
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

enum wf_status wf_sim_trace_out_begin(struct wf_trace_out *out, struct wf_plan *plan,
                                      const struct wf_sim_host *host, struct wf_err *err)
{
    const struct wf_trace_writer_ops *ops = NULL;
    char words[256];

    *out = (struct wf_trace_out){.what = host->trace};
    if (host->trace == NULL) {
        return WF_OK;
    }
    WF_TRY(check(plan, host, err));
    WF_TRY(wf_sim_trace_out_format(host->trace->path, &ops, err));
    (void)snprintf(words, sizeof(words), "weft %s: %.200s", weft_version(),
                   plan->core.job.source);
    const struct wf_trace_writer_options options = {
        .n_ranks = plan->jobs[0].n_ranks,
        .force = host->trace->force,
        .n_parts = host->trace->parts,
        .creator = words,
    };
    enum wf_status status = ops->create(host->trace->path, &options, &out->writer, err);
    if (status == WF_OK) {
        const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");

        out->writer->losses = &host->trace->losses;
        out->scale = wf_cpu_scale(cpu->scale);
    }
    return status;
}

enum wf_status wf_sim_trace_out_end(struct wf_trace_out *out, enum wf_status status,
                                    struct wf_err *err)
{
    if (out->writer == NULL) {
        return status;
    }
    struct wf_trace_writer *writer = out->writer;

    out->writer = NULL;
    if (status == WF_OK) {
        status = wf_vrank_recorder_finish(out->recorder, err);
    }
    if (status != WF_OK) {
        writer->ops->discard(writer);
        return status;
    }
    out->what->n_ops = wf_vrank_recorder_n_ops(out->recorder);
    out->what->n_open = wf_vrank_recorder_n_unmatched(out->recorder);
    return writer->ops->finish(writer, err);
}
