/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A prediction as a distribution: the replay is repeated, each time with compute spans drawn
 * from those recorded at the same place (program/ops/resample.h), with uncertain settings drawn around
 * their values (run/scenario/uncertainty.h), and with other noise of the nodes. A replica is a
 * function of the scenario and its number, so results do not depend on threads and processes.
 * docs/models/uncertainty.md describes what is covered.
 */
#include "run/document/document.h"
#include "run/execute/stages.h"

#include "base/clock.h"
#include "base/int128.h"
#include "base/mem.h"
#include "base/param_scale.h"
#include "base/points.h"
#include "base/result/doc.h"
#include "base/rng.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "program/ops/resample.h"
#include "program/ops/retimed.h"
#include "run/document/efficiency.h"
#include "run/execute/replicas_table.h"
#include "run/execute/world.h"
#include "run/plan/uncertain.h"

#include <pthread.h>
#include <stdlib.h>

/* Streams of random numbers that nothing else uses. */
#define SPANS UINT64_C(0x7c3f9d21b5e80a47)
#define NOISE UINT64_C(0x1d8e4e27c47d124f)

/* What a thread needs to run one replica after another. */
struct worker {
    struct worker *next;
    struct wf_plan plan;
    int64_t *ends;
    uint64_t model_factor; /* of the present replica */
};

struct work {
    const struct wf_plan *plan; /* of the nominal run */
    const struct wf_scenario *scenario;
    const struct wf_sim_host *host;
    /* The compute spans of each program; all zero if they are kept. */
    struct wf_places *places;
    struct wf_resample *resamples;
    struct wf_replicas_drawn drawn;
    struct wf_replicas_table table;
    uint64_t n_ranks;
    pthread_mutex_t lock;   /* protects the rest */
    struct worker *workers; /* idle */
    struct wf_err err;      /* the first error */
};

/* ---- what is drawn ---- */

static const char *why_spans_are_kept(const struct wf_plan *plan)
{
    const struct wf_replay_params *replay = wf_plan_values(plan, "replay");

    if (replay->policy != WF_POLICY_TIMED) {
        return "the replay has no compute times";
    }
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        if (plan->jobs[i].graph != NULL) {
            return "the compute times of tasks have no place in a program of operations";
        }
        if (plan->jobs[i].source->live != NULL) {
            return "the program was not recorded";
        }
        if (plan->jobs[i].source->follows_matches) {
            return "the operations of the program depend on the order of messages";
        }
    }
    return NULL;
}

static enum wf_status read_spans(struct work *work, struct wf_err *err)
{
    struct wf_replicas_drawn *drawn = &work->drawn;
    double varied = 0;

    drawn->kept = why_spans_are_kept(work->plan);
    for (uint32_t i = 0; i < work->plan->n_jobs && drawn->kept == NULL; i++) {
        struct wf_resample *resample = &work->resamples[i];

        WF_TRY(wf_places_init(&work->places[i], work->plan->jobs[i].source, err));
        wf_resample_init(resample, &work->places[i]);
        drawn->spans += work->places[i].n_spans;
        drawn->varied += resample->n_varied;
        varied += (double)resample->varied_percent * (double)work->places[i].n_spans;
    }
    drawn->varied_percent = drawn->spans > 0 ? (uint64_t)(varied / (double)drawn->spans) : 0;
    return WF_OK;
}

static enum wf_status find_drawn(struct work *work, struct wf_err *err)
{
    const struct wf_node_params *node = wf_plan_values(work->plan, "node");

    work->drawn.settings = wf_sim_uncertainty_count(work->plan);
    work->drawn.noise = node->noise != WF_NODE_NOISE_NONE || node->poll > 0;
    return read_spans(work, err);
}

/* ---- one replica ---- */

/* A worker that no other thread uses; null, with an error in work->err, if there is none. */
static struct worker *take_worker(struct work *work)
{
    struct worker *worker;

