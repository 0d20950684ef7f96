/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic traffic on routers, in lock step on a GPU. */
#include "base/clock.h"
#include "base/mem.h"
#include "model/net/router/gpu/gpu.h"
#include "model/net/router/lockstep/device.h"
#include "model/traffic/traffic.h"
#include "run/execute/executor.h"

#include <stdlib.h>
#include <string.h>

static struct wf_lockstep_config config_of(const struct wf_job *job)
{
    return (struct wf_lockstep_config){
        .net = job->setup.net, .traffic = job->traffic, .device = true};
}

static enum wf_status gpu_accepts(const struct wf_job *job, struct wf_err *err)
{
    const struct wf_lockstep_config config = config_of(job);
    struct wf_gpu *gpu = NULL;

    WF_TRY(wf_lockstep_check(&config, err));
    WF_TRY(wf_gpu_open(job->plan->device, &gpu, err));
    wf_gpu_close(gpu);
    return WF_OK;
}

/* ---- running ---- */

/* Tells the host how far all jobs are. */
struct told {
    const struct wf_sim_host *host;
    const struct wf_job *job; /* any */
};

static void tell(void *arg, double fraction)
{
    const struct told *told = arg;
    const struct wf_sim_progress progress = {
        .fraction = fraction,
        .time_ps = (int64_t)(fraction * (double)wf_traffic_end(told->job->traffic))};

    told->host->progress(told->host->progress_arg, &progress);
}

/* What the document tells of the run. All jobs ran together: each has the whole time. */
static void describe_run(struct wf_executor_job *job, const struct wf_lockstep_result *result,
                         const struct wf_gpu_facts *facts, double wall, double cpu)
{
    const struct wf_traffic_params *set = wf_plan_values(job->job->plan, "traffic");

    job->run = (struct wf_run){.time = (int64_t)result->cycle * set->cycle,
                               .wall_seconds = wall,
                               .cpu_seconds = cpu,
                               .threads = 1,
                               .processes = 1,
                               .exec = WF_EXEC_GPU};
    memcpy(job->run.device, facts->name, WF_RUN_DEVICE_MAX - 1);
}

static void run_tasks(struct wf_executor_job *const *jobs, size_t n,
                      const struct wf_sim_host *host, struct wf_gpu *gpu)
{
    struct wf_lockstep_task *tasks = wf_xcalloc(n, sizeof(*tasks));
    struct wf_lockstep_result *results = wf_xcalloc(n, sizeof(*results));
    struct wf_lockstep **lockstep = wf_xcalloc(n, sizeof(struct wf_lockstep *));
    struct told told = {.host = host, .job = jobs[0]->job};
    const struct wf_lockstep_device_run run = {
        .gpu = gpu,
        .stop = host->stop,
        .progress = host->progress != NULL ? tell : NULL,
        .progress_arg = &told,
    };
    struct wf_gpu_facts facts = {.name = ""};
    size_t n_tasks = 0;

    for (size_t i = 0; i < n; i++) {
        const struct wf_lockstep_config config = config_of(jobs[i]->job);
        jobs[i]->status = wf_lockstep_new(&config, &lockstep[n_tasks], &jobs[i]->err);
        results[i].tally = jobs[i]->tally;
        if (jobs[i]->status == WF_OK) {
            tasks[n_tasks] =
                (struct wf_lockstep_task){.lockstep = lockstep[n_tasks], .result = &results[i]};
            n_tasks++;
        }
    }
    (void)gpu->ops->facts(gpu, &facts, NULL);
    wf_executor_running(host, true);
    double wall = wf_clock_wall(), cpu = wf_clock_cpu();
    wf_lockstep_device_run(&run, tasks, n_tasks);
    wall = wf_clock_wall() - wall;
    cpu = wf_clock_cpu() - cpu;
    wf_executor_running(host, false);
    for (size_t i = 0; i < n_tasks; i++) {
        struct wf_executor_job *job = jobs[tasks[i].result - results];
        job->status = tasks[i].status;
        job->err = tasks[i].err;
        job->needs_events = tasks[i].result->blocked;
        describe_run(job, tasks[i].result, &facts, wall, cpu);
        wf_lockstep_free(lockstep[i]);
    }
    free(lockstep);
    free(results);
    free(tasks);
}

static void gpu_run(struct wf_executor_job *const *jobs, size_t n,
                    const struct wf_sim_host *host)
{
    struct wf_gpu *gpu = NULL;
    struct wf_err err = {.status = WF_OK};
    enum wf_status status = wf_gpu_open(jobs[0]->job->plan->device, &gpu, &err);

    for (size_t i = 0; i < n; i++) {
        jobs[i]->status = status;
        jobs[i]->err = err;
    }
    if (status == WF_OK) {
        run_tasks(jobs, n, host, gpu);
        wf_gpu_close(gpu);
    }
}

const struct wf_executor wf_executor_gpu = {
    .name = "gpu", .many = true, .accepts = gpu_accepts, .run = gpu_run};
