/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/what_if.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "run/execute/job.h"

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

/* The time of a run of the job on another network; -1 if the run did not complete. */
static enum wf_status play(struct wf_job *job, const struct wf_engine_config *config,
                           struct wf_comm *world, struct wf_setup *setup, int64_t *time,
                           struct wf_err *err)
{
    struct wf_engine *engine = wf_engine_new(config, world);
    struct wf_run run = {.threads = 0};

    enum wf_status status = job->ops->build(job, engine, setup, err);
    if (status == WF_OK) {
        status = wf_engine_run(engine, &run, err);
    }
    if (status == WF_OK && wf_comm_rank(world) == 0) {
        const struct wf_ranks_tally *tally = wf_engine_tally_get(engine);
        *time =
            tally->unfinished == 0 && tally->timeless == 0 ? wf_document_end(tally, &run) : -1;
    }
    wf_engine_free(engine);
    return status == WF_EINTR ? WF_OK : status;
}

static enum wf_status run_changed(struct wf_job *job, const struct wf_engine_config *config,
                                  struct wf_comm *world, enum change change, int64_t *time,
                                  struct wf_err *err)
{
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
        wf_net_create(ops, params, &env, &setup.net, err) == WF_OK) {
        status = play(job, config, world, &setup, time, err);
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

static void describe(struct wf_value *list, const struct wf_value *doc, enum change change,
                     int64_t ran)
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

enum wf_status wf_what_if(struct wf_job *job, const struct wf_engine_config *config,
                          struct wf_comm *world, bool again, struct wf_value *doc,
                          struct wf_err *err)
{
    struct wf_value *list = doc != NULL && (again || wf_doc_find(doc, "critical_path.shares"))
                                ? wf_doc_list(doc, "what_if")
                                : NULL;

    for (enum change change = 0; change < CHANGES; change++) {
        int64_t ran = -1;
        if (again && can_change(job, change)) {
            WF_TRY(run_changed(job, config, world, change, &ran, err));
        }
        if (list != NULL) {
            describe(list, doc, change, ran);
        }
    }
    return WF_OK;
}
