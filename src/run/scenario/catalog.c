/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario/catalog.h"

#include "base/lookup.h"
#include "engine/models/bench.h"
#include "model/net/net.h"
#include "model/net/route/route.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"
#include "model/ranks/ranks.h"
#include "model/storage/storage.h"
#include "model/topo/topo.h"
#include "model/traffic/traffic.h"
#include "program/gen/gen.h"
#include "program/gen/graphs.h"
#include "program/trace/reader.h"
#include "run/program/program.h"
#include "run/scenario/power.h"

#include <string.h>

/* A kind: either a registry, with a function that describes its i-th member and returns false
 * after the last, or a single entry. */
struct kind {
    const char *name;
    const char *title;
    bool (*get)(size_t i, struct wf_catalog_entry *entry);
    struct wf_catalog_entry single;
};

/* Defines get_<kind>() for a registry of plug-ins. The further arguments initialise members of
 * the entry that only some plug-ins have. */
#define REGISTRY(kind, type, table, ...)                                  \
    static bool get_##kind(size_t i, struct wf_catalog_entry *entry)      \
    {                                                                     \
        const struct type *ops = table()[i];                              \
                                                                          \
        if (ops != NULL) {                                                \
            *entry = (struct wf_catalog_entry){                           \
                .name = ops->name, .summary = ops->summary, __VA_ARGS__}; \
        }                                                                 \
        return ops != NULL;                                               \
    }

REGISTRY(gen, wf_source_ops, wf_gen_table, .scope = "gen", .params = ops->params)
REGISTRY(graph, wf_graph_ops, wf_gen_graph_table, .scope = "gen", .params = ops->params)
REGISTRY(reader, wf_reader_ops, wf_reader_table, .scope = "trace", .params = ops->params)
REGISTRY(net, wf_net_ops, wf_net_table, .scope = "net", .params = ops->params,
         .limits = ops->limits)
REGISTRY(routing, wf_route_ops, wf_route_table, .params = NULL)
REGISTRY(topo, wf_topo_ops, wf_topo_table, .args = ops->args)
REGISTRY(bench, wf_bench_ops, wf_bench_table, .scope = ops->name, .params = ops->params)

static bool get_pattern(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_traffic_pattern_row *row = wf_traffic_pattern_row(i);

    if (row != NULL) {
        *entry = (struct wf_catalog_entry){.name = row->name, .summary = row->summary};
    }
    return row != NULL;
}

#define SINGLE(scope_, title, summary_, params_)                          \
    {                                                                     \
        scope_, title, NULL,                                              \
        {                                                                 \
            .scope = (scope_), .summary = (summary_), .params = (params_) \
        }                                                                 \
    }

static const struct kind kinds[] = {
    {"gen", "Generators", get_gen, {.name = NULL}},
    {"gen", "Generators", get_graph, {.name = NULL}},
    {"trace", "Trace formats", get_reader, {.name = NULL}},
    {"net", "Network models", get_net, {.name = NULL}},
    {"topo", "Topologies", get_topo, {.name = NULL}},
    {"routing", "Routing policies", get_routing, {.name = NULL}},
    SINGLE("cpu", "Processors", "the processors of a node", wf_cpu_params),
    SINGLE("node", "Nodes", "what a node costs and what its ranks share", wf_node_params),
    SINGLE("mpi", "MPI", "the MPI library", wf_mpi_params),
    SINGLE("storage", "Storage", "where files are, and how long they take", wf_storage_params),
    SINGLE("power", "Power", "what a machine takes, for the energy of a run",
           wf_sim_energy_params),
    SINGLE("price", "Prices", "what a machine costs, for the cost of a run",
           wf_sim_price_params),
    SINGLE("replay", "Replay", "how a program is followed", wf_replay_params),
    SINGLE("run", "Programs", "a program that runs as virtual ranks", wf_program_params),
    {"pattern", "Traffic patterns", get_pattern, {.name = NULL}},
    SINGLE("traffic", "Traffic", "synthetic traffic", wf_traffic_params),
    SINGLE("engine", "Engine", "how a run is scheduled", wf_executor_params),
    {"bench", "Benchmark models", get_bench, {.name = NULL}},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool get_entry(const struct kind *kind, size_t i, struct wf_catalog_entry *entry)
{
    if (kind->get != NULL) {
        return kind->get(i, entry);
    }
    *entry = kind->single;
    return i == 0;
}

bool wf_catalog_next(size_t *at, struct wf_catalog_entry *entry)
{
    size_t left = (*at)++;

    for (size_t k = 0; k < N_KINDS; k++) {
        for (size_t i = 0; get_entry(&kinds[k], i, entry); i++) {
            if (left-- == 0) {
                entry->kind = kinds[k].name;
                return true;
            }
        }
    }
    return false;
}

bool wf_catalog_find(const char *kind, const char *name, struct wf_catalog_entry *entry)
{
    size_t at = 0;

    while (wf_catalog_next(&at, entry)) {
        if (strcmp(entry->kind, kind) == 0 &&
            strcmp(entry->name != NULL ? entry->name : "", name != NULL ? name : "") == 0) {
            return true;
        }
    }
    return false;
}

const char *wf_catalog_title(const char *kind)
{
    size_t k = WF_LOOKUP_INDEX(kinds, N_KINDS, kind);

    return k < N_KINDS ? kinds[k].title : kind;
}
