/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to a scenario, in order. The stages are in the files of this folder; stages.h
 * says what each does.
 */
#include "run/execute/run.h"

#include "base/result/doc.h"
#include "engine/hosts/comm.h"
#include "run/document/document.h"
#include "run/execute/stages.h"
#include "run/execute/world.h"
#include "run/program/program.h"
#include "run/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

/* When a stage takes place. */
enum when {
    IF_OK,            /* all stages before it succeeded */
    IF_OK_EVERYWHERE, /* likewise, in all processes */
    IF_RAN,           /* the program ran to its end, in all processes */
    ALWAYS,
};

struct stage {
    enum when when;
    bool (*wanted)(const struct wf_execution *x); /* null: always */
    enum wf_status (*run)(struct wf_execution *x);
};

static enum wf_status execute(struct wf_execution *x);
static enum wf_status play_record(struct wf_execution *x);

/* From a scenario to its document. */
static const struct stage run_stages[] = {
    {IF_OK, NULL, wf_stage_plan},
    {IF_OK, NULL, wf_stage_notes},
    {IF_OK, NULL, wf_stage_trace},
    {IF_OK, NULL, wf_stage_record},
    {IF_OK, NULL, wf_stage_fold},
    {IF_OK, NULL, execute},
    {ALWAYS, NULL, wf_stage_end_trace},
    {IF_OK_EVERYWHERE, NULL, play_record},
    {IF_OK_EVERYWHERE, wf_stage_wants_replicas, wf_stage_replicas},
    {.run = NULL},
};

/* An execution of the plan. */
static const struct stage execution_stages[] = {
    {IF_OK, NULL, wf_stage_job},
    {IF_OK, NULL, wf_stage_executor},
    {IF_OK, wf_stage_wants_ideal, wf_stage_ideal},
    {IF_OK, NULL, wf_stage_execute},
    {IF_OK, NULL, wf_stage_describe},
    {IF_RAN, wf_stage_wants_what_if, wf_stage_what_if},
    {IF_RAN, wf_stage_wants_alone, wf_stage_alone},
    {.run = NULL},
};

/* Everything that can be checked without an execution. */
static const struct stage explain_stages[] = {
    {IF_OK, NULL, wf_stage_plan},     {IF_OK, NULL, wf_stage_notes},
    {IF_OK, NULL, wf_stage_fold},     {IF_OK, NULL, wf_stage_job},
    {IF_OK, NULL, wf_stage_estimate}, {.run = NULL},
};

static bool is_due(const struct wf_execution *x, const struct stage *stage)
{
    if (stage->wanted != NULL && !stage->wanted(x)) {
        return false;
    }
    switch (stage->when) {
    case IF_OK:
        return x->status == WF_OK;
    case IF_OK_EVERYWHERE: /* only the first process knows whether the program failed */
        return wf_world_min(x->host->world, x->status == WF_OK) != 0;
    case IF_RAN:
        return x->ran;
    case ALWAYS:
        break;
    }
    return true;
}

/* The status is that of the stage that failed last. */
static void run_all(struct wf_execution *x, const struct stage *stages)
{
    for (const struct stage *stage = stages; stage->run != NULL; stage++) {
        enum wf_status status = is_due(x, stage) ? stage->run(x) : WF_OK;

        if (status != WF_OK) {
            x->status = status;
            x->ran = x->ran && stage->when != IF_RAN;
        }
    }
}

/* Executes the plan once, or longer and longer until the result has converged. */
static enum wf_status execute(struct wf_execution *x)
{
    do {
        wf_doc_free(x->doc);
        x->doc = NULL;
        run_all(x, execution_stages);
        wf_execution_end_job(x);
    } while (x->status == WF_OK && wf_comm_size(x->host->world) == 1 &&
             wf_job_lengthen(&x->plan, x->doc));
    return x->status;
}

/* Replays what was recorded, if further numbers or corrected compute times are needed. Then the
 * document is that of the replay. */
static enum wf_status play_record(struct wf_execution *x)
{
    uint64_t raw = x->doc != NULL ? wf_doc_get_count(x->doc, "result.predicted_time_ps", 0) : 0;
    bool again = false;

    WF_TRY(wf_stage_play(x, &again));
    if (again) {
        WF_TRY(execute(x));
    }
    wf_stage_describe_record(x, raw);
    return WF_OK;
}

static bool has_document(enum wf_status status)
{
    return status == WF_OK || status == WF_EINTR || status == WF_ESIM;
}

/* One of many runs: only how it ends counts. */
static enum wf_status run_order(const struct wf_scenario *scenario,
                                const struct wf_sim_host *host, struct wf_decisions *decisions,
                                bool *deadlock)
{
    static const struct wf_orders none = {.runs = 0};
    struct wf_err err;
    struct wf_execution x = {.scenario = scenario, .host = host, .err = &err, .orders = &none};

    run_all(&x, run_stages);
    *deadlock =
        x.doc != NULL && strcmp(wf_doc_get_text(x.doc, "result.status", ""), "deadlock") == 0;
    *decisions = x.decisions;
    return x.status;
}

static bool runs_program(const struct wf_scenario *scenario)
{
    for (size_t i = 0; i < scenario->n; i++) {
        if (wf_setting_runs_program(&scenario->settings[i])) {
            return true;
        }
    }
    return false;
}

static enum wf_status run_scenario(const struct wf_scenario *scenario,
                                   const struct wf_sim_host *host, bool explains,
                                   struct wf_value **doc, struct wf_err *err)
{
    struct wf_execution x = {
        .scenario = scenario, .host = host, .err = err, .explains = explains};
    struct wf_orders orders = {.runs = 0};
    struct wf_scenario *own = NULL;

    *doc = NULL;
    if (runs_program(scenario)) {
        WF_TRY(wf_program_take_turn(host->stop, err));
    }
    if (!explains) {
        x.status = wf_orders_prepare(scenario, host, run_order, &orders, &own, err);
    }
    if (own != NULL) {
        x.scenario = own;
        x.orders = &orders;
    }
    run_all(&x, explains ? explain_stages : run_stages);
    wf_execution_fini(&x);
    free(x.decisions.items);
    free(orders.schedule);
    wf_scenario_free(own);
    if (runs_program(scenario)) {
        wf_program_end_turn();
    }
    if (!has_document(x.status)) {
        wf_doc_free(x.doc);
        x.doc = NULL;
    }
    *doc = x.doc;
    return x.status;
}

enum wf_status wf_sim_run(const struct wf_scenario *scenario, const struct wf_sim_host *host,
                          struct wf_value **doc, struct wf_err *err)
{
    return run_scenario(scenario, host, false, doc, err);
}

enum wf_status wf_sim_explain(const struct wf_scenario *scenario,
                              const struct wf_sim_host *host, struct wf_value **doc,
                              struct wf_err *err)
{
    return run_scenario(scenario, host, true, doc, err);
}

enum wf_status wf_sim_check(const struct wf_scenario *scenario, struct wf_sim_facts *facts,
                            struct wf_err *err)
{
    char words[512];
    struct wf_plan plan;

    WF_TRY(wf_plan_init(&plan, scenario, err));
    facts->lacks_memory = wf_sim_memory_lacks(&plan, words, sizeof(words));
    facts->least_ps = facts->lacks_memory ? 0 : wf_sim_bound(&plan);
    wf_plan_fini(&plan);
    return WF_OK;
}
