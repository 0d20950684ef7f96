/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/warnings.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "base/units.h"
#include "model/net/net.h"
#include "model/net/route/route.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_costs.h"
#include "model/ranks/ranks.h"
#include "program/ops/source.h"
#include "run/execute/job.h"
#include "run/scenario/uncertainty.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 256 };

/* MPI libraries send messages eagerly up to some size between 4 KiB and 64 KiB. Where no
 * message is longer than this, a limit would hardly matter. */
static const uint64_t EAGER_USUAL = UINT64_C(16) << 10;

/* Whether the scenario has a setting with this key, from the user or from the machine. */
static bool is_chosen(const struct wf_plan *plan, const char *key)
{
    const struct wf_setting *setting = wf_scenario_find(plan->scenario, key);

    return setting != NULL && !wf_plan_skips(plan, setting);
}

/* Whether GPUs communicate, which have their own protocols (docs/models/nccl.md) and need no CPU. */
static bool is_of_gpus(const struct wf_job *job)
{
    return job->setup.mpi->rules == WF_COLL_RULES_NCCL ||
           job->setup.mpi->rules == WF_COLL_RULES_NCCL_FORMULA;
}

/* Each function writes a warning and returns true, or returns false. */

static bool lacks_overhead(const struct wf_job *job, const struct wf_ranks_tally *tally,
                           char *words)
{
    const struct wf_node_costs costs = wf_node_costs_of(job->setup.node, job->setup.net);

    if (is_of_gpus(job) || costs.o_send > 0 || costs.o_recv > 0 ||
        is_chosen(job->plan, "node.o_send") || is_chosen(job->plan, "node.o_recv") ||
        is_chosen(job->plan, "net.o")) {
        return false;
    }
    (void)snprintf(words, WORDS_MAX,
                   "messages cost ranks no CPU time: set node.o_send and node.o_recv, such as "
                   "500ns");
    return true;
}

static bool lacks_eager_limit(const struct wf_job *job, const struct wf_ranks_tally *tally,
                              char *words)
{
    char longest[WF_UNITS_TEXT_MAX];

    const struct wf_replay_params *replay = wf_plan_values(job->plan, "replay");

    if (is_of_gpus(job) || replay->policy == WF_POLICY_ASAP ||
        job->setup.mpi->eager_max != UINT64_MAX || is_chosen(job->plan, "mpi.eager_max") ||
        tally->longest_message <= EAGER_USUAL) {
        return false;
    }
    (void)snprintf(words, WORDS_MAX,
                   "messages of up to %s do not wait for their receivers: set mpi.eager_max, "
                   "such as 16KiB",
                   wf_human_size(tally->longest_message, longest));
    return true;
}

static bool lacks_contention(const struct wf_job *job, const struct wf_ranks_tally *tally,
                             char *words)
{
    const struct wf_net_ops *net = job->plan->net;

    if (net->contention != WF_NET_NO_CONTENTION) {
        return false;
    }
    (void)snprintf(words, WORDS_MAX, "on the network model '%s' %s; --net %s has contention",
                   net->name, net->limits, net->uses_topology ? "packet" : "loggp");
    return true;
}

static bool lacks_routing(const struct wf_job *job, const struct wf_ranks_tally *tally,
                          char *words)
{
    const struct wf_topo *topo = job->setup.net->route_topo; /* null: not deterministic */

    if (topo == NULL || wf_param_find(job->plan->net->params, "routing") == NULL ||
        is_chosen(job->plan, "net.routing") || strcmp(wf_route_usual(topo), "minimal") == 0) {
        return false;
    }
    (void)snprintf(words, WORDS_MAX,
                   "all messages between two nodes take one route, but machines with this "
                   "topology route adaptively: set net.routing=usual, which is %s",
                   wf_route_usual(topo));
    return true;
}

