/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/ranks.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"
#include "model/storage/storage.h"
#include "mpi/vrank/program_source.h"
#include "program/ops/source.h"
#include "run/document/document.h"
#include "run/document/energy.h"
#include "run/execute/job.h"
#include "run/plan/cpu_settings.h"

#include <stdlib.h>

/* Measured: memory of a rank besides its messages, and of a message in transit. A rank of a
 * typical program has a handful of messages in transit. */
enum { BYTES_PER_RANK = 700, BYTES_PER_MESSAGE = 96, MESSAGES_PER_RANK = 6 };

/* ---- for both kinds of replay ---- */

uint64_t wf_job_n_ranks(const struct wf_job *job)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < job->plan->n_jobs; i++) {
        n += job->plan->jobs[i].n_ranks;
    }
    return n;
}

/* Release its jobs. */
static struct wf_placement_env placement_env(const struct wf_plan *plan)
{
    struct wf_placement_job *jobs = wf_xcalloc(plan->n_jobs, sizeof(*jobs));

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        jobs[i] = (struct wf_placement_job){
            .placement = plan->jobs[i].placement,
            .n_ranks = plan->jobs[i].n_ranks,
            .ranks_per_node = (uint32_t)plan->jobs[i].settings->ranks_per_node,
        };
    }
    const struct wf_node_params *node = wf_plan_values(plan, "node");

    return (struct wf_placement_env){
        .jobs = jobs,
        .n_jobs = plan->n_jobs,
        .topo = plan->topo,
        .topo_name = plan->core.topology,
        .nics = (uint32_t)node->nics,
        .nic_group = (uint32_t)node->nic_group,
        .seed = plan->core.seed,
    };
}

uint64_t wf_job_place_memory(const struct wf_job *job)
{
    const struct wf_placement_env env = placement_env(job->plan);
    uint64_t bytes = wf_job_n_ranks(job) * wf_placement_memory(&env);

    free(wf_unconst(env.jobs));
    return bytes;
}

static enum wf_status make_cpu(struct wf_job *job, struct wf_err *err)
{
    const struct wf_plan *plan = job->plan;
    const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");
    const struct wf_source **sources =
        wf_xcalloc(plan->n_jobs, sizeof(const struct wf_source *));
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        if (plan->jobs[i].source != NULL) {
            sources[n++] = plan->jobs[i].source;
        }
    }
    enum wf_status status =
        wf_plan_blame(plan, "cpu",
                      wf_sim_cpu_settings_build(plan->scenario, job->setup.node, sources, n,
                                                &job->rules, err),
                      err);
    job->cpu = (struct wf_cpu){.scale = wf_cpu_scale(cpu->scale),
                               .rules = job->rules,
                               .roofline = wf_cpu_roofline(cpu, sources, n)};
    free(sources);
    return status;
}

struct wf_net_env wf_job_net_env(const struct wf_job *job)
{
    const struct wf_node_params *node = wf_plan_values(job->plan, "node");

    return (struct wf_net_env){
        .topo = job->plan->topo,
        .n_nodes = job->place.n_nodes,
        .nics = (uint32_t)node->nics,
        .nic_group = (uint32_t)node->nic_group,
        .seed = job->plan->core.seed,
    };
}

/* Servers of files that are nodes of the topology are its last ones. */
static enum wf_status place_servers(struct wf_job *job, const struct wf_placement_env *where,
                                    struct wf_err *err)
{
    const struct wf_storage_params *params = wf_plan_values(job->plan, "storage");
    struct wf_storage storage;

    WF_TRY(
        wf_plan_blame(job->plan, "storage.model", wf_storage_init(&storage, params, err), err));
    if (wf_storage_units(&storage) == 0 || params->attach != WF_STORAGE_NETWORK) {
        return WF_OK;
    }
    if (where->topo == NULL) {
        return wf_plan_blame(
            job->plan, "storage.attach",
            wf_err_set(err, WF_EUSAGE,
                       "storage.attach=network: servers are nodes of a topology, and there is "
                       "none; give --topo or a machine, or take storage.attach=own"),
            err);
    }
    wf_placement_use_all(where, &job->place);
    return WF_OK;
}

