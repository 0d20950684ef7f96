/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/executor.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/config.h"
#include "model/net/router/gpu/gpu.h"
#include "model/net/router/lockstep/lockstep.h"
#include "model/topo/topo.h"
#include "model/traffic/traffic.h"
#include "run/scenario/catalog.h"

const char *const wf_exec_names[] = {"auto", "events", "lockstep", "gpu", NULL};

const struct wf_param wf_executor_params[] = {
#define WF_ENGINE_PARAM(name_, member, kind, ...)       \
    {.name = (name_),                                   \
     .type = WF_PARAM_##kind,                           \
     .offset = offsetof(struct wf_plan, engine.member), \
     __VA_ARGS__},
#include "engine/params.def"
#undef WF_ENGINE_PARAM
    WF_PARAM_ROW(struct wf_plan, exec, ENUM, .def = "auto", .choices = wf_exec_names,
                 .doc = "What executes synthetic traffic on routers: events, or all routers in "
                        "lock step, on cores or on a GPU; auto: the fastest. None changes the "
                        "result"),
    WF_PARAM_ROW(struct wf_plan, device, ENUM, .def = "auto", .choices = wf_gpu_names,
                 .doc = "Driver of the GPU; host runs the kernels on cores, for tests"),
    WF_PARAM_END,
};

static const struct wf_executor *const executors[] = {
#define WF_EXECUTOR(name) &wf_executor_##name,
#include "run/execute/executors.def"
#undef WF_EXECUTOR
};

/* Where `auto` changes from one executor to the next; docs/dev/performance.md has the measurements. */
enum {
    LOAD_FOR_FLITS = 1,     /* percent of what a node can inject, for networks of flits; */
    LOAD_FOR_LOCKSTEP = 30, /* likewise, for networks of packets; or */
    BUSY_FOR_LOCKSTEP = 40, /* percent of what links carry: below both most routers idle; */
    BUSY_FOR_FREQUENT =
        2,            /* the same for grids of frequent kinds, whose idle routers cost little */
    CYCLES_A_HOP = 4, /* of a packet that rarely waits */
    SAMPLES = 64,     /* pairs of nodes whose distance is looked up */
};

/* Measured packet-hops a second of grids in lock step: of a core, on grids of frequent kinds and on
 * others, and of a GPU beside what its begin and its cycles take. `make bench-gpu` prints what these
 * numbers choose beside the alternatives. */
#define CORE_FREQUENT 2.0e6
#define CORE_OTHER    1.5e6
#define GPU_RATE      500e6
#define GPU_BEGINS    0.4  /* seconds until its driver is ready */
#define GPU_CYCLE     8e-6 /* seconds of a cycle that moves nothing */

/* What a core is worth that shares a run with others. */
#define CORE_SHARED 0.6

/* As estimates are rough, a GPU must be this many times as fast as cores. */
#define GPU_GAIN 1.5

/* The mean distance of two nodes. */
static double mean_hops(const struct wf_topo *topo)
{
    uint64_t hops = 0;

    for (uint64_t i = 1; i <= SAMPLES; i++) {
        uint64_t random = i * UINT64_C(0x9e3779b97f4a7c15);
        uint32_t from = (uint32_t)((random >> 32) % topo->n_nodes);
        uint32_t to = (uint32_t)((random & UINT32_MAX) % topo->n_nodes);
        hops += topo->ops->distance(topo, from, to);
    }
    return (double)hops / SAMPLES;
}

/* The part of the time in which a link is busy, if the network accepts everything that nodes offer
 * to random others. */
static double busy_links(const struct wf_topo *topo, double load)
{
    double links = (double)topo->n_links * (topo->oneway ? 1 : 2);

    return links > 0 ? load * mean_hops(topo) * (double)topo->n_nodes / links : 0;
}

/* The cores that `threads` of lock step are worth. */
static double shared_cores(uint64_t threads)
{
    return threads > 1 ? fmax(1, CORE_SHARED * (double)threads) : 1;
}

/* Whether lock step is faster than events: most routers have something to do in most cycles, or
 * threads share those that have not, which events gain little from. */
