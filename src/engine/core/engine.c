/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/model.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/mem.h"
#include "base/rng.h"
#include "engine/core/forecast.h"
#include "engine/core/internal.h"
#include "engine/hosts/pin.h"
#include "engine/tuning.h"

#include <stdlib.h>

static const struct wf_scheduler_ops *const schedulers[] = {
    [WF_SEQUENTIAL] = &wf_scheduler_sequential, [WF_CONSERVATIVE] = &wf_scheduler_conservative,
    [WF_OPTIMISTIC] = &wf_scheduler_optimistic, [WF_CHECK_UNDO] = &wf_scheduler_check_undo,
    [WF_PERTURB] = &wf_scheduler_optimistic,
};

int wf_scheduler_choose(const struct wf_engine_config *config, uint32_t n_processes)
{
    if (config->scheduler != WF_AUTO) {
        return config->scheduler;
    }
    return config->threads > 1 || n_processes > 1 ? WF_CONSERVATIVE : WF_SEQUENTIAL;
}

bool wf_scheduler_is_alone(int scheduler)
{
    return schedulers[scheduler]->alone;
}

struct wf_engine *wf_engine_new(const struct wf_engine_config *config, struct wf_comm *comm)
{
    struct wf_engine *engine = wf_xaligned_zero(sizeof(*engine));

    engine->config = *config;
    engine->comm = comm;
    engine->process = wf_comm_rank(comm);
    engine->n_processes = wf_comm_size(comm);
    engine->config.scheduler = wf_scheduler_choose(config, engine->n_processes);
    engine->lookahead = INT64_MAX;
    wf_depot_init(&engine->depot);
    return engine;
}

static void worker_free(struct wf_worker *worker)
{
    wf_cells_fini(&worker->cells);
    wf_forecast_free(worker->forecast);
    free(worker->blocks);
    free(worker->lps);
    free(worker->current);
    free(worker->ctx.out);
    free(worker->ctx.bags);
    wf_buf_fini(&worker->ctx.trail);
    free(worker->tally);
}

void wf_engine_free(struct wf_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (uint32_t t = 0; engine->workers != NULL && t < engine->n_threads; t++) {
        worker_free(&engine->workers[t]);
    }
    free(engine->blocks);
    free(engine->local_block);
    wf_depot_fini(&engine->depot);
    free(engine->workers);
    free(engine->threads);
    free(engine->groups);
    free(engine->tally);
    free(engine);
}

uint32_t wf_engine_add(struct wf_engine *engine, const struct wf_process_ops *ops,
                       uint32_t count, size_t state_size, void *model)
{
    uint32_t first = engine->next_id;
    uint32_t align = UINT32_C(1) << WF_ID_ALIGN_SHIFT;

    if ((uint64_t)first + count + align > UINT32_MAX) {
        wf_panic("more than 2^32 processes; the caller checks its input against this limit");
    }
    if (ops->payload_max > WF_PAYLOAD_MAX || state_size > UINT32_MAX / 2) {
        wf_panic("process kind %s: payload or state too large", ops->name);
    }
    engine->groups =
        wf_xrealloc(engine->groups, (size_t)engine->n_groups + 1, sizeof(*engine->groups));
    engine->groups[engine->n_groups++] = (struct wf_process_group){
        .ops = ops,
        .model = model,
        .first = first,
        .count = count,
        .stride = (uint32_t)((sizeof(struct wf_lp) + state_size + 7) / 8 * 8),
        .state_size = (uint32_t)state_size,
    };
    engine->next_id = first + (count + align - 1) / align * align;
    return first;
}

void wf_engine_promise(struct wf_engine *engine, int64_t delay)
{
    engine->lookahead = delay < engine->lookahead ? delay : engine->lookahead;
}

void wf_engine_tally(struct wf_engine *engine, size_t size, wf_merge_fn *merge)
{
    engine->tally_size = size;
    engine->merge = merge;
}

void wf_engine_cells(struct wf_engine *engine, size_t size)
{
    uint32_t rounded = (uint32_t)((size + 7) / 8 * 8), *sizes = engine->cell_sizes;
    uint32_t at = engine->n_cell_sizes;

    while (at > 0 && sizes[at - 1] > rounded) {
        at--;
    }
    if (at > 0 && sizes[at - 1] == rounded) {
        return;
    }
    if (engine->n_cell_sizes < WF_CELL_SIZES_MAX) {
        memmove(sizes + at + 1, sizes + at, (engine->n_cell_sizes++ - at) * sizeof(*sizes));
        sizes[at] = rounded;
    } else if (at ==
               WF_CELL_SIZES_MAX) { /* cells of another size are larger than they need be */
        sizes[at - 1] = rounded;
    }
}