enum wf_status wf_job_prepare_replay(struct wf_job *job, struct wf_err *err)
{
    const struct wf_plan *plan = job->plan;

    job->setup.mpi = wf_plan_values(plan, "mpi");
    job->setup.node = wf_plan_values(plan, "node");
    WF_TRY(wf_plan_blame(plan, "node", wf_node_params_check(job->setup.node, err), err));
    const struct wf_placement_env where = placement_env(plan);
    enum wf_status status = wf_placement_make(&where, &job->place, err);
    if (!wf_placement_has_files(&where)) {
        status = wf_plan_blame(plan, "topology", status, err);
    }
    if (status == WF_OK) {
        status = place_servers(job, &where, err);
    }
    free(wf_unconst(where.jobs));
    WF_THEN(status, make_cpu(job, err));
    if (status == WF_OK) {
        const struct wf_net_env env = wf_job_net_env(job);
        status = wf_plan_blame(
            plan, "network",
            wf_net_create(plan->net, wf_plan_values(plan, "net"), &env, &job->setup.net, err),
            err);
    }
    return status;
}

enum wf_status wf_job_check_rules(const struct wf_job *job, const char *what,
                                  struct wf_err *err)
{
    if (job->setup.net->loggops == NULL) {
        return WF_OK;
    }
    return wf_plan_blame(
        job->plan, "net.preset",
        wf_err_set(
            err, WF_EUSAGE,
            "net.preset: loggopsim has rules for task graphs only, and this is %s; write "
            "it as a GOAL schedule (weft convert), or leave the preset out and set "
            "node.copy_send, node.copy_recv and mpi.eager_max",
            what),
        err);
}

struct wf_net_deadlock wf_job_stuck(const struct wf_job *job, const void *counters,
                                    const struct wf_run *run, enum wf_status status)
{
    const struct wf_net *net = job->setup.net;
    bool ended = status == WF_OK && run->events_dropped == 0;

    return ended && net->n_sums > 0 && net->ops->stuck != NULL
               ? net->ops->stuck(net, counters)
               : (struct wf_net_deadlock){.n = 0};
}

void wf_job_describe_network(const struct wf_job *job, const struct wf_ranks_tally *tally,
                             const void *counters, const struct wf_run *run,
                             struct wf_value *result, enum wf_status outcome)
{
    const struct wf_net *net = job->setup.net;
    int64_t end = wf_document_end(tally, run);

    if (net->n_sums > 0 && (outcome == WF_OK || outcome == WF_ESIM)) {
        net->ops->describe(net, counters, end, result);
    }
    if (outcome == WF_OK) {
        wf_sim_energy_describe(job, tally, end, result);
    }
}

/* ---- replays of operations ---- */

static enum wf_status replay_prepare(struct wf_job *job, struct wf_err *err)
{
    WF_TRY(wf_job_prepare_replay(job, err));
    return wf_job_check_rules(job, "a program of MPI calls", err);
}

static uint64_t replay_memory(const struct wf_job *job)
{
    uint64_t programs = 0;

    for (uint32_t i = 0; i < job->plan->n_jobs; i++) {
        if (job->plan->jobs[i].program) {
            programs += job->plan->jobs[i].n_ranks * (uint64_t)WF_VRANK_BYTES_PER_RANK;
        }
    }
    return wf_job_n_ranks(job) *
               (BYTES_PER_RANK + (uint64_t)MESSAGES_PER_RANK * BYTES_PER_MESSAGE) +
           wf_job_place_memory(job) + programs;
}

static enum wf_status replay_build(const struct wf_job *job, struct wf_engine *engine,
                                   struct wf_setup *setup, struct wf_err *err)
{
    struct wf_ranks_job *programs = wf_xcalloc(job->plan->n_jobs, sizeof(*programs));

