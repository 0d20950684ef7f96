/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/document.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "base/units.h"
#include "model/net/net.h"
#include "model/net/route/route.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_costs.h"
#include "model/ranks/ranks.h"
#include "model/storage/storage.h"
#include "program/ops/graph.h"
#include "program/ops/source.h"
#include "run/plan/job.h"
#include "run/scenario/uncertainty.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 1200 };

/* MPI libraries send messages eagerly up to some size between 4 KiB and 64 KiB. Where no
 * message is longer than this, a limit would hardly matter. */
static const uint64_t EAGER_USUAL = UINT64_C(16) << 10;

/* Whether the scenario has a setting with this key, from the user or from the machine. */
static bool is_chosen(const struct wf_plan *plan, const char *key)
{
    const struct wf_setting *setting = wf_scenario_find(plan->scenario, key);

    return setting != NULL && !wf_plan_skips(plan, setting);
}

/* Whether GPUs communicate, which have their own protocols (docs/models/nccl.md). */
static bool is_of_gpus(const struct wf_job *job)
{
    return job->setup.mpi->rules == WF_COLL_RULES_NCCL ||
           job->setup.mpi->rules == WF_COLL_RULES_NCCL_FORMULA;
}

void wf_sim_warn(struct wf_value *root, const char *fmt, ...)
{
    const struct wf_value *found = wf_doc_find(root, "warnings");
    /* part of `root`, which the caller may change */
    struct wf_value *list = found != NULL ? wf_unconst(found) : wf_doc_list(root, "warnings");
    char words[WORDS_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    wf_doc_text(list, NULL, words);
}

/* ---- what a machine leaves out ---- */

static void warn_overhead(const struct wf_job *job, struct wf_value *root)
{
    const struct wf_node_costs costs = wf_node_costs_of(job->setup.node, job->setup.net);

    if (costs.o_send <= 0 && costs.o_recv <= 0 && !is_chosen(job->plan, "node.o_send") &&
        !is_chosen(job->plan, "node.o_recv") && !is_chosen(job->plan, "net.o")) {
        wf_sim_warn(root,
                    is_of_gpus(job)
                        ? "messages cost GPUs and their hosts no time of their own: set "
                          "node.o_send and node.o_recv, such as 500ns, if the host sends them"
                        : "messages cost ranks no CPU time: set node.o_send and node.o_recv, "
                          "such as 500ns");
    }
}

static void warn_eager_limit(const struct wf_job *job, const struct wf_ranks_tally *tally,
                             struct wf_value *root)
{
    const struct wf_replay_params *replay = wf_plan_values(job->plan, "replay");
    char longest[WF_UNITS_TEXT_MAX];

    if (!is_of_gpus(job) && replay->policy != WF_POLICY_ASAP &&
        job->setup.mpi->eager_max == UINT64_MAX && !is_chosen(job->plan, "mpi.eager_max") &&
        tally->longest_message > EAGER_USUAL) {
        wf_sim_warn(root,
                    "messages of up to %s do not wait for their receivers: set mpi.eager_max, "
                    "such as 16KiB",
                    wf_human_size(tally->longest_message, longest));
    }
}

static void warn_contention(const struct wf_net_ops *net, struct wf_value *root)
{
    if (net->contention == WF_NET_NO_CONTENTION) {
        wf_sim_warn(root, "on the network model '%s' %s; --net %s has contention", net->name,
                    net->limits, net->uses_topology ? "packet" : "loggp");
    }
}

static void warn_routing(const struct wf_job *job, struct wf_value *root)
{
    const struct wf_topo *topo = job->setup.net->route_topo; /* null: not deterministic */

    if (topo != NULL && wf_param_find(job->plan->net->params, "routing") != NULL &&
        !is_chosen(job->plan, "net.routing") && strcmp(wf_route_usual(topo), "minimal") != 0) {
        wf_sim_warn(root,
                    "all messages between two nodes take one route, but machines with this "
                    "topology route adaptively: set net.routing=usual, which is %s",
                    wf_route_usual(topo));
    }
}

/* ---- settings without effect ---- */

/* Warns of a parameter whose condition does not hold, with the remedy. */
static void warn_of_condition(struct wf_value *root, const char *scope,
                              const struct wf_param *row)
{
    const char *differs = strstr(row->only_with, "!=");

    if (differs == NULL) {
        wf_sim_warn(root, "%s.%s has no effect without %s.%s", scope, row->name, scope,
                    row->only_with);
    } else {
        const char *value = differs + strlen("!=");
        wf_sim_warn(root, "%s.%s has no effect as long as %s.%.*s is %s", scope, row->name,
                    scope, (int)(differs - row->only_with), row->only_with,
                    value[0] != '\0' ? value : "not given");
    }
}

/* Uncertainties that the user gave are used by repeated runs only. */
static void warn_uncertainty(const struct wf_plan *plan, struct wf_value *root)
{
    for (size_t i = 0; i < plan->scenario->n && plan->core.runs == 0; i++) {
        const struct wf_setting *setting = &plan->scenario->settings[i];

        if (wf_sim_uncertainty_is(setting->key) && setting->place == NULL) {
            wf_sim_warn(root, "%.100s has no effect without --runs", setting->origin);
        }
    }
}

void wf_sim_warn_unused(const struct wf_plan *plan, struct wf_value *root)
{
    warn_uncertainty(plan, root);
    for (size_t i = 0; i < plan->n_blocks; i++) {
        const struct wf_plan_block *block = &plan->blocks[i];
        for (const struct wf_param *row = block->table; row->name != NULL; row++) {
            char key[128];

            (void)snprintf(key, sizeof(key), "%s.%s", block->scope, row->name);
            if (!wf_param_has_effect(block->table, row, block->values) &&
                is_chosen(plan, key)) {
                warn_of_condition(root, block->scope, row);
            }
        }
    }
}

bool wf_sim_memory_lacks(const struct wf_plan *plan, char *words, size_t size)
{
    const struct wf_cpu_params *cpu = wf_plan_values(plan, "cpu");

    for (uint32_t i = 0; i < plan->n_jobs && cpu != NULL && cpu->memory > 0; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        char needs[WF_UNITS_TEXT_MAX], has[WF_UNITS_TEXT_MAX];
        struct wf_source_work work = {.repeats = 0};

        if (source != NULL && wf_source_work(source, &work) &&
            wf_source_memory_sum(&work.memory) > cpu->memory) {
            (void)snprintf(words, size,
                           "the model does not fit: a device needs %s of memory and has %s "
                           "(cpu.memory); divide it among more ranks, take smaller "
                           "microbatches, a higher gen.zero or gen.recompute",
                           wf_human_size(wf_source_memory_sum(&work.memory), needs),
                           wf_human_size(cpu->memory, has));
            return true;
        }
    }
    return false;
}

static void warn_memory(const struct wf_plan *plan, struct wf_value *root)
{
    char words[WORDS_MAX];

    if (wf_sim_memory_lacks(plan, words, sizeof(words))) {
        wf_sim_warn(root, "%s", words);
    }
}

/* Compute times of a trace are those of the computer that recorded it, unless something scales
 * them. */
static void warn_host_times(const struct wf_job *job, struct wf_value *root)
{
    static const char *const scaling[] = {"cpu.scale", "cpu.region.", "cpu.counter.",
                                          "cpu.tflops16"};
    const struct wf_plan *plan = job->plan;
    const char *machine = plan->scenario->machine;
    /* A machine file of the user's own may well describe that computer. */
    bool scaled = plan->jobs[0].reader == NULL || machine == NULL ||
                  strpbrk(machine, "./") != NULL ||
                  wf_doc_get_count(root, "result.ranks.compute_ps.max", 0) == 0;

    for (size_t i = 0; i < plan->scenario->n && !scaled; i++) {
        for (size_t k = 0; k < sizeof(scaling) / sizeof(scaling[0]); k++) {
            scaled = scaled || strncmp(plan->scenario->settings[i].key, scaling[k],
                                       strlen(scaling[k])) == 0;
        }
    }
    if (!scaled) {
        wf_sim_warn(root,
                    "compute times are those of the computer where the trace was recorded, not "
                    "of %.100s: set cpu.scale, such as 0.8 for processors that need 0.8 of the "
                    "time",
                    machine);
    }
}

void wf_sim_warn_assumed(const struct wf_plan *plan, struct wf_value *root)
{
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_graph *graph = plan->jobs[i].graph;
        if (graph != NULL && graph->assumed != NULL) {
            wf_sim_warn(root, "%s", graph->assumed);
        }
    }
}

