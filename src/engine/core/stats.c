/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arith.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "engine/core/internal.h"

#include <math.h>

double wf_engine_efficiency_percent(const struct wf_run *run)
{
    if (run->events_committed == 0) {
        return run->events_rolled_back == 0 ? 100.0 : 0.0;
    }
    return (1.0 - (double)run->events_rolled_back / (double)run->events_committed) * 100.0;
}

/* A sum over processes, so that it does not depend on which worker has which process. */
static uint64_t worker_digest(const struct wf_worker *worker)
{
    uint64_t sum = 0;

    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        const struct wf_block *block = &worker->engine->blocks[worker->blocks[b]];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t id = wf_block_id(block, i);
            sum +=
                wf_rng_mix(wf_block_lp(block, id)->digest + (id + UINT64_C(1)) * WF_RNG_GOLDEN);
        }
    }
    return sum;
}

/* Adds the counts of a part of the run. */
static void add_run(struct wf_run *all, const struct wf_run *part)
{
    all->digest += part->digest;
    all->events_committed += part->events_committed;
    all->events_dropped += part->events_dropped;
    all->events_rolled_back += part->events_rolled_back;
    all->rollbacks += part->rollbacks;
    all->anti_messages += part->anti_messages;
    all->remote_events += part->remote_events;
    all->memory_throttles += part->memory_throttles;
    all->gvt_seconds += part->gvt_seconds;
    all->cpu_seconds += part->cpu_seconds;
    all->peak_rss_bytes += part->peak_rss_bytes;
    all->time = wf_max_i64(part->time, all->time);
    all->wall_seconds = fmax(part->wall_seconds, all->wall_seconds);
    all->thread_events_min = wf_min_u64(part->thread_events_min, all->thread_events_min);
    all->thread_events_max = wf_max_u64(part->thread_events_max, all->thread_events_max);
}

static void add_worker(const struct wf_worker *worker, struct wf_run *run)
{
    const struct wf_counters *count = &worker->count;

    add_run(run, &(struct wf_run){
                     .digest = worker_digest(worker),
                     .events_committed = count->committed,
                     .events_rolled_back = count->rolled_back,
                     .rollbacks = count->rollbacks,
                     .anti_messages = count->antis,
                     .remote_events = count->remote,
                     .memory_throttles = count->throttles,
                     .gvt_seconds = count->gvt_seconds,
                     .time = count->last_time,
                     .events_dropped = worker->dropped,
                     .thread_events_min = count->committed,
                     .thread_events_max = count->committed,
                 });
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
    run->windows_alone = engine->workers[0].count.alone;
    run->wall_seconds = engine->end_wall - engine->start_wall;
    run->cpu_seconds = engine->end_cpu - engine->start_cpu;
    run->peak_rss_bytes = wf_clock_peak_rss();
}

/* The report of one operating-system process to process 0. */
struct report {
    struct wf_run run;
    struct wf_err failure;
    bool interrupted;
};

static void merge_report(void *arg, const void *bytes)
{
    struct report *all = arg;
    struct report one;

    memcpy(&one, bytes, sizeof(one));
    add_run(&all->run, &one.run);
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

void wf_engine_collect(struct wf_engine *engine, uint32_t n_processes, struct wf_run *run)
{
    bool took_part = engine->process < n_processes;
    struct report report = {.failure = engine->failure, .interrupted = engine->interrupted};

    report.run.thread_events_min = UINT64_MAX;
    report.run.threads = engine->n_threads;
    report.run.fit = engine->fit;
    report.run.partition =
        engine->n_threads > 1 ? engine->config.partition : WF_PARTITION_BLOCK;
    report.run.processes = n_processes;
    if (took_part) {
        add_this_process(engine, &report.run);
        check_overflow(engine, &report.failure);
    }
    for (uint32_t t = 0; took_part && engine->cargo.settle != NULL && t < engine->n_threads;
         t++) {
        engine->cargo.settle(engine->cargo.arg, engine->workers[t].tally);
    }
    /* Other parts are merged into the first, which is not copied because it may be large. */
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
        wf_comm_collect(engine->comm, &report, sizeof(report), merge_report, &report);
        wf_comm_collect(engine->comm, engine->tally, engine->tally_size, merge_tally, engine);
        wf_comm_share(engine->comm, &report, sizeof(report));
    }
    engine->failure = report.failure;
    engine->interrupted = report.interrupted;
    *run = report.run;
}
