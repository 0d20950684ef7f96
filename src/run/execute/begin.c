/* SPDX-License-Identifier: Apache-2.0 */
/* The stages before a scenario is executed: its plan, and what the user should know. */
#include "run/execute/stages.h"

#include "base/clock.h"
#include "engine/hosts/comm.h"
#include "run/document/document.h"

#include <inttypes.h>
#include <stdio.h>

enum wf_status wf_stage_plan(struct wf_execution *x)
{
    enum wf_status status = wf_plan_init(&x->plan, x->scenario, x->err);

    x->planned = status == WF_OK;
    if (x->planned) {
        x->plan.engine.scheduler =
            wf_scheduler_choose(&x->plan.engine, wf_comm_size(x->host->world));
    }
    return status;
}

void wf_execution_fini(struct wf_execution *x)
{
    wf_execution_end_job(x);
    wf_sim_record_end(&x->record);
    if (x->planned) {
        wf_plan_fini(&x->plan);
    }
    x->planned = false;
}

static void report_skipped(const struct wf_sim_host *host, const struct wf_plan *plan)
{
    for (size_t i = 0; host->skipped != NULL && i < plan->scenario->n; i++) {
        const struct wf_setting *setting = &plan->scenario->settings[i];
        if (wf_plan_skips(plan, setting)) {
            host->skipped(host->skipped_arg, setting);
        }
    }
}

/* Waiting for a core costs more than it brings. */
static void note_cores(const struct wf_sim_host *host, const struct wf_plan *plan)
{
    uint64_t threads = plan->engine.threads;
    uint64_t processes = wf_comm_local_size(host->world);
    /* A launcher may have given each process cores of its own. */
    size_t cores = processes > 1 ? wf_clock_all_cores() : wf_clock_cores();
    char note[128];

    if (host->noted == NULL || threads * processes <= cores ||
        wf_scheduler_is_alone(plan->engine.scheduler)) {
        return;
    }
    if (processes == 1 && plan->engine.fit) {
        (void)snprintf(note, sizeof(note),
                       "of %" PRIu64 " threads at most %zu are used, one for each core; "
                       "-p engine.fit=no uses all",
                       threads, cores);
    } else {
        (void)snprintf(note, sizeof(note),
                       "%" PRIu64 " process%s of %" PRIu64 " thread%s share%s %zu core%s: "
                       "fewer are faster",
                       processes, processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
                       processes == 1 ? "s" : "", cores, cores == 1 ? "" : "s");
    }
    host->noted(host->noted_arg, note);
}

static void report_notes(const struct wf_sim_host *host, const struct wf_plan *plan)
{
    for (size_t i = 0; host->noted != NULL && i < plan->scenario->n_notes; i++) {
        host->noted(host->noted_arg, plan->scenario->notes[i]);
    }
    char words[512];
    if (host->noted != NULL && wf_sim_memory_lacks(plan, words, sizeof(words))) {
        host->noted(host->noted_arg, words);
    }
    note_cores(host, plan);
}

enum wf_status wf_stage_notes(struct wf_execution *x)
{
    report_skipped(x->host, &x->plan);
    report_notes(x->host, &x->plan);
    return WF_OK;
}