void wf_engine_cargo(struct wf_engine *engine, const struct wf_cargo *cargo)
{
    engine->cargo = *cargo;
}

uint32_t wf_engine_n_processes(const struct wf_engine *engine)
{
    return engine->n_processes;
}

uint32_t wf_engine_process(const struct wf_engine *engine)
{
    return engine->process;
}

uint32_t wf_engine_process_of(const struct wf_engine *engine, uint32_t id)
{
    return wf_engine_owner(engine, id) / engine->n_threads;
}

const void *wf_engine_tally_get(const struct wf_engine *engine)
{
    return engine->tally;
}

void wf_worker_progress(struct wf_worker *worker, int64_t time)
{
    const struct wf_engine *engine = worker->engine;

    if (engine->config.progress == NULL || worker->number != 0) {
        return;
    }
    int64_t now = wf_clock_coarse_ns();
    if (now < worker->next_progress_ns) {
        return;
    }
    worker->next_progress_ns = now + INT64_C(1000000) * WF_TUNE_PROGRESS_MS;
    /* Reading the counters of other workers would slow these down. An estimate will do. */
    bool alone = wf_scheduler_is_alone(engine->config.scheduler);
    uint64_t n = alone ? 1 : (uint64_t)engine->n_threads * engine->n_processes;
    engine->config.progress(engine->config.progress_arg,
                            &(struct wf_progress){
                                .time = time,
                                .events = worker->count.committed * n,
                                .rolled_back = worker->count.rolled_back * n,
                                .tally = engine->tally_size > 0 ? worker->tally : NULL,
                                .n_shares = n,
                            });
}

/* Calls init, or with `finishing` finish, for every process of the worker. */
static void visit_processes(struct wf_worker *worker, bool finishing)
{
    struct wf_ctx *ctx = &worker->ctx;

    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        const struct wf_block *block = &worker->engine->blocks[worker->blocks[b]];
        const struct wf_process_ops *ops = block->group->ops;
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t id = wf_block_id(block, i);
            struct wf_event now = {.key = {.src = id}, .dst = id};
            wf_ctx_enter(ctx, block, now.dst, &now);
            if (finishing && ops->finish != NULL) {
                ops->finish(ctx->lp + 1, ctx);
            } else if (!finishing && ops->init != NULL) {
                ops->init(ctx->lp + 1, ctx);
            }
        }
    }
}

/* Called by thread 0 of each process only. */
static void stamp(double *wall, double *cpu)
{
    *wall = wf_clock_wall();
    *cpu = wf_clock_cpu();
}

void wf_engine_start_clock(struct wf_engine *engine)
{
    stamp(&engine->start_wall, &engine->start_cpu);
}

static void tell_running(const struct wf_engine *engine, bool running)
{
    if (engine->config.running != NULL) {
        engine->config.running(engine->config.running_arg, running);
    }
}

/* With several processes, the launcher decides where they run. */
static void place_on_core(const struct wf_worker *worker)
{
    const struct wf_engine *engine = worker->engine;

    if (engine->n_processes > 1 || engine->n_threads == 1) {
        return;
    }
    wf_place_thread(worker->thread, engine->n_threads);
    if (engine->config.pin) {
        wf_pin_thread(worker->thread, engine->n_threads);
    }
}

void wf_worker_begin(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;

    place_on_core(worker);
    free(worker->ctx.bags);
    worker->ctx.blocks = engine->blocks;
    worker->ctx.bags = wf_xcalloc(engine->n_blocks, sizeof(void *));
    worker->ctx.n_blocks = engine->n_blocks;
    worker->ctx.map = engine->map;
    worker->ctx.seed = engine->config.seed;
    worker->ctx.lookahead = engine->lookahead;
}

/* After the last event. */
static void worker_end(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;

    wf_barrier_wait(&engine->barrier);
    if (worker->thread == 0) {
        stamp(&engine->end_wall, &engine->end_cpu);
        tell_running(engine, false);
    }
    worker->ctx.undo_log = NULL;
    visit_processes(worker, true);
    /* Other workers may still read what release() frees. */
    wf_barrier_wait(&engine->barrier);
}

