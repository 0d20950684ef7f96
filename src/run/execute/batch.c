/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/run.h"

#include "base/mem.h"
#include "base/result/result.h"
#include "run/execute/stages.h"
#include "run/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#define TRAFFIC "traffic:" /* begins the source of synthetic traffic */

enum { TOGETHER_MAX = 4096 }; /* scenarios whose plans are in memory at once */

/* A scenario while it is executed. */
struct entry {
    struct wf_sim_item *item;
    struct wf_execution x;
};

static void plan(struct entry *entry, struct wf_sim_item *item, const struct wf_sim_host *host)
{
    entry->item = item;
    entry->x.scenario = item->scenario;
    entry->x.host = host;
    entry->x.err = &item->err;
    item->err.status = wf_stage_plan(&entry->x);
}

bool wf_sim_batch_suits(const struct wf_scenario *scenario, size_t n)
{
    const struct wf_sim_host host = {.world = NULL};
    struct wf_sim_item item = {.scenario = scenario};
    const struct wf_setting *source = wf_scenario_find(scenario, "source");
    const struct wf_executor *executor = NULL;

    /* Reading a trace only to find out that events are needed would take too long. */
    if (n < 2 || source == NULL || strncmp(source->value, TRAFFIC, strlen(TRAFFIC)) != 0) {
        return false;
    }
    struct entry *entry = wf_xcalloc(1, sizeof(*entry));
    struct wf_execution *x = &entry->x;
    plan(entry, &item, &host);
    bool suits = x->planned && x->plan.pattern != NULL && x->plan.exec != WF_EXEC_EVENTS &&
                 x->plan.exec != WF_EXEC_LOCKSTEP && wf_stage_job(x) == WF_OK &&
                 wf_executor_choose(&x->job, n, &executor, NULL) == WF_OK && executor->many;
    wf_execution_fini(x);
    free(entry);
    return suits;
}

/* ---- execution ---- */

static void run_by_events(struct wf_sim_item *item, const struct wf_sim_host *host)
{
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_err *err = &item->err;

    wf_scenario_append(scenario, item->scenario);
    err->status =
        wf_scenario_set(scenario, "engine.exec", wf_exec_names[WF_EXEC_EVENTS], NULL, err);
    if (err->status == WF_OK) {
        err->status = wf_sim_run(scenario, host, &item->doc, err);
    }
    wf_scenario_free(scenario);
}

/* Prepares an entry for the executor of all, or executes it by itself. Returns whether the former
 * is the case. */
static bool joins(struct entry *entry, size_t n, const struct wf_executor **chosen)
{
    struct wf_execution *x = &entry->x;
    struct wf_sim_item *item = entry->item;
    const struct wf_executor *executor = NULL;

    item->err.status = wf_stage_job(x);
    if (item->err.status == WF_OK) {
        item->err.status = wf_executor_choose(&x->job, n, &executor, x->err);
    }
    if (item->err.status == WF_OK && executor->many) {
        *chosen = executor;
        wf_executor_job_init(&x->outcome, executor, &x->job, &x->config);
        return true;
    }
    wf_execution_fini(x);
    if (item->err.status == WF_OK) {
        item->err.status = wf_sim_run(item->scenario, x->host, &item->doc, &item->err);
    }
    return false;
}

/* Describes an entry that was executed. It stays planned if it must run again. */
static void end_round(struct entry *entry)
{
    struct wf_execution *x = &entry->x;
    struct wf_sim_item *item = entry->item;
    bool needs_events = x->outcome.needs_events;

    if (!needs_events) {
        item->err.status = wf_stage_describe(x);
    }
    wf_execution_end_job(x);
    if (!needs_events && item->err.status == WF_OK && wf_job_lengthen(&x->plan, x->doc)) {
        wf_doc_free(x->doc);
        x->doc = NULL;
        return;
    }
    wf_execution_fini(x);
    item->doc = x->doc;
    if (needs_events) {
        run_by_events(item, x->host);
    }
}

/* Executes the entries that are planned, and leaves those planned that must run again. */
static void run_round(struct entry *entries, size_t n, const struct wf_sim_host *host)
{
    struct wf_executor_job **jobs = wf_xcalloc(n, sizeof(struct wf_executor_job *));
    struct entry **joined = wf_xcalloc(n, sizeof(struct entry *));
    const struct wf_executor *chosen = NULL;
    size_t n_jobs = 0;

    for (size_t i = 0; i < n; i++) {
        if (entries[i].x.planned && joins(&entries[i], n, &chosen)) {
            jobs[n_jobs] = &entries[i].x.outcome;
            joined[n_jobs++] = &entries[i];
        }
    }
    if (n_jobs > 0) {
        chosen->run(jobs, n_jobs, host);
    }
    for (size_t i = 0; i < n_jobs; i++) {
        end_round(joined[i]);
    }
    free(joined);
    free(jobs);
}

static bool any_left(const struct entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (entries[i].x.planned) {
            return true;
        }
    }
    return false;
}

void wf_sim_batch_run(struct wf_sim_item *items, size_t n, const struct wf_sim_host *host)
{
    size_t most = n < TOGETHER_MAX ? n : TOGETHER_MAX;

    for (size_t first = 0; first < n; first += most) {
        size_t count = n - first < most ? n - first : most;
        struct entry *entries = wf_xcalloc(count, sizeof(*entries));
        for (size_t i = 0; i < count; i++) {
            plan(&entries[i], &items[first + i], host);
        }
        while (any_left(entries, count)) {
            run_round(entries, count, host);
        }
        free(entries);
    }
}
