/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/job.h"

#include "base/mem.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/ranks.h"
#include "model/ranks/tasks/pe.h"
#include "model/traffic/traffic.h"
#include "run/document/document.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void wf_job_init(struct wf_job *job, const struct wf_plan *plan)
{
    *job = (struct wf_job){
        .ops = plan->bench != NULL           ? &wf_job_bench
               : plan->pattern != NULL       ? &wf_job_traffic
               : plan->jobs[0].graph != NULL ? &wf_job_graph
                                             : &wf_job_replay,
        .plan = plan,
        .seed = plan->core.seed,
    };
    job->described = wf_xcalloc(plan->n_jobs + 1, sizeof(*job->described));
}

void wf_setup_fini(struct wf_setup *setup)
{
    wf_ranks_free(setup->ranks);
    wf_pes_free(setup->pes);
    wf_net_free(setup->net);
    memset(setup, 0, sizeof(*setup));
}

void wf_job_fini(struct wf_job *job)
{
    wf_setup_fini(&job->setup);
    wf_traffic_free(job->traffic);
    wf_placement_release(&job->place);
    wf_cpu_rules_free(job->rules);
    free(job->cpu.roofline.counted);
    free(job->ideal);
    free(job->free_network);
    free(job->described);
    wf_spill_files_free(job->spill);
    memset(job, 0, sizeof(*job));
}

/* Redirects the standard output to /dev/null, so that programs print only once. Returns the file
 * descriptor to restore; -1 if no program runs: then several runs may share the process. */
static int silence(const struct wf_plan *plan)
{
    if (!wf_plan_runs_programs(plan)) {
        return -1;
    }
    (void)fflush(stdout);
    int before = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (before >= 0 && nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
    }
    if (nowhere >= 0) {
        (void)close(nowhere);
    }
    return before;
}

static void speak(int before)
{
    if (before >= 0) {
        (void)fflush(stdout);
        (void)dup2(before, STDOUT_FILENO);
        (void)close(before);
    }
}

enum wf_status wf_job_run_again(const struct wf_job *job, const struct wf_job_again *again,
                                struct wf_setup *setup, struct wf_err *err)
{
    struct wf_engine *engine = wf_engine_new(again->config, again->world);
    struct wf_run run = {.threads = 0};
    enum wf_status status = job->ops->build(job, engine, setup, err);

    if (status == WF_OK) {
        int before = silence(job->plan);
        status = wf_engine_run(engine, &run, err);
        speak(before);
    }
    if (status == WF_OK && wf_comm_rank(again->world) == 0) {
        /* The tally of every kind of replay begins with a struct wf_ranks_tally. */
        const struct wf_ranks_tally *tally = wf_engine_tally_get(engine);
        if (tally->unfinished == 0 && tally->timeless == 0) {
            again->ended(again->arg, tally, &run);
        }
    }
    wf_engine_free(engine);
    return status == WF_EINTR ? WF_OK : status;
}
