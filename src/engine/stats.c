/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/stats.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "engine/internal.h"

double wf_run_efficiency_percent(const struct wf_run *run)
{
    if (run->events_committed == 0) {
        return run->events_rolled_back == 0 ? 100.0 : 0.0;
    }
    return (1.0 - (double)run->events_rolled_back / (double)run->events_committed) * 100.0;
}

/* A sum, so that it does not matter who holds which process. */
static uint64_t worker_digest(const struct wf_worker *worker)
{
    uint64_t sum = 0;

    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        const struct wf_block *block = &worker->engine->blocks[worker->blocks[b]];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t id = block->first + i;
            sum +=
                wf_rng_mix(wf_block_lp(block, id)->digest + (id + UINT64_C(1)) * WF_RNG_GOLDEN);
        }
    }
    return sum;
}

static void add_worker(const struct wf_worker *worker, struct wf_run *run)
{
    const struct wf_counters *count = &worker->count;

    run->digest += worker_digest(worker);
    run->events_committed += count->committed;
    run->events_rolled_back += count->rolled_back;
    run->rollbacks += count->rollbacks;
    run->anti_messages += count->antis;
    run->remote_events += count->remote;
    run->memory_throttles += count->throttles;
    run->gvt_seconds += count->gvt_seconds;
    run->time = count->last_time > run->time ? count->last_time : run->time;
    if (count->committed < run->thread_events_min) {
        run->thread_events_min = count->committed;
    }
    if (count->committed > run->thread_events_max) {
        run->thread_events_max = count->committed;
    }
}

static void add_this_process(const struct wf_engine *engine, struct wf_run *run)
{
    bool optimistic =
        engine->config.scheduler == WF_OPTIMISTIC || engine->config.scheduler == WF_PERTURB;
    uint64_t rounds = engine->workers[0].count.rounds;

    for (uint32_t t = 0; t < engine->n_threads; t++) {
        add_worker(&engine->workers[t], run);
    }
    run->gvt_rounds = optimistic ? rounds : 0;
    run->windows = optimistic ? 0 : rounds;
    run->wall_seconds = engine->end_wall - engine->start_wall;
    run->cpu_seconds = engine->end_cpu - engine->start_cpu;
    run->peak_rss_bytes = wf_clock_peak_rss();
}

/* What one process knows of the run, on its way to process 0. */
struct parcel {
    struct wf_run run;
    struct wf_err failure;
    bool interrupted;
};

static void merge_parcel(void *arg, const void *bytes)
{
    struct parcel *all = arg;
    struct parcel one;

    memcpy(&one, bytes, sizeof(one));
    all->run.digest += one.run.digest;
    all->run.events_committed += one.run.events_committed;
    all->run.events_rolled_back += one.run.events_rolled_back;
    all->run.rollbacks += one.run.rollbacks;
    all->run.anti_messages += one.run.anti_messages;
    all->run.remote_events += one.run.remote_events;
    all->run.memory_throttles += one.run.memory_throttles;
    all->run.gvt_seconds += one.run.gvt_seconds;
    all->run.cpu_seconds += one.run.cpu_seconds;
    all->run.peak_rss_bytes += one.run.peak_rss_bytes;
    if (one.run.time > all->run.time) {
        all->run.time = one.run.time;
    }
    if (one.run.wall_seconds > all->run.wall_seconds) {
        all->run.wall_seconds = one.run.wall_seconds;
    }
    if (one.run.thread_events_min < all->run.thread_events_min) {
        all->run.thread_events_min = one.run.thread_events_min;
    }
    if (one.run.thread_events_max > all->run.thread_events_max) {
        all->run.thread_events_max = one.run.thread_events_max;
    }
    if (all->failure.status == WF_OK) {
        all->failure = one.failure;
    }
    all->interrupted |= one.interrupted;
}

static void merge_tally(void *arg, const void *bytes)
{
    struct wf_engine *engine = arg;

    if (engine->merge != NULL) {
        engine->merge(engine->tally, bytes);
    }
}

static void check_overflow(const struct wf_engine *engine, struct wf_err *failure)
{
    for (uint32_t t = 0; t < engine->n_threads && failure->status == WF_OK; t++) {
        if (engine->workers[t].overflows > 0) {
            (void)wf_err_set(failure, WF_ELIMIT,
                             "simulated time passes 2^63 ps (106 days); shorten the run or its "
                             "delays");
        }
    }
}

void wf_stats_collect(struct wf_engine *engine, uint32_t n_processes, struct wf_run *run)
{
    bool took_part = engine->process < n_processes;
    struct parcel parcel = {.failure = engine->failure, .interrupted = engine->interrupted};

    parcel.run.thread_events_min = UINT64_MAX;
    parcel.run.threads = engine->n_threads;
    parcel.run.processes = n_processes;
    if (took_part) {
        add_this_process(engine, &parcel.run);
        check_overflow(engine, &parcel.failure);
    }
    for (uint32_t t = 0; took_part && engine->cargo.settle != NULL && t < engine->n_threads;
         t++) {
        engine->cargo.settle(engine->cargo.arg, engine->workers[t].tally);
    }
    /* The first part becomes the whole: it may be large. */
    if (took_part) {
        engine->tally = engine->workers[0].tally;
        engine->workers[0].tally = NULL;
    } else {
        engine->tally = wf_xcalloc(1, engine->tally_size);
    }
    for (uint32_t t = 1; took_part && t < engine->n_threads; t++) {
        merge_tally(engine, engine->workers[t].tally);
    }
    if (engine->n_processes > 1) {
        wf_comm_collect(engine->comm, &parcel, sizeof(parcel), merge_parcel, &parcel);
        wf_comm_collect(engine->comm, engine->tally, engine->tally_size, merge_tally, engine);
        wf_comm_share(engine->comm, &parcel, sizeof(parcel));
    }
    engine->failure = parcel.failure;
    engine->interrupted = parcel.interrupted;
    *run = parcel.run;
}
