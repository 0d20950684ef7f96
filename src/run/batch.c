/* SPDX-License-Identifier: Apache-2.0 */
#include "run/batch.h"

#include "base/mem.h"
#include "base/result/result.h"
#include "model/traffic/traffic.h"
#include "run/executor.h"
#include "run/scenario.h"

#include <stdlib.h>
#include <string.h>

#define TRAFFIC "traffic:" /* begins the source of synthetic traffic */

enum { TOGETHER_MAX = 4096 }; /* scenarios whose plans are in memory at once */

/* A scenario while it is executed. */
struct entry {
    struct wf_sim_item *item;
    struct wf_plan plan;
    struct wf_job job;
    bool planned, prepared;
};

/* ---- preparation ---- */

static enum wf_status plan(struct entry *entry, struct wf_err *err)
{
    enum wf_status status = wf_plan_init(&entry->plan, entry->item->scenario, err);

    entry->planned = status == WF_OK;
    return status;
}

static enum wf_status prepare(struct entry *entry, struct wf_err *err)
{
    wf_job_init(&entry->job, &entry->plan);
    entry->prepared = true;
    return entry->job.ops->prepare(&entry->job, err);
}

static void unprepare(struct entry *entry)
{
    if (entry->prepared) {
        wf_job_fini(&entry->job);
    }
    entry->prepared = false;
}

static void finish(struct entry *entry)
{
    unprepare(entry);
    if (entry->planned) {
        wf_plan_fini(&entry->plan);
    }
    entry->planned = false;
}

bool wf_sim_batch_suits(const struct wf_scenario *scenario, size_t n)
{
    struct wf_sim_item item = {.scenario = scenario};
    const struct wf_setting *source = wf_scenario_find(scenario, "source");
    const struct wf_executor *executor = NULL;

    /* Reading a trace only to find out that events are needed would take too long. */
    if (n < 2 || source == NULL || strncmp(source->value, TRAFFIC, strlen(TRAFFIC)) != 0) {
        return false;
    }
    struct entry *entry = wf_xcalloc(1, sizeof(*entry));
    entry->item = &item;
    bool suits = plan(entry, NULL) == WF_OK && entry->plan.pattern != NULL &&
                 entry->plan.exec != WF_EXEC_EVENTS && entry->plan.exec != WF_EXEC_LOCKSTEP &&
                 prepare(entry, NULL) == WF_OK &&
                 wf_executor_choose(&entry->job, n, &executor, NULL) == WF_OK && executor->many;
    finish(entry);
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

/* Executes the entries that are planned, and leaves those planned that must run again. */
static void run_round(struct entry *entries, size_t n, const struct wf_sim_host *host)
{
    struct wf_executor_job *jobs = wf_xcalloc(n, sizeof(*jobs));
    size_t *index = wf_xcalloc(n, sizeof(*index)), n_jobs = 0;
    const struct wf_executor *chosen = NULL;

    for (size_t i = 0; i < n; i++) {
        struct entry *entry = &entries[i];
        struct wf_err *err = &entry->item->err;
        const struct wf_executor *executor = NULL;
        if (!entry->planned) {
            continue;
        }
        err->status = prepare(entry, err);
        if (err->status == WF_OK) {
            err->status = wf_executor_choose(&entry->job, n, &executor, err);
        }
        if (err->status == WF_OK && executor->many) {
            chosen = executor;
            jobs[n_jobs] = (struct wf_executor_job){.job = &entry->job,
                                                    .tally = wf_executor_tally(&entry->job)};
            index[n_jobs++] = i;
        } else {
            finish(entry);
            if (err->status == WF_OK) {
                err->status = wf_sim_run(entry->item->scenario, host, &entry->item->doc, err);
            }
        }
    }
    if (n_jobs > 0) {
        chosen->run(jobs, n_jobs, host);
    }
    for (size_t i = 0; i < n_jobs; i++) {
        struct entry *entry = &entries[index[i]];
        struct wf_sim_item *item = entry->item;
        bool again = jobs[i].needs_events;
        if (!again) {
            item->err.status = wf_executor_describe(&jobs[i], &item->doc, &item->err);
        }
        free(jobs[i].tally);
        unprepare(entry);
        if (again) {
            finish(entry);
            run_by_events(item, host);
        } else if (item->err.status == WF_OK && wf_job_lengthen(&entry->plan, item->doc)) {
            wf_doc_free(item->doc);
            item->doc = NULL;
        } else {
            finish(entry);
        }
    }
    free(index);
    free(jobs);
}

static bool any_left(const struct entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (entries[i].planned) {
            return true;
        }
    }
    return false;
}

void wf_sim_batch_run(struct wf_sim_item *items, size_t n, const struct wf_sim_host *host)
{
    size_t most = n < TOGETHER_MAX ? n : TOGETHER_MAX;
    struct entry *entries = wf_xcalloc(most, sizeof(*entries));

    for (size_t first = 0; first < n; first += most) {
        size_t count = n - first < most ? n - first : most;
        for (size_t i = 0; i < count; i++) {
            struct wf_sim_item *item = &items[first + i];
            entries[i].item = item;
            item->err.status = plan(&entries[i], &item->err);
        }
        while (any_left(entries, count)) {
            run_round(entries, count, host);
        }
    }
    free(entries);
}