    (void)pthread_mutex_lock(&work->lock);
    worker = work->workers;
    work->workers = worker != NULL ? worker->next : NULL;
    bool failed = work->err.status != WF_OK;
    (void)pthread_mutex_unlock(&work->lock);
    if (worker != NULL || failed) {
        return worker;
    }
    struct wf_err err = {.status = WF_OK};
    worker = wf_xcalloc(1, sizeof(*worker));
    if (wf_plan_init(&worker->plan, work->scenario, &err) != WF_OK) {
        free(worker);
        (void)pthread_mutex_lock(&work->lock);
        work->err = work->err.status == WF_OK ? err : work->err;
        (void)pthread_mutex_unlock(&work->lock);
        return NULL;
    }
    worker->ends = wf_xcalloc(work->n_ranks, sizeof(*worker->ends));
    return worker;
}

static void give_worker(struct work *work, struct worker *worker)
{
    (void)pthread_mutex_lock(&work->lock);
    worker->next = work->workers;
    work->workers = worker;
    (void)pthread_mutex_unlock(&work->lock);
}

static void free_workers(struct work *work)
{
    while (work->workers != NULL) {
        struct worker *worker = work->workers;
        work->workers = worker->next;
        wf_plan_fini(&worker->plan);
        free(worker->ends);
        free(worker);
    }
}

/* Multiplies what is not computing of a time by the error of the models. */
static int64_t with_error(int64_t time, int64_t computing, uint64_t factor)
{
    if (time <= computing) {
        return time;
    }
    wf_u128 rest = (wf_u128)(uint64_t)(time - computing) * factor / WF_PARAM_SCALE_ONE;
    return rest > (wf_u128)(WF_TIME_MAX - computing) ? WF_TIME_MAX : computing + (int64_t)rest;
}

/* The same for the time of the run and all times that follow in a row. Ranks of a job compute
 * for the mean time of them. */
static void add_model_error(const struct work *work, const struct wf_ranks_tally *tally,
                            uint64_t factor, int64_t *row)
{
    const struct wf_replicas_table *table = &work->table;
    int64_t *at = row + 1 + WF_REPLICAS_EFFICIENCIES;
    int64_t longest = 0;

    for (uint32_t i = 0; i < work->plan->n_jobs; i++) {
        int64_t computing = wf_stat_mean(&wf_tally_job(tally, i)->compute);
        longest = computing > longest ? computing : longest;
    }
    row[0] = with_error(row[0], longest, factor);
    for (uint32_t i = 0; i < table->n_jobs; i++, at++) {
        *at = with_error(*at, wf_stat_mean(&wf_tally_job(tally, i)->compute), factor);
    }
    for (uint32_t i = 0; i < table->n_ranks; i++, at++) {
        *at = with_error(*at, longest, factor);
    }
}

/* Fills the row of a replica whose program ended. */
static void fill_row(const struct work *work, const struct worker *worker,
                     const struct wf_job *job, const struct wf_ranks_tally *tally, int64_t *row)
{
    const struct wf_replicas_table *table = &work->table;
    const struct wf_document_jobs jobs = wf_document_jobs_of(job);
    int64_t *at = row + 1;

    if (job->ideal != NULL) {
        const struct wf_efficiency_times times = wf_document_efficiency_times(&jobs, tally);
        wf_replicas_set_efficiency(row, &times);
    }
    at += WF_REPLICAS_EFFICIENCIES;
    for (uint32_t i = 0; i < table->n_jobs; i++) {
        *at++ = wf_tally_job(tally, i)->finish.max - jobs.of[i].start;
    }
    for (uint32_t i = 0; i < table->n_ranks; i++) {
        *at++ = worker->ends[table->ranks[i]];
    }
    row[0] = tally->all.finish.max;
}

static bool has_ended(const struct wf_ranks_tally *tally)
{
    return tally->unfinished == 0 && tally->timeless == 0 && tally->failed == 0 &&
           tally->unreceived + tally->uncalled + tally->unmatched == 0;
}

/* WF_EINTR if it was interrupted. */
static enum wf_status run_job(const struct work *work, const struct worker *worker,
                              struct wf_job *job, int64_t *row, struct wf_err *err)
{
    struct wf_engine_config config = worker->plan.engine;
    struct wf_run run = {.threads = 0};

