/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a run with half the latency, twice the bandwidth, or processors twice as fast. It
 * is simulated again, or estimated from the critical path. The path gives an upper bound of the
 * saving, because another path may become the longest.
 */
#include "run/document/document.h"
#include "run/execute/stages.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "run/execute/world.h"

#include <stdlib.h>
#include <string.h>

enum change { LATENCY, BANDWIDTH, COMPUTE, CHANGES };

/* Names in the document. */
static const char *const names[CHANGES] = {"latency", "bandwidth", "compute"};

/* The kind of parameters that each change varies, as marked in their tables. */
static const enum wf_param_what_if varied[CHANGES] = {WF_WHAT_IF_LATENCY, WF_WHAT_IF_BANDWIDTH,
                                                      WF_WHAT_IF_NOTHING};

/* Half of a time, or twice a rate. One picosecond or cycle cannot be halved, and a word such as
 * "auto" stays. */
static uint64_t changed(const struct wf_param *row, uint64_t value, enum change change)
{
    if (row->word != NULL && value == WF_PARAM_WORD) {
        return value;
    }
    if (change == LATENCY) {
        return value > 1 ? value / 2 : value;
    }
    return value > UINT64_MAX / 2 ? value : 2 * value;
}

/* Changes a copy of parameters. Lists are copied; release() frees them. Returns whether a
 * parameter was changed. */
static bool change_params(const struct wf_param *table, unsigned char *params,
                          enum change change)
{
    bool any = false;

    for (const struct wf_param *row = table; row != NULL && row->name != NULL; row++) {
        unsigned char *at = params + row->offset;
        bool wanted = row->what_if == varied[change] && change != COMPUTE;

        if (row->type == WF_PARAM_TIMES || row->type == WF_PARAM_RATES) {
            struct wf_list *list = (struct wf_list *)(void *)at;
            uint64_t *items = wf_xcalloc(list->n, sizeof(*items));
            for (size_t i = 0; i < list->n; i++) {
                items[i] = wanted ? changed(row, list->items[i], change) : list->items[i];
                any |= items[i] != list->items[i];
            }
            list->items = items;
        } else if (wanted) {
            uint64_t value, other;
            memcpy(&value, at, sizeof(value));
            other = changed(row, value, change);
            memcpy(at, &other, sizeof(other));
            any |= other != value;
        }
    }
    return any;
}

static void release(const struct wf_param *table, unsigned char *params)
{
    for (const struct wf_param *row = table; row != NULL && row->name != NULL; row++) {
        if (row->type == WF_PARAM_TIMES || row->type == WF_PARAM_RATES) {
            free(((struct wf_list *)(void *)(params + row->offset))->items);
        }
    }
}

/* Whether the change is possible: everything that it affects is a parameter of the model. */
static bool can_change(const struct wf_job *job, enum change change)
{
    const struct wf_param *row = job->plan->net->params;
    const unsigned char *values = wf_plan_values(job->plan, "net");

    if (change == COMPUTE) {
        return true;
    }
    for (; row != NULL && row->name != NULL; row++) {
        char *const *text = (char *const *)(const void *)(values + row->offset);
        if (row->what_if == WF_WHAT_IF_PREVENTS && **text != '\0') {
            return false;
        }
    }
    return true;
}

/* ---- runs ---- */

static void keep_time(void *arg, const struct wf_ranks_tally *tally, const struct wf_run *run)
{
    *(int64_t *)arg = wf_document_end(tally, run);
}

/* The time of a run on a network with a change; -1 if it did not complete. */
static enum wf_status run_changed(struct wf_execution *x, enum change change, int64_t *time)
{
    struct wf_job *job = &x->job;
    const struct wf_job_again again = {
        .config = &x->config, .world = x->host->world, .ended = keep_time, .arg = time};
    const struct wf_net_ops *ops = job->plan->net;
    struct wf_net_env env = wf_job_net_env(job);
    unsigned char *params = wf_xcalloc(1, ops->params_size + 1);
    struct wf_mpi_params mpi = *job->setup.mpi;
    struct wf_node_params node = *job->setup.node;
    struct wf_setup setup = {.mpi = &mpi, .node = &node};
    uint64_t scale = job->cpu.scale;