void wf_sim_warn(struct wf_value *root, const char *words)
{
    const struct wf_value *found = wf_doc_find(root, "warnings");
    /* part of `root`, which the caller may change */
    struct wf_value *list = found != NULL ? wf_unconst(found) : wf_doc_list(root, "warnings");

    wf_doc_text(list, NULL, words);
}

/* Words that the condition of a parameter does not hold, with its remedy. */
static void word_unused(char *words, const char *scope, const struct wf_param *row)
{
    const char *differs = strstr(row->only_with, "!=");

    if (differs == NULL) {
        (void)snprintf(words, WORDS_MAX, "%s.%s has no effect without %s.%s", scope, row->name,
                       scope, row->only_with);
    } else {
        const char *value = differs + strlen("!=");
        (void)snprintf(words, WORDS_MAX, "%s.%s has no effect as long as %s.%.*s is %s", scope,
                       row->name, scope, (int)(differs - row->only_with), row->only_with,
                       value[0] != '\0' ? value : "not given");
    }
}

/* Uncertainties that the user gave are used by repeated runs only. */
static void warn_uncertainty(const struct wf_plan *plan, struct wf_value *root)
{
    for (size_t i = 0; i < plan->scenario->n && plan->core.runs == 0; i++) {
        const struct wf_setting *setting = &plan->scenario->settings[i];
        char words[WORDS_MAX];

        if (wf_sim_uncertainty_is(setting->key) && setting->place == NULL) {
            (void)snprintf(words, sizeof(words), "%.100s has no effect without --runs",
                           setting->origin);
            wf_sim_warn(root, words);
        }
    }
}

void wf_sim_warn_unused(const struct wf_plan *plan, struct wf_value *root)
{
    warn_uncertainty(plan, root);
    for (size_t i = 0; i < plan->n_blocks; i++) {
        const struct wf_plan_block *block = &plan->blocks[i];
        for (const struct wf_param *row = block->table; row->name != NULL; row++) {
            char key[128], words[WORDS_MAX];

            (void)snprintf(key, sizeof(key), "%s.%s", block->scope, row->name);
            if (!wf_param_has_effect(block->table, row, block->values) &&
                is_chosen(plan, key)) {
                word_unused(words, block->scope, row);
                wf_sim_warn(root, words);
            }
        }
    }
}

/* Programs that need more memory than a processor has. */
static void warn_memory(const struct wf_plan *plan, struct wf_value *root)
{
    const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");

    for (uint32_t i = 0; i < plan->n_jobs && cpu->memory > 0; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        char words[WORDS_MAX], needs[WF_UNITS_TEXT_MAX], has[WF_UNITS_TEXT_MAX];
        struct wf_source_work work = {.repeats = 0};

        if (source != NULL && wf_source_work(source, &work) &&
            wf_source_memory_sum(&work.memory) > cpu->memory) {
            (void)snprintf(words, sizeof(words),
                           "the model does not fit: a device needs %s of memory and has %s "
                           "(cpu.memory); divide it among more ranks, take smaller "
                           "microbatches, a higher gen.zero or gen.recompute",
                           wf_human_size(wf_source_memory_sum(&work.memory), needs),
                           wf_human_size(cpu->memory, has));
            wf_sim_warn(root, words);
        }
    }
}

void wf_sim_warnings(const struct wf_job *job, const struct wf_ranks_tally *tally,
                     struct wf_value *root)
{
    static bool (*const warnings[])(const struct wf_job *, const struct wf_ranks_tally *,
                                    char *) = {lacks_overhead, lacks_eager_limit,
                                               lacks_contention, lacks_routing};

    warn_memory(job->plan, root);
    /* A network that costs nothing is a choice, and a program without messages needs none. */
    if (job->plan->net->contention == WF_NET_FREE ||
        wf_doc_get_count(root, "result.messages", 0) == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
        char words[WORDS_MAX];

        if (warnings[i](job, tally, words)) {
            wf_sim_warn(root, words);
        }
    }
}