    config.scheduler = WF_SEQUENTIAL;
    config.threads = 1;
    config.pin = false;
    config.stop = work->host->stop;
    WF_TRY(job->ops->prepare(job, err));
    if (work->table.efficiency) {
        WF_TRY(wf_job_run_ideal(job, &config, NULL, err));
    }
    struct wf_engine *engine = wf_engine_new(&config, NULL);
    enum wf_status status = job->ops->build(job, engine, &job->setup, err);
    WF_THEN(status, wf_engine_run(engine, &run, err));
    if (status == WF_OK) {
        const struct wf_ranks_tally *tally = wf_engine_tally_get(engine);
        row[0] = WF_REPLICAS_FAILED;
        if (has_ended(tally) && (!work->table.efficiency || job->ideal != NULL)) {
            fill_row(work, worker, job, tally, row);
            add_model_error(work, tally, worker->model_factor, row);
        }
    }
    wf_engine_free(engine);
    return status;
}

static enum wf_status run_replica(const struct work *work, struct worker *worker,
                                  uint64_t replica, struct wf_err *err)
{
    struct wf_plan *plan = &worker->plan;
    struct wf_source **sources = wf_xcalloc(plan->n_jobs, sizeof(struct wf_source *));
    struct wf_resample_draw *draws = wf_xcalloc(plan->n_jobs, sizeof(*draws));
    struct wf_job job;
    bool retimed = work->drawn.kept == NULL;

    wf_sim_uncertainty_draw(plan, work->plan, replica);
    worker->model_factor = wf_sim_uncertainty_model(work->plan, replica);
    for (uint32_t i = 0; i < plan->n_jobs && retimed; i++) {
        uint64_t seed = wf_rng_draw(plan->core.seed ^ SPANS, i, replica);
        draws[i] = (struct wf_resample_draw){&work->resamples[i], seed};
        const struct wf_retimed_config config = {wf_resample_duration, &draws[i]};
        sources[i] = plan->jobs[i].source;
        plan->jobs[i].source = wf_retimed_new(sources[i], false, &config);
    }
    wf_job_init(&job, plan);
    job.seed = wf_rng_draw(plan->core.seed ^ NOISE, 0, replica);
    job.ends = worker->ends;
    enum wf_status status = run_job(
        work, worker, &job, work->table.values + (replica - 1) * work->table.n_columns, err);
    wf_job_fini(&job);
    for (uint32_t i = 0; i < plan->n_jobs && retimed; i++) {
        wf_source_free(plan->jobs[i].source);
        plan->jobs[i].source = sources[i];
    }
    free(sources);
    free(draws);
    return status;
}

/* Replicas are numbered from 1; process p runs every size-th from p + 1 on. */
static bool run_point(void *arg, size_t point)
{
    struct work *work = arg;
    uint32_t size = wf_comm_size(work->host->world), own = wf_comm_rank(work->host->world);
    uint64_t replica = 1 + own + (uint64_t)point * size;
    struct wf_err err = {.status = WF_OK};
    struct worker *worker = take_worker(work);

    if (worker == NULL) {
        return false;
    }
    enum wf_status status = run_replica(work, worker, replica, &err);
    give_worker(work, worker);
    if (status != WF_OK && status != WF_EINTR) {
        wf_err_prefix(&err, "repeated run %llu, with settings drawn around theirs: ",
                      (unsigned long long)replica);
        (void)pthread_mutex_lock(&work->lock);
        work->err = work->err.status == WF_OK ? err : work->err;
        (void)pthread_mutex_unlock(&work->lock);
    }
    return status == WF_OK;
}

/* ---- all replicas ---- */

static void report_runs(void *arg, size_t done, size_t total)
{
    const struct work *work = arg;

    if (work->host->progress != NULL) {
        const struct wf_sim_progress progress = {
            .fraction = total > 0 ? (double)done / (double)total : 1,
            .runs_done = done,
            .runs = total,
        };
        work->host->progress(work->host->progress_arg, &progress);
    }
}

/* As many threads as cores, or as the user chose, if the memory suffices for them. */
static size_t count_threads(const struct work *work)
{
    const struct wf_setting *chosen = wf_scenario_find(work->scenario, "engine.threads");
    size_t n = work->host->run_threads > 0 ? work->host->run_threads
               : chosen != NULL            ? (size_t)work->plan->engine.threads
                                           : wf_clock_cores();
    struct wf_job job;

    wf_job_init(&job, work->plan);
    uint64_t each = job.ops->memory(&job) + work->n_ranks * sizeof(int64_t) + 1;
    uint64_t fit = wf_clock_memory() / 4 * 3 / each;
    wf_job_fini(&job);
    n = n < fit ? n : (size_t)fit;
    return n > 0 ? n : 1;
}