static void *worker_main(void *arg)
{
    struct wf_worker *worker = arg;
    struct wf_engine *engine = worker->engine;

    wf_worker_begin(worker);
    engine->scheduler->prepare(worker);
    worker->ctx.lookahead = 0;
    visit_processes(worker, false);
    worker->ctx.lookahead = engine->lookahead;
    wf_barrier_wait(&engine->barrier);
    if (worker->thread == 0) {
        tell_running(engine, true);
        wf_engine_start_clock(engine);
    }
    engine->scheduler->run(worker);
    worker_end(worker);
    engine->scheduler->release(worker);
    return NULL;
}

/* A thread that takes part after a trial. */
static void *late_main(void *arg)
{
    struct wf_worker *worker = arg;

    wf_worker_join(worker);
    worker_end(worker);
    wf_scheduler_conservative.release(worker);
    return NULL;
}

/* Allocates zeroed memory in separate cache lines, since workers write to it with every
 * event. Large memory gets separate pages, most of which may never be touched. */
static void *own_lines(size_t size)
{
    enum { LARGE = 1 << 20 };

    return size >= LARGE ? wf_xcalloc(1, size) : wf_xaligned_zero(size);
}

static void worker_init(struct wf_engine *engine, uint32_t thread)
{
    struct wf_worker *worker = &engine->workers[thread];

    worker->engine = engine;
    worker->thread = thread;
    worker->number = engine->process * engine->n_threads + thread;
    worker->current = own_lines(engine->stride);
    worker->tally = own_lines(engine->tally_size);
    worker->ctx.worker = worker;
    worker->ctx.out = own_lines(engine->stride);
    worker->ctx.end = engine->config.end == 0 ? INT64_MAX : engine->config.end;
    wf_pool_init(&worker->pool, &engine->depot, engine->stride);
    wf_cells_init(&worker->cells, engine->cell_sizes, engine->n_cell_sizes);
}

bool wf_engine_has_careful(const struct wf_engine *engine)
{
    for (uint32_t g = 0; g < engine->n_groups; g++) {
        if (engine->groups[g].ops->careful) {
            return true;
        }
    }
    return false;
}

/* How many threads a process is worth, judged by the number of simulated processes. The same in
 * all processes. Running programs are worth a thread each, however few they are. */
static uint64_t threads_worth(const struct wf_engine *engine)
{
    uint64_t n = 0;

    for (uint32_t g = 0; g < engine->n_groups; g++) {
        n += engine->groups[g].count;
    }
    if (wf_engine_has_careful(engine)) {
        return UINT64_MAX;
    }
    if (engine->lookahead == 0 && engine->config.scheduler == WF_CONSERVATIVE) {
        return 1;
    }
    return n / ((uint64_t)WF_TUNE_LPS_PER_THREAD * engine->n_processes);
}

/* Whether the first events can show how many threads are worth it. */
static bool may_try(const struct wf_engine *engine)
{
    const struct wf_engine_config *config = &engine->config;
    uint64_t bytes = 0, processes = 0;

    for (uint32_t g = 0; g < engine->n_groups; g++) {
        processes += engine->groups[g].count;
        bytes += (uint64_t)engine->groups[g].count * engine->groups[g].stride;
    }
    return (config->fit || config->trial > 0) && config->moves &&
           config->scheduler == WF_CONSERVATIVE && engine->n_processes == 1 &&
           engine->lookahead > 0 && !wf_engine_has_careful(engine) &&
           bytes <= WF_TUNE_TRIAL_STATES && processes <= WF_TUNE_TRIAL_PROCESSES;
}

/* Decides on the number of threads, and on who does. Only one process knows how many cores are left for
 * it. */