    for (uint32_t i = 0; i < job->plan->n_jobs; i++) {
        const struct wf_plan_job *program = &job->plan->jobs[i];
        bool is_silent = job->only != 0 && job->only - 1 != i;
        programs[i] = (struct wf_ranks_job){
            .source = is_silent ? &job->silent[i] : program->source,
            .start = program->settings->start,
            .repeat = program->settings->repeat,
        };
    }
    const struct wf_ranks_config config = {
        .jobs = programs,
        .n_jobs = job->plan->n_jobs,
        .place = &job->place,
        .net = setup->net,
        .mpi = setup->mpi,
        .node = setup->node,
        .storage = wf_plan_values(job->plan, "storage"),
        .seed = job->seed,
        .params = wf_plan_values(job->plan, "replay"),
        .cpu = &job->cpu,
        /* The run on an ideal network is not recorded. */
        .recording = setup == &job->setup ? job->recording : NULL,
        .ends = setup == &job->setup ? job->ends : NULL,
    };

    enum wf_status status = wf_ranks_new(engine, &config, &setup->ranks, err);
    free(programs);
    WF_TRY(status);
    if (job->expects && setup == &job->setup) {
        setup->expected = wf_ranks_expect(setup->ranks);
    }
    return WF_OK;
}

/* Adds how long the recorded program took, the maximum over its ranks, if a recording was
 * replayed. */
static void describe_recorded(const struct wf_plan *plan, struct wf_value *result)
{
    const struct wf_replay_params *params = wf_plan_values(plan, "replay");
    const struct wf_scenario_job *job = plan->jobs[0].settings;
    const struct wf_source *source = plan->jobs[0].source;
    int64_t longest = 0;

    if (plan->n_jobs != 1 || params->policy != WF_POLICY_TIMED || job->repeat != 1 ||
        job->region[0] != '\0' || job->iterations[0] != '\0' ||
        wf_doc_find(result, "predicted_time_ps") == NULL) {
        return;
    }
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        int64_t wall;
        if (!wf_source_wall(source, rank, &wall)) {
            return;
        }
        longest = wall > longest ? wall : longest;
    }
    wf_doc_count(result, "recorded_time_ps", (uint64_t)longest);
}

/* The tally of a whole program of which some ranks stand for all. The caller frees it; null if the
 * program is not folded. */
static struct wf_ranks_tally *unfold(const struct wf_job *job,
                                     const struct wf_ranks_tally *tally)
{
    if (wf_job_copies(job) == 1) {
        return NULL;
    }
    struct wf_ranks_tally *all = wf_tally_copy(tally);
    wf_tally_unfold(all, &job->plan->jobs[0].fold);
    return all;
}

static enum wf_status replay_describe(const struct wf_job *job, const struct wf_engine *engine,
                                      const struct wf_run *run, struct wf_value *result,
                                      enum wf_status status, struct wf_err *err)
{
    struct wf_document_jobs jobs = wf_document_jobs_of(job);
    bool interrupted = status == WF_EINTR;
    const struct wf_ranks_tally *tally = wf_engine_tally_get(engine);
    const void *counters = tally + 1;
    struct wf_ranks_tally *whole = unfold(job, tally);

    tally = whole != NULL ? whole : tally;
    jobs.stuck = wf_job_stuck(job, counters, run, status);
    enum wf_status outcome = wf_document_replay(result, run, &jobs, tally, interrupted, err);

    if (outcome == WF_OK) {
        describe_recorded(job->plan, result);
        wf_document_files(job, tally, wf_engine_tally_get(engine), wf_document_end(tally, run),
                          result);
    }
    wf_job_describe_network(job, tally, counters, run, result, outcome);
    free(whole);
    return interrupted ? status : outcome;
}

const struct wf_job_ops wf_job_replay = {
    .memory = replay_memory,
    .prepare = replay_prepare,
    .build = replay_build,
    .describe = replay_describe,
};