static bool is_loaded(const struct wf_job *job, const struct wf_traffic_params *set)
{
    const struct wf_lockstep_config config = {.net = job->setup.net, .traffic = job->traffic};
    int least = wf_lockstep_has_flits(job->setup.net) ? LOAD_FOR_FLITS : LOAD_FOR_LOCKSTEP;
    double percent = 100 * shared_cores(job->plan->engine.threads);

    if (set->rounds > 0 || set->load * percent >= least) {
        return true;
    }
    double busy = busy_links(job->plan->topo, set->load) * percent;
    return busy >= BUSY_FOR_LOCKSTEP ||
           (busy >= BUSY_FOR_FREQUENT && wf_lockstep_is_frequent(&config));
}

/* Packets that leave routers: those that nodes generate, as far as the links can carry them, less
 * what the packets in the network at the end still have to go. */
static double packet_hops(const struct wf_job *job, const struct wf_traffic_params *set)
{
    const struct wf_topo *topo = job->plan->topo;
    double busy = busy_links(topo, set->load), carried = busy > 1 ? 1 / busy : 1;
    double hops = mean_hops(topo), cycles = (double)set->cycles;
    double before = fmin(hops * CYCLES_A_HOP, cycles) / 2;

    return set->load * (double)set->phit / (double)set->size * (cycles - before) *
           (double)topo->n_nodes * hops * carried;
}

/* Whether n networks like this one are done sooner by a GPU than by the cores that they would have:
 * the points of a curve run side by side. */
static bool pays_for_gpu(const struct wf_job *job, size_t n,
                         const struct wf_traffic_params *set)
{
    const struct wf_lockstep_config config = {.net = job->setup.net, .traffic = job->traffic};
    double hops = packet_hops(job, set) * (double)n;
    double cores =
        n > 1 ? fmax(1, (double)wf_clock_cores()) : shared_cores(job->plan->engine.threads);
    double core = wf_lockstep_is_frequent(&config) ? CORE_FREQUENT : CORE_OTHER;
    double gpu = GPU_BEGINS + (double)set->cycles * GPU_CYCLE + hops / GPU_RATE;

    return hops / (core * cores) >= GPU_GAIN * gpu;
}

static enum wf_exec fastest(const struct wf_job *job, size_t n)
{
    const struct wf_traffic_params *set = wf_plan_values(job->plan, "traffic");

    if (pays_for_gpu(job, n, set) && wf_executor_gpu.accepts(job, NULL) == WF_OK) {
        return WF_EXEC_GPU;
    }
    if (wf_executor_lockstep.accepts(job, NULL) == WF_OK && is_loaded(job, set)) {
        return WF_EXEC_LOCKSTEP;
    }
    return WF_EXEC_EVENTS;
}

enum wf_status wf_executor_choose(const struct wf_job *job, size_t n,
                                  const struct wf_executor **out, struct wf_err *err)
{
    enum wf_exec exec = (enum wf_exec)job->plan->exec;

    if (job->traffic == NULL && exec > WF_EXEC_EVENTS) {
        return wf_err_set(err, WF_EUSAGE,
                          "engine.exec: %s executes synthetic traffic only (weft traffic); "
                          "programs need events",
                          wf_exec_names[exec]);
    }
    if (exec == WF_EXEC_AUTO) {
        /* Who chooses a scheduler wants events. */
        bool any = job->traffic != NULL &&
                   wf_scenario_find(job->plan->scenario, "engine.sched") == NULL;
        exec = any ? fastest(job, n) : WF_EXEC_EVENTS;
    }
    *out = executors[exec - 1];
    return (*out)->accepts(job, err);
}

void wf_executor_job_init(struct wf_executor_job *own, const struct wf_executor *executor,
                          struct wf_job *job, const struct wf_engine_config *config)
{
    const struct wf_net *net = job->setup.net;

    *own = (struct wf_executor_job){.job = job, .config = config};
    if (executor != &wf_executor_events) { /* the engine has a tally of its own */
        own->tally = wf_xcalloc(1, sizeof(struct wf_traffic_tally) +
                                       (net->n_sums > 0 ? wf_net_counters_size(net) : 0));
    }
}

void wf_executor_running(const struct wf_sim_host *host, bool running)
{
    if (host->running != NULL) {
        host->running(host->running_arg, running);
    }
}
