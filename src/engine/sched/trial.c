/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on several threads begins on one, which counts what its events would take on more (forecast.h).
 * From the counts, the measured time of an event and that of a synchronisation follow the number of threads
 * and the partition. Then processes and events move to their threads, and the run goes on with the
 * conservative scheduler. A run that is faster on one thread stays there, and is asked again each time
 * it has doubled: a program may begin with little to do.
 *
 * A run that starts with several events for each process, and with more than a trial has, gets all threads
 * at once: to move so many events later takes longer than a trial saves.
 */
#include "base/clock.h"
#include "engine/core/forecast.h"
#include "engine/core/internal.h"
#include "engine/sched/sequential.h"
#include "engine/sched/windows.h"

#include <stdlib.h>

static const struct wf_scheduler_ops *next_of(const struct wf_worker *worker)
{
    return worker->engine->n_threads > 1 ? &wf_scheduler_conservative
                                         : &wf_scheduler_sequential;
}

static void keep(struct wf_worker *worker, const struct wf_event *ev)
{
    (void)wf_bag_add(&worker->engine->dealt, &worker->pool, ev);
}

/* The first events are kept until it is known who takes them. */
static void prepare(struct wf_worker *worker)
{
    worker->ctx.send = keep;
}

static void release(struct wf_worker *worker)
{
    next_of(worker)->release(worker);
}

/* Windows with fewer events are faster on one thread. */
static uint32_t alone_below(uint32_t threads, double event_seconds, double meeting_seconds)
{
    const double percent = 100, most = 1e9;
    double events = wf_forecast_window(threads, meeting_seconds) / event_seconds *
                    (percent / (percent - WF_TUNE_TRIAL_BUSIEST));

    return events < most ? (uint32_t)events : (uint32_t)most;
}

/* Executes some events; true if the run is over. */
static bool try(struct wf_worker *worker, double *meeting, struct wf_forecast_choice *choice)
{
    struct wf_engine *engine = worker->engine;
    struct wf_forecast *forecast = wf_forecast_new(engine);
    uint64_t before = worker->count.committed;
    double begun = wf_clock_cpu();

    worker->forecast = forecast;
    bool over = wf_store_run(worker, before + engine->trial);
    worker->forecast = NULL;
    double each = (wf_clock_cpu() - begun) / (double)(worker->count.committed - before + 1);
    if (!over && !engine->config.fit) {
        int wanted = engine->config.partition;
        *choice = (struct wf_forecast_choice){
            engine->n_threads_max,
            wanted != WF_PARTITION_AUTO
                ? wanted
                : wf_forecast_partition(forecast, engine->n_threads_max)};
    } else if (!over) {
        *meeting = *meeting > 0 ? *meeting : wf_forecast_meeting();
        *choice = wf_forecast_choose(forecast, engine->n_threads_max, engine->config.partition,
                                     each, *meeting);
        engine->alone_below = alone_below(choice->threads, each, *meeting);
    }
    wf_forecast_free(forecast);
    return over;
}

/* Reads all events and files its own. */
static void take(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;

    for (struct wf_chunk *chunk = engine->dealt.head; chunk != NULL; chunk = chunk->next) {
        wf_chunk_prefetch(chunk->next);
        for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
            const struct wf_event *ev = wf_chunk_event(chunk, at);
            if (wf_engine_owner(engine, ev->dst) == worker->number) {
                worker->ctx.send(worker, ev);
            }
        }
    }
    wf_barrier_wait(&engine->barrier); /* all have their events */
    if (worker->thread == 0) {
        wf_bag_free(&engine->dealt, &worker->pool);
    }
    if (worker->thread == 0 && worker->count.committed == 0) {
        wf_engine_start_clock(engine);
    }
}

void wf_worker_join(struct wf_worker *worker)
{
    wf_worker_begin(worker);
    wf_scheduler_conservative.prepare(worker);
    take(worker);
    wf_scheduler_conservative.run(worker);
}

/* `dealt` has all events. */
static void split(struct wf_worker *worker, struct wf_forecast_choice choice)
{
    wf_engine_split(worker->engine, choice.threads, choice.partition);
    wf_worker_join(worker);
}

static void empty_store(struct wf_worker *worker)
{
    struct wf_store *store = worker->scheduler;

    wf_store_take_all(store, worker, &worker->engine->dealt);
    wf_store_fini(store);
    free(store);
}

static bool needs_no_trial(const struct wf_engine *engine)
{
    uint64_t processes = 0;

    for (uint32_t g = 0; g < engine->n_groups; g++) {
        processes += engine->groups[g].count;
    }
    return engine->config.trial == 0 && engine->dealt.n > engine->trial &&
           engine->dealt.n >= WF_TUNE_TRIAL_DENSE * processes;
}

static void run(struct wf_worker *worker)
{
    struct wf_engine *engine = worker->engine;
    struct wf_forecast_choice choice = {engine->n_threads_max, engine->config.partition};
    double meeting = 0;
    bool over = false;

    wf_bag_seal(&engine->dealt);
    if (needs_no_trial(engine)) {
        choice.partition =
            choice.partition == WF_PARTITION_AUTO ? WF_PARTITION_BLOCK : choice.partition;
        split(worker, choice);
        return;
    }
    wf_scheduler_sequential.prepare(worker);
    take(worker);
    while (!over) {
        over = try(worker, &meeting, &choice);
        if (!over && choice.threads > 1) {
            empty_store(worker);
            split(worker, choice);
            break;
        }
        over = over || wf_store_run(worker, 2 * worker->count.committed);
    }
    if (engine->n_threads < engine->n_threads_max) {
        engine->fit =
            worker->count.committed < engine->trial ? WF_RUN_TOO_SMALL : WF_RUN_TOO_SPARSE;
    }
}

const struct wf_scheduler_ops wf_scheduler_trial = {
    .prepare = prepare,
    .run = run,
    .release = release,
};
