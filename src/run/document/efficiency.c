/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/efficiency.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/hosts/comm.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "program/ops/source.h"
#include "run/execute/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PERCENT_DECIMALS = 3 };

static double ratio(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : 1;
}

struct wf_efficiency wf_efficiency(const struct wf_efficiency_times *times)
{
    return (struct wf_efficiency){
        .load_balance = ratio(times->mean_compute, times->max_compute),
        .serialisation = ratio(times->max_compute, times->ideal_time),
        .transfer = ratio(times->ideal_time, times->time),
        .parallel = ratio(times->mean_compute, times->time),
    };
}

void wf_efficiency_describe(struct wf_value *parent, const struct wf_efficiency_times *times)
{
    struct wf_value *section = wf_doc_section(parent, "efficiency");
    const struct wf_efficiency e = wf_efficiency(times);

    wf_doc_count(section, "ideal_time_ps", (uint64_t)times->ideal_time);
    wf_doc_measured(section, "load_balance_percent", 100 * e.load_balance, PERCENT_DECIMALS);
    wf_doc_measured(section, "serialisation_percent", 100 * e.serialisation, PERCENT_DECIMALS);
    wf_doc_measured(section, "transfer_percent", 100 * e.transfer, PERCENT_DECIMALS);
    wf_doc_measured(section, "parallel_percent", 100 * e.parallel, PERCENT_DECIMALS);
}

/* The tally of every kind of replay begins with a struct wf_ranks_tally. */
static void keep(struct wf_job *job, const struct wf_engine *engine)
{
    const struct wf_ranks_tally *tally = wf_engine_tally_get(engine);

    if (tally->unfinished == 0 && tally->timeless == 0) {
        job->ideal = wf_xmalloc(sizeof(*job->ideal));
        memcpy(job->ideal, tally, sizeof(*tally));
    }
}

/* Redirects the standard output to /dev/null, so that the program prints only once. Returns the
 * file descriptor to restore. */
static int silence(void)
{
    (void)fflush(stdout);
    int before = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (before >= 0 && nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
    }
    if (nowhere >= 0) {
        (void)close(nowhere);
    }
    return before;
}

static void speak(int before)
{
    (void)fflush(stdout);
    if (before >= 0) {
        (void)dup2(before, STDOUT_FILENO);
        (void)close(before);
    }
}

/* Whether programs run. Otherwise several runs may share the process. */
static bool is_live(const struct wf_plan *plan)
{
    bool any = false;

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        any = any || (plan->jobs[i].source != NULL && plan->jobs[i].source->live != NULL);
    }
    return any;
}

static enum wf_status run_ideal(struct wf_job *job, const struct wf_engine_config *config,
                                struct wf_comm *world, struct wf_setup *setup,
                                struct wf_err *err)
{
    struct wf_engine *engine = wf_engine_new(config, world);
    struct wf_run run = {.threads = 0};

    enum wf_status status = job->ops->build(job, engine, setup, err);
    if (status == WF_OK && !is_live(job->plan)) {
        status = wf_engine_run(engine, &run, err);
    } else if (status == WF_OK) {
        int before = silence();
        status = wf_engine_run(engine, &run, err);
        speak(before);
    }
    if (status == WF_OK && wf_comm_rank(world) == 0) {
        keep(job, engine);
    }
    wf_engine_free(engine);
    return status == WF_EINTR ? WF_OK : status;
}

enum wf_status wf_efficiency_rehearse(struct wf_job *job, const struct wf_engine_config *config,
                                      struct wf_comm *world, struct wf_err *err)
{
    struct wf_mpi_params mpi = *job->setup.mpi;
    const struct wf_node_params node = wf_node_compute_only(job->setup.node);
    struct wf_setup setup = {.mpi = &mpi, .node = &node};
    const struct wf_net_env env = {.n_nodes = job->place.n_nodes};
    const struct wf_net_ops *none;
    char ideal[] = "ideal";

    mpi.local = false; /* messages within a node cost nothing either */
    for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
        /* Collectives in hardware and of GPUs cost nothing either. */
        enum wf_formula formula = wf_formula_find(mpi.algorithms[kind]);
        bool tuned =
            wf_coll_choose_protocol((enum wf_coll_rules)mpi.rules,
                                    &(struct wf_coll_args){.kind = (enum wf_coll_kind)kind,
                                                           .size = 1}) != WF_COLL_PLAIN;
        if (formula != WF_FORMULA_NONE || tuned) {
            mpi.algorithms[kind] = ideal;
        }
    }
    enum wf_status status = wf_net_find("none", &none, err);
    if (status == WF_OK) {
        status = none->create(NULL, &env, &setup.net, err);
    }
    if (status == WF_OK) {
        status = run_ideal(job, config, world, &setup, err);
    }
    wf_setup_fini(&setup);
    return status;
}
