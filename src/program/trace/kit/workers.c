/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/workers.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/mem.h"
#include "program/trace/kit/infile.h"

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

/* Items that a worker takes at once. Small files must not wait for the counter. */
enum { BATCH = 8 };

/* What all workers share. */
struct crew {
    uint32_t n, batch;
    wf_trace_visit *visit;
    void *arg;
    atomic_uint next;   /* the first item that nobody has taken */
    atomic_uint failed; /* the lowest item that has failed; n: none */
};

struct worker {
    alignas(WF_CACHE_LINE) struct crew *crew; /* aligned: workers share no cache line */
    uint32_t number;
    uint32_t failed; /* the item of the failure in `err` */
    struct wf_err err;
};

uint32_t wf_trace_workers(uint32_t n)
{
    size_t cores = wf_clock_cores();
    uint32_t most = cores < WF_TRACE_WORKERS_MAX ? (uint32_t)cores : WF_TRACE_WORKERS_MAX;

    return n < 2 ? 1 : n < most ? n : most;
}

static void note_failure(struct crew *crew, uint32_t item)
{
    uint32_t lowest = atomic_load_explicit(&crew->failed, memory_order_relaxed);

    while (item < lowest &&
           !atomic_compare_exchange_weak_explicit(&crew->failed, &lowest, item,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Items above a failed one need no visit; all below it have been taken. */
static bool is_wanted(struct crew *crew, uint32_t item)
{
    return item < atomic_load_explicit(&crew->failed, memory_order_relaxed);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct crew *crew = worker->crew;

    for (;;) {
        uint32_t first =
            atomic_fetch_add_explicit(&crew->next, crew->batch, memory_order_relaxed);
        uint32_t end =
            first < crew->n && crew->n - first > crew->batch ? first + crew->batch : crew->n;
        for (uint32_t item = first; item < end && is_wanted(crew, item); item++) {
            crew->visit(crew->arg, worker->number, item, &worker->err);
            if (wf_trace_failed(&worker->err)) {
                worker->failed = item;
                note_failure(crew, item);
                return NULL;
            }
        }
        if (end >= crew->n || !is_wanted(crew, end)) {
            return NULL;
        }
    }
}

void wf_trace_visit_all(uint32_t n, uint32_t n_workers, wf_trace_visit *visit, void *arg,
                        struct wf_err *err)
{
    struct crew crew = {.n = n, .visit = visit, .arg = arg, .next = 0, .failed = n};
    struct worker workers[WF_TRACE_WORKERS_MAX];
    pthread_t threads[WF_TRACE_WORKERS_MAX];
    bool begun[WF_TRACE_WORKERS_MAX] = {false};
    const struct worker *worst = NULL;

    assert(n_workers >= 1 && n_workers <= WF_TRACE_WORKERS_MAX);
    if (wf_trace_failed(err)) {
        return;
    }
    crew.batch = n / n_workers / BATCH < BATCH ? 1 : BATCH;
    for (uint32_t i = 0; i < n_workers; i++) {
        workers[i] = (struct worker){.crew = &crew, .number = i};
        begun[i] = i > 0 && wf_thread_start(&threads[i], work, &workers[i]) == 0;
    }
    (void)work(&workers[0]);
    for (uint32_t i = 1; i < n_workers; i++) {
        if (begun[i]) {
            wf_thread_join(threads[i]);
        }
    }
    for (uint32_t i = 0; i < n_workers; i++) {
        bool is_worse = worst == NULL || workers[i].failed < worst->failed;
        worst = wf_trace_failed(&workers[i].err) && is_worse ? &workers[i] : worst;
    }
    if (worst != NULL) {
        *err = worst->err;
    }
}