/* Messages between ranks of one node do not enter the network. */
static void warn_one_node(const struct wf_job *job, const struct wf_ranks_tally *tally,
                          struct wf_value *root)
{
    uint64_t nodes = wf_doc_get_count(root, "result.nodes_used", 0);
    bool counted = tally->net.nodes > 0 && tally->net.packets_sent == 0;

    if (job->place.n_ranks > 1 && (nodes == 1 || counted)) {
        wf_sim_warn(root,
                    "no message leaves its node (%u ranks on %" PRIu64
                    " %s), so the network has no part in this prediction: spread the ranks "
                    "with a smaller --ranks-per-node",
                    job->place.n_ranks, nodes, nodes == 1 ? "node" : "nodes");
    }
}

/* Files take no time on a machine without storage. */
static void warn_files(const struct wf_job *job, const struct wf_ranks_tally *tally,
                       struct wf_value *root)
{
    if (tally->all.files.n > 0 && !wf_storage_is_known(wf_plan_values(job->plan, "storage"))) {
        wf_sim_warn(root,
                    "the program has %" PRIu64
                    " operations on files, which take no time, because the machine has no "
                    "storage: set storage.model, such as striped",
                    tally->all.files.n);
    }
}

void wf_sim_warnings(const struct wf_job *job, const struct wf_ranks_tally *tally,
                     struct wf_value *root)
{
    warn_memory(job->plan, root);
    warn_host_times(job, root);
    warn_files(job, tally, root);
    /* A network that costs nothing is a choice, and a program without messages needs none. */
    if (job->plan->net->contention == WF_NET_FREE ||
        wf_doc_get_count(root, "result.messages", 0) == 0) {
        return;
    }
    warn_one_node(job, tally, root);
    warn_overhead(job, root);
    warn_eager_limit(job, tally, root);
    warn_contention(job->plan->net, root);
    warn_routing(job, root);
}
