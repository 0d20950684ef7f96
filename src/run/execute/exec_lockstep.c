/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic traffic on routers, cycle by cycle on cores. */
#include "base/clock.h"
#include "engine/config.h"
#include "model/net/router/lockstep/lockstep.h"
#include "model/traffic/traffic.h"
#include "run/execute/executor.h"

/* Fewer routers for each thread are not worth a barrier in each cycle. */
enum { ROUTERS_PER_THREAD = 32 };

static struct wf_lockstep_config config_of(const struct wf_job *job)
{
    return (struct wf_lockstep_config){.net = job->setup.net, .traffic = job->traffic};
}

static enum wf_status lockstep_accepts(const struct wf_job *job, struct wf_err *err)
{
    const struct wf_lockstep_config config = config_of(job);

    return wf_lockstep_check(&config, err);
}

/* ---- progress ---- */

struct progress {
    const struct wf_sim_host *host;
    const struct wf_traffic_params *set;
};

static void tell(void *arg, uint64_t cycle)
{
    const struct progress *own = arg;
    const struct wf_sim_progress told = {
        .fraction = own->set->rounds > 0 ? -1 : (double)cycle / (double)own->set->cycles,
        .time_ps = (int64_t)cycle * own->set->cycle,
    };

    own->host->progress(own->host->progress_arg, &told);
}

/* ---- threads ---- */

/* As many threads as were asked for and are worth it. Points that run side by side share the cores:
 * threads that wait for each other in each cycle must not wait for a core. */
static uint32_t threads_for(const struct wf_job *job, const struct wf_sim_host *host,
                            struct wf_run *run)
{
    const struct wf_engine_config *engine = &job->plan->engine;
    uint64_t most = job->plan->topo->n_vertices / ROUTERS_PER_THREAD;
    uint64_t cores = host->run_threads > 0 ? host->run_threads : wf_clock_cores();
    uint64_t n = engine->threads;

    most = most > 0 ? most : 1;
    if (engine->fit && n > most) {
        n = most;
        run->fit = WF_RUN_TOO_SMALL;
    }
    if (engine->fit && n > cores) {
        n = cores;
        run->fit = WF_RUN_CORES_TOO_FEW;
    }
    return (uint32_t)n;
}

static void run_one(struct wf_executor_job *own, const struct wf_sim_host *host)
{
    const struct wf_lockstep_config config = config_of(own->job);
    struct progress progress = {.host = host, .set = wf_plan_values(own->job->plan, "traffic")};
    struct wf_lockstep_result result = {.tally = own->tally};
    struct wf_lockstep *lock = NULL;

    own->run = (struct wf_run){.exec = WF_EXEC_LOCKSTEP, .processes = 1};
    const struct wf_lockstep_run run = {
        .threads = threads_for(own->job, host, &own->run),
        .stop = host->stop,
        .progress = host->progress != NULL ? tell : NULL,
        .progress_arg = &progress,
    };
    own->status = wf_lockstep_new(&config, &lock, &own->err);
    double wall = wf_clock_wall(), cpu = wf_clock_cpu();
    if (own->status == WF_OK) {
        wf_executor_running(host, true);
        own->status = wf_lockstep_run_host(lock, &run, &result, &own->err);
        wf_executor_running(host, false);
    }
    own->needs_events = result.blocked;
    own->run.threads = result.threads;
    own->run.time = (int64_t)result.cycle * progress.set->cycle;
    own->run.wall_seconds = wf_clock_wall() - wall;
    own->run.cpu_seconds = wf_clock_cpu() - cpu;
    own->run.peak_rss_bytes = wf_clock_peak_rss();
    wf_lockstep_free(lock);
}

static void lockstep_run(struct wf_executor_job *const *jobs, size_t n,
                         const struct wf_sim_host *host)
{
    for (size_t i = 0; i < n; i++) {
        run_one(jobs[i], host);
    }
}

const struct wf_executor wf_executor_lockstep = {
    .name = "lockstep", .accepts = lockstep_accepts, .run = lockstep_run};