    env.halves_latency = change == LATENCY;
    env.doubles_bandwidth = change == BANDWIDTH;
    if (ops->params_size > 0) {
        memcpy(params, wf_plan_values(job->plan, "net"), ops->params_size);
    }
    bool is_free = ops->params == NULL || ops->params->name == NULL;
    bool any = change_params(ops->params, params, change);
    /* On a network without cost, messages within a node may still cost something. */
    any |= change_params(wf_mpi_params, (unsigned char *)&mpi, change) && is_free;
    any |= change_params(wf_node_params, (unsigned char *)&node, change) && is_free;
    job->cpu.scale = change == COMPUTE ? scale / 2 : scale;
    enum wf_status status = WF_OK;
    /* If the network cannot be created with the changed value, there is no run. */
    if ((any || change == COMPUTE) &&
        wf_net_create(ops, params, &env, &setup.net, x->err) == WF_OK) {
        status = wf_job_run_again(job, &again, &setup, x->err);
    }
    job->cpu.scale = scale;
    wf_setup_fini(&setup);
    release(wf_node_params, (unsigned char *)&node);
    release(ops->params, params);
    free(params);
    return status;
}

/* ---- estimates from the critical path ---- */

/* An upper bound of the saving, from the critical path; 0 if there is no path. */
static uint64_t saved_on_path(const struct wf_value *doc, enum change change)
{
    static const char *const parts[CHANGES][2] = {
        [LATENCY] = {"latency_ps", "handshake_ps"},
        [BANDWIDTH] = {"transfer_ps", "queue_ps"},
        [COMPUTE] = {"compute_ps", "core_wait_ps"},
    };
    const struct wf_value *shares = wf_doc_find(doc, "critical_path.shares");

    if (shares == NULL) {
        return 0;
    }
    return (wf_doc_get_count(shares, parts[change][0], 0) +
            wf_doc_get_count(shares, parts[change][1], 0)) /
           2;
}

static void describe_change(struct wf_value *list, const struct wf_value *doc,
                            enum change change, int64_t ran)
{
    uint64_t before = wf_doc_get_count(doc, "result.predicted_time_ps", 0);
    /* If the model does not divide the time of messages, there are no shares to halve. */
    bool divided =
        change == COMPUTE || wf_doc_find(doc, "critical_path.shares.network_ps") == NULL;
    bool has_path = wf_doc_find(doc, "critical_path.shares") != NULL && divided;

    if (ran < 0 && !has_path) {
        return;
    }
    uint64_t time = ran >= 0 ? (uint64_t)ran : before - saved_on_path(doc, change);
    struct wf_value *item = wf_doc_section(list, NULL);

    wf_doc_text(item, "change", names[change]);
    wf_doc_text(item, "from", ran >= 0 ? "run" : "path");
    wf_doc_count(item, "time_ps", time);
    wf_doc_measured(item, "saved_percent",
                    before > 0 ? 100 * ((double)before - (double)time) / (double)before : 0, 3);
}

bool wf_stage_wants_what_if(const struct wf_execution *x)
{
    return x->job.setup.ranks != NULL;
}

/* Whether the run was short enough to be repeated. A program is run only once: it may write
 * files or ask its user. Its record is played. */
static bool runs_again(const struct wf_execution *x, bool ended)
{
    uint64_t most = x->host->what_if_events;
    bool again = ended && wf_doc_get_count(x->doc, "run.events_committed", 0) <= most &&
                 !wf_plan_runs_programs(&x->plan);

    /* Only the first process knows. */
    return most > 0 && wf_world_max(x->host->world, again) != 0;
}

enum wf_status wf_stage_what_if(struct wf_execution *x)
{
    bool ended = x->doc != NULL && wf_doc_find(x->doc, "result.predicted_time_ps") != NULL;
    bool again = runs_again(x, ended);
    struct wf_value *list =
        ended && (again || wf_doc_find(x->doc, "critical_path.shares") != NULL)
            ? wf_doc_list(x->doc, "what_if")
            : NULL;

    for (enum change change = 0; change < CHANGES; change++) {
        int64_t ran = -1;
        if (again && can_change(&x->job, change)) {
            WF_TRY(run_changed(x, change, &ran));
        }
        if (list != NULL) {
            describe_change(list, x->doc, change, ran);
        }
    }
    return WF_OK;
}