static void run_all(struct work *work)
{
    uint32_t size = wf_comm_size(work->host->world), own = wf_comm_rank(work->host->world);
    size_t n_rows = work->table.n_rows;
    const struct wf_points_host points = {.jobs = count_threads(work),
                                          .stop = work->host->stop,
                                          .progress = own == 0 ? report_runs : NULL,
                                          .progress_arg = work};

    wf_executor_running(work->host, true);
    (void)wf_points_run(&points, own < n_rows ? (n_rows - own + size - 1) / size : 0, 0,
                        run_point, work);
    wf_executor_running(work->host, false);
    if (size > 1) {
        wf_comm_reduce(work->host->world, WF_COMM_MAX, work->table.values,
                       n_rows * work->table.n_columns);
    }
}

static enum wf_status end_replicas(struct work *work, struct wf_value *doc, struct wf_err *err)
{
    size_t missing = 0;

    *err = work->err;
    WF_TRY(wf_world_first_error(work->host->world, work->err.status, err));
    for (size_t i = 0; i < work->table.n_rows; i++) {
        missing += work->table.values[i * work->table.n_columns] == WF_REPLICAS_MISSING;
    }
    if (doc != NULL) {
        uint32_t n = work->plan->n_jobs;
        struct wf_document_job *of = wf_xcalloc(n, sizeof(*of));
        for (uint32_t i = 1; i < n; i++) {
            of[i].first = of[i - 1].first + work->plan->jobs[i - 1].n_ranks;
        }
        wf_replicas_describe(&work->table, work->table.n_rows, &work->drawn,
                             &(struct wf_document_jobs){.n = n, .of = of}, doc);
        free(of);
    }
    if (missing == 0) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINTR,
                      "interrupted after %zu of %zu repeated runs; the quantiles are of these",
                      work->table.n_rows - missing, work->table.n_rows);
}

/* Runs the replicas, in parallel over the cores of all processes. `scenario` describes the replay
 * without running programs. */
static enum wf_status replicate(struct wf_execution *x, const struct wf_scenario *scenario)
{
    const struct wf_plan *plan = &x->plan; /* its sources can be played again */
    struct work work = {.plan = plan,
                        .scenario = scenario,
                        .host = x->host,
                        .places = wf_xcalloc(plan->n_jobs, sizeof(*work.places)),
                        .resamples = wf_xcalloc(plan->n_jobs, sizeof(*work.resamples))};
    enum wf_status status = find_drawn(&work, x->err);

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        work.n_ranks += plan->jobs[i].n_ranks;
    }
    if (status == WF_OK && work.drawn.settings + work.drawn.varied == 0 && !work.drawn.noise) {
        if (x->doc != NULL) {
            wf_replicas_describe(NULL, (size_t)plan->core.runs, &work.drawn, NULL, x->doc);
        }
    } else if (status == WF_OK) {
        wf_replicas_table_init(&work.table, (size_t)plan->core.runs, work.n_ranks, plan->n_jobs,
                               plan->core.efficiency);
        (void)pthread_mutex_init(&work.lock, NULL);
        run_all(&work);
        status = end_replicas(&work, x->doc, x->err);
        free_workers(&work);
        (void)pthread_mutex_destroy(&work.lock);
        wf_replicas_table_fini(&work.table);
    }
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        wf_resample_fini(&work.resamples[i]);
        wf_places_fini(&work.places[i]);
    }
    free(work.resamples);
    free(work.places);
    return status;
}

bool wf_stage_wants_replicas(const struct wf_execution *x)
{
    return x->plan.core.runs > 0;
}

enum wf_status wf_stage_replicas(struct wf_execution *x)
{
    struct wf_scenario *replay = wf_sim_record_scenario(&x->record, x->plan.scenario);
    enum wf_status status = replicate(x, replay != NULL ? replay : x->plan.scenario);

    wf_scenario_free(replay);
    return status;
}