static void fit_threads(struct wf_engine *engine, bool alone)
{
    uint64_t n = alone || engine->config.threads == 0 ? 1 : engine->config.threads;
    uint64_t cores = engine->n_processes > 1 ? n : wf_clock_cores();
    bool may = engine->config.fit && n > 1 && engine->config.scheduler != WF_PERTURB;

    engine->fit = WF_RUN_AS_ASKED;
    engine->alone_below = WF_TUNE_WINDOWS_ALONE;
    engine->scheduler = schedulers[engine->config.scheduler];
    if (may && n > cores) {
        engine->fit = WF_RUN_CORES_TOO_FEW;
        n = cores;
    }
    if (n > 1 && may_try(engine)) {
        engine->trial = engine->config.trial > 0 ? engine->config.trial : WF_TUNE_TRIAL_EVENTS;
        engine->scheduler = &wf_scheduler_trial;
    } else if (may && n > threads_worth(engine)) {
        engine->fit = WF_RUN_TOO_SMALL;
        n = threads_worth(engine) > 1 ? threads_worth(engine) : 1;
    }
    if (n < engine->config.threads && n == 1 && engine->n_processes == 1 &&
        engine->config.scheduler == WF_CONSERVATIVE) {
        engine->scheduler = &wf_scheduler_sequential;
    }
    engine->n_threads_max = (uint32_t)n;
    engine->n_threads = engine->trial > 0 ? 1 : (uint32_t)n;
}

/* Prepares the parts that depend on the complete model. */
static void set_up(struct wf_engine *engine, bool alone)
{
    size_t payload = 0;

    for (uint32_t g = 0; g < engine->n_groups; g++) {
        size_t p = engine->groups[g].ops->payload_max;
        payload = p > payload ? p : payload;
    }
    if (engine->lookahead == INT64_MAX) {
        engine->lookahead = 0;
    }
    engine->stride = (uint32_t)(sizeof(struct wf_event) + (payload + 7) / 8 * 8);
    if (engine->n_cell_sizes == 0) {
        wf_engine_cells(engine, sizeof(uint64_t));
    }
    fit_threads(engine, alone);
    if (engine->config.partition == WF_PARTITION_AUTO && engine->trial == 0) {
        engine->config.partition = WF_PARTITION_BLOCK;
    }
    engine->workers = wf_xaligned_zero(engine->n_threads_max * sizeof(*engine->workers));
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        worker_init(engine, t);
    }
    wf_engine_partition(engine, alone ? 1 : engine->n_threads * engine->n_processes);
    wf_barrier_init(&engine->barrier, engine->n_threads, wf_comm_local_cores(engine->comm));
    if (engine->config.forecast && engine->config.scheduler == WF_SEQUENTIAL &&
        engine->lookahead > 0) {
        engine->workers[0].forecast = wf_forecast_new(engine);
    }
}

/* Starts all threads but the first. */
static void start_threads(struct wf_engine *engine, void *(*start)(void *worker))
{
    for (uint32_t t = 1; t < engine->n_threads; t++) {
        if (wf_thread_start(&engine->threads[t], start, &engine->workers[t]) != 0) {
            /* The threads already started wait for this one forever: the run cannot go on. */
            wf_give_up(WF_ELIMIT, "cannot start thread %u of %u; choose fewer (--threads)",
                       t + 1, engine->n_threads);
        }
    }
}

void wf_engine_split(struct wf_engine *engine, uint32_t n_threads, int partition)
{
    engine->n_threads = n_threads;
    engine->config.partition = partition;
    for (uint32_t t = 1; t < n_threads; t++) {
        worker_init(engine, t);
        wf_cells_adopt(&engine->workers[t].cells, &engine->workers[0].cells);
    }
    wf_engine_repartition(engine);
    wf_barrier_init(&engine->barrier, n_threads, wf_comm_local_cores(engine->comm));
    start_threads(engine, late_main);
}

static void run_threads(struct wf_engine *engine)
{
    engine->threads = wf_xcalloc(engine->n_threads_max, sizeof(*engine->threads));
    start_threads(engine, worker_main);
    (void)worker_main(&engine->workers[0]);
    for (uint32_t t = 1; t < engine->n_threads; t++) {
        wf_thread_join(engine->threads[t]);
    }
}

enum wf_status wf_engine_run(struct wf_engine *engine, struct wf_run *run, struct wf_err *err)
{
    bool alone = wf_scheduler_is_alone(engine->config.scheduler);

    set_up(engine, alone);
    if (!alone || engine->process == 0) {
        run_threads(engine);
    }
    wf_engine_collect(engine, alone ? 1 : engine->n_processes, run);
    if (engine->workers[0].forecast != NULL && run->events_committed > 0) {
        wf_forecast_report(engine->workers[0].forecast,
                           run->cpu_seconds / (double)run->events_committed, run);
    }
    if (engine->failure.status != WF_OK) {
        if (err != NULL) {
            *err = engine->failure;
        }
        return engine->failure.status;
    }
    if (engine->interrupted) {
        return wf_err_set(err, WF_EINTR, "interrupted");
    }
    return WF_OK;
}
