/* SPDX-License-Identifier: Apache-2.0 */
/* What a program achieved, if its source knows what it does: bandwidths of a collective, figures
 * of a training step. */
#include "run/document/document.h"

#include "base/result/doc.h"
#include "model/ranks/tally.h"
#include "program/ops/source.h"

static const double ps_per_second = 1e12;

/* The bandwidths that nccl-tests prints. */
static void add_collective(struct wf_value *result, const struct wf_source_work *work,
                           double time)
{
    struct wf_value *section = wf_doc_section(result, "collective");
    double rate = (double)work->bytes / time * ps_per_second;

    wf_doc_text(section, "collective", work->collective);
    wf_doc_count(section, "bytes", work->bytes);
    wf_doc_measured(section, "time_ps", time, 0);
    wf_doc_measured(section, "algorithm_bytes_per_second", rate, 0);
    wf_doc_measured(section, "bus_bytes_per_second", rate * work->bus_share, 0);
}

static double percent(double part, double whole)
{
    return 100 * part / whole;
}

/* Of the rank that needs most. */
static void add_memory(struct wf_value *training, const struct wf_source_memory *memory,
                       uint64_t device)
{
    struct wf_value *section = wf_doc_section(training, "memory");

    wf_doc_count(section, "weights_bytes", memory->weights);
    wf_doc_count(section, "gradients_bytes", memory->gradients);
    wf_doc_count(section, "optimizer_bytes", memory->optimizer);
    wf_doc_count(section, "activations_bytes", memory->activations);
    wf_doc_count(section, "cache_bytes", memory->cache);
    wf_doc_count(section, "total_bytes", wf_source_memory_sum(memory));
    if (device > 0) {
        wf_doc_count(section, "device_bytes", device);
    }
}

static void add_training(struct wf_value *result, const struct wf_source_work *work,
                         const struct wf_document_jobs *jobs, uint32_t job,
                         const struct wf_job_tally *tally)
{
    enum { DECIMALS = 3 };
    struct wf_value *section = wf_doc_section(result, "training");
    double whole = (double)(tally->finish.max - jobs->of[job].start);
    double step = whole / (double)work->repeats, seconds = step / ps_per_second;
    double devices = (double)jobs->of[job].source->n_ranks * jobs->of[job].fold.copies;
    double peak = work->is_8bit ? jobs->peak8 : jobs->peak16;
    double compute = (double)wf_stat_mean(&tally->compute);
    double messages = (double)wf_stat_mean(&tally->wait[WF_IN_SEND]) +
                      (double)wf_stat_mean(&tally->wait[WF_IN_RECV]);
    double rate = (double)work->tokens / seconds;

    wf_doc_count(section, "steps", work->repeats);
    if (work->framework != NULL) {
        wf_doc_text(section, "framework", work->framework);
        wf_doc_text(section, "recompute", work->recompute);
    }
    if (work->kernels != NULL) {
        struct wf_value *kernels = wf_doc_section(section, "kernels");
        wf_doc_text(kernels, "file", work->kernels);
        wf_doc_measured(kernels, "measured_percent", 100 * work->kernels_measured, DECIMALS);
        wf_doc_measured(kernels, "scaled_percent", 100 * work->kernels_scaled, DECIMALS);
    }
    wf_doc_measured(section, "step_ps", step, 0);
    wf_doc_count(section, "tokens_per_step", work->tokens);
    wf_doc_measured(section, "tokens_per_second", rate, DECIMALS);
    wf_doc_measured(section, "tokens_per_second_and_device", rate / devices, DECIMALS);
    wf_doc_measured(section, "model_tflops_per_device",
                    rate / devices * (double)work->flops_per_token / 1e12, DECIMALS);
    if (peak > 0) {
        wf_doc_measured(section, "mfu_percent",
                        percent(rate / devices * (double)work->flops_per_token, peak),
                        DECIMALS);
    }
    wf_doc_measured(section, "compute_percent", percent(compute, whole), DECIMALS);
    /* Pipelines wait in receives and at the end of a step; all else that is not computing is
     * communication that nothing hides. */
    double idle = whole - (double)wf_stat_mean(&tally->finish) + (double)jobs->of[job].start;
    double bubble = messages + (idle > 0 ? idle : 0);
    double exposed = whole - compute - bubble;
    wf_doc_measured(section, "bubble_percent", percent(bubble, whole), DECIMALS);
    wf_doc_measured(section, "exposed_communication_percent",
                    percent(exposed > 0 ? exposed : 0, whole), DECIMALS);
    add_memory(section, &work->memory, jobs->memory);
}

void wf_document_work(struct wf_value *result, const struct wf_document_jobs *jobs,
                      uint32_t job, const struct wf_job_tally *tally)
{
    struct wf_source_work work = {.repeats = 0};

    if (jobs->of[job].source == NULL || !wf_source_work(jobs->of[job].source, &work) ||
        work.repeats == 0 || tally->finish.max <= jobs->of[job].start) {
        return;
    }
    if (work.collective != NULL) {
        add_collective(result, &work,
                       (double)(tally->finish.max - jobs->of[job].start) /
                           (double)work.repeats);
    } else {
        add_training(result, &work, jobs, job, tally);
    }
}
