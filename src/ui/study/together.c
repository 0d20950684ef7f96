/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/together.h"

#include "base/guard.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"

#include <pthread.h>
#include <stdlib.h>

struct running {
    const struct wf_study_batch *batch;
    pthread_mutex_t lock; /* protects the rest */
    pthread_cond_t freed; /* signalled when a scenario gives its memory back */
    size_t n;
    uint64_t used; /* estimated bytes of the n that run */
};

/* ---- in parallel ---- */

static uint64_t memory_of(const struct wf_scenario *scenario, struct wf_err *err)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_value *doc = NULL;
    uint64_t bytes = 0;

    err->status = wf_sim_explain(scenario, &host, &doc, err);
    if (err->status == WF_OK) {
        bytes = wf_doc_get_count(doc, "estimate.memory_bytes", 0);
        wf_doc_free(doc);
    }
    return bytes;
}

/* Waits until the memory budget allows the point; a point above the budget runs alone. */
static void take_memory(struct running *running, uint64_t bytes)
{
    (void)pthread_mutex_lock(&running->lock);
    while (running->n > 0 && running->used + bytes > running->batch->memory) {
        (void)pthread_cond_wait(&running->freed, &running->lock);
    }
    running->n++;
    running->used += bytes;
    (void)pthread_mutex_unlock(&running->lock);
}

static void give_memory(struct running *running, uint64_t bytes)
{
    (void)pthread_mutex_lock(&running->lock);
    running->n--;
    running->used -= bytes;
    (void)pthread_cond_broadcast(&running->freed);
    (void)pthread_mutex_unlock(&running->lock);
}

/* The document, or null. A point for which the memory is too small fails alone. */
static struct wf_value *run_guarded(const struct wf_scenario *scenario,
                                    const struct wf_sim_host *host, struct wf_err *err)
{
    struct wf_guard guard;
    struct wf_value *doc = NULL;

    if (setjmp(*wf_guard_enter(&guard, WF_GUARD_RELEASE)) != 0) {
        err->status = wf_guard_error(&guard, err);
        return NULL;
    }
    err->status = wf_sim_run(scenario, host, &doc, err);
    wf_guard_pass(&guard);
    return doc;
}

/* A point's scenario, or null, and the memory that it needs. It fails alone, too: the documents of other points are
 * not lost. */
static struct wf_scenario *prepare_guarded(const struct wf_study_batch *batch, size_t i,
                                           uint64_t *bytes, struct wf_err *err)
{
    struct wf_guard guard;

    *bytes = 0;
    if (setjmp(*wf_guard_enter(&guard, WF_GUARD_RELEASE)) != 0) {
        err->status = wf_guard_error(&guard, err);
        return NULL;
    }
    struct wf_scenario *scenario = batch->scenario(batch->arg, i, err);
    if (scenario != NULL && batch->memory > 0) {
        *bytes = memory_of(scenario, err);
    }
    wf_guard_pass(&guard);
    return scenario;
}

static bool run_one(void *arg, size_t i)
{
    struct running *running = arg;
    const struct wf_study_batch *batch = running->batch;
    if (batch->claim != NULL && !batch->claim(batch->arg, i)) {
        return true;
    }
    const struct wf_sim_host host = {.stop = batch->host->stop,
                                     .running = batch->host->running,
                                     .running_arg = batch->host->running_arg,
                                     .run_threads = wf_points_threads(batch->host, batch->n)};
    struct wf_err err = {.status = WF_OK};
    struct wf_value *doc = NULL;
    uint64_t bytes;
    struct wf_scenario *scenario = prepare_guarded(batch, i, &bytes, &err);

    if (scenario != NULL && err.status == WF_OK) {
        take_memory(running, bytes * host.run_threads);
        doc = run_guarded(scenario, &host, &err);
        give_memory(running, bytes * host.run_threads);
    }
    batch->ended(batch->arg, i, doc, &err);
    wf_scenario_free(scenario);
    return err.status != WF_EINTR;
}

static bool run_in_parallel(const struct wf_study_batch *batch)
{
    struct running running = {.batch = batch};

    (void)pthread_mutex_init(&running.lock, NULL);
    (void)pthread_cond_init(&running.freed, NULL);
    bool complete = wf_points_run(batch->host, batch->n, batch->done, run_one, &running);
    (void)pthread_cond_destroy(&running.freed);
    (void)pthread_mutex_destroy(&running.lock);
    return complete;
}

/* ---- all at once ---- */

struct told {
    const struct wf_points_host *host;
    size_t n;
};

/* All points advance at the same time: the fraction counts as so many complete points. */
static void tell(void *arg, const struct wf_sim_progress *progress)
{
    const struct told *told = arg;
    double fraction = progress->fraction > 0 ? progress->fraction : 0;

    told->host->progress(told->host->progress_arg, (size_t)(fraction * (double)told->n),
                         told->n);
}

static void execute(const struct wf_points_host *host, struct wf_sim_item *items, size_t n)
{
    struct told told = {.host = host, .n = n};
    const struct wf_sim_host own = {
        .stop = host->stop,
        .running = host->running,
        .running_arg = host->running_arg,
        .progress = host->progress != NULL ? tell : NULL,
        .progress_arg = &told,
    };

    wf_sim_batch_run(items, n, &own);
    if (host->progress != NULL) {
        host->progress(host->progress_arg, n, n);
    }
}

static bool run_at_once(const struct wf_study_batch *batch)
{
    struct wf_sim_item *items = wf_xcalloc(batch->n, sizeof(*items));
    struct wf_scenario **scenarios = wf_xcalloc(batch->n, sizeof(struct wf_scenario *));
    size_t *number = wf_xcalloc(batch->n, sizeof(*number)), n = 0;
    bool complete = true;

    for (size_t i = 0; i < batch->n && (batch->share == 0 || n < batch->share); i++) {
        struct wf_err err = {.status = WF_OK};
        if (batch->claim != NULL && !batch->claim(batch->arg, i)) {
            continue;
        }
        scenarios[n] = batch->scenario(batch->arg, i, &err);
        items[n].scenario = scenarios[n];
        number[n] = i;
        n += scenarios[n] != NULL;
        if (err.status != WF_OK) {
            batch->ended(batch->arg, i, NULL, &err);
        }
    }
    execute(batch->host, items, n);
    for (size_t i = 0; i < n; i++) {
        complete = complete && items[i].err.status != WF_EINTR;
        batch->ended(batch->arg, number[i], items[i].doc, &items[i].err);
        wf_scenario_free(scenarios[i]);
    }
    free(number);
    free(scenarios);
    free(items);
    return complete;
}

bool wf_study_batch_run(const struct wf_study_batch *batch)
{
    struct wf_err ignored;
    struct wf_scenario *first =
        batch->like == NULL && batch->n > 1 ? batch->scenario(batch->arg, 0, &ignored) : NULL;
    const struct wf_scenario *like = batch->like != NULL ? batch->like : first;
    bool suits = like != NULL && wf_sim_batch_suits(like, batch->n);

    wf_scenario_free(first);
    return suits ? run_at_once(batch) : run_in_parallel(batch);
}
