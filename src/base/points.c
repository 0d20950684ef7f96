/* SPDX-License-Identifier: Apache-2.0 */
#include "base/points.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct pool {
    const struct wf_points_host *host;
    bool (*run)(void *arg, size_t point);
    void *arg;
    size_t n, total;
    pthread_mutex_t lock; /* protects the next two, and calls of progress() */
    size_t next, done;
};

static bool stopped(const struct pool *pool)
{
    return pool->host->stop != NULL && *pool->host->stop != 0;
}

static void report(const struct pool *pool)
{
    if (pool->host->progress != NULL) {
        pool->host->progress(pool->host->progress_arg, pool->done, pool->total);
    }
}

static void *work(void *arg)
{
    struct pool *pool = arg;

    (void)pthread_mutex_lock(&pool->lock);
    while (pool->next < pool->n && !stopped(pool)) {
        size_t point = pool->next++;
        (void)pthread_mutex_unlock(&pool->lock);
        bool done = pool->run(pool->arg, point);
        (void)pthread_mutex_lock(&pool->lock);
        pool->done += done ? 1 : 0;
        report(pool);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

bool wf_points_run(const struct wf_points_host *host, size_t n, size_t done,
                   bool (*run)(void *arg, size_t point), void *arg)
{
    struct pool pool = {
        .host = host, .run = run, .arg = arg, .n = n, .total = n + done, .done = done};
    size_t n_threads = host->jobs < n ? host->jobs : n, started = 0;
    pthread_t *threads = wf_xcalloc(n_threads + 1, sizeof(*threads));

    (void)pthread_mutex_init(&pool.lock, NULL);
    report(&pool);
    while (started + 1 < n_threads && wf_thread_start(&threads[started], work, &pool) == 0) {
        started++;
    }
    (void)work(&pool);
    while (started > 0) {
        wf_thread_join(threads[--started]);
    }
    (void)pthread_mutex_destroy(&pool.lock);
    free(threads);
    return !stopped(&pool);
}

size_t wf_points_threads(const struct wf_points_host *host, size_t n)
{
    size_t side_by_side = host->jobs < n ? host->jobs : n;
    size_t cores = host->cores > 0 ? host->cores : wf_clock_cores();

    return side_by_side > 0 && cores > side_by_side ? cores / side_by_side : 1;
}
