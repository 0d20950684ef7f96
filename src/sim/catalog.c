/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/catalog.h"

#include "engine/config.h"
#include "engine/models/bench.h"
#include "gen/gen.h"
#include "gen/graphs.h"
#include "net/net.h"
#include "ranks/cpu/cpu.h"
#include "ranks/ranks.h"
#include "sim/program.h"
#include "topo/topo.h"
#include "trace/reader.h"
#include "traffic/traffic.h"

#include <string.h>

/* A kind, and how its i-th member is found; false behind the last. */
struct kind {
    const char *name;
    const char *title;
    bool (*get)(size_t i, struct wf_catalog_entry *entry);
};

static bool get_gen(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_source_ops *ops = wf_gen_table()[i];

    if (ops == NULL) {
        return false;
    }
    *entry = (struct wf_catalog_entry){
        .name = ops->name, .scope = "gen", .summary = ops->summary, .params = ops->params};
    return true;
}

/* Generators of tasks are told apart from the others by nobody but those who run them. */
static bool get_graph(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_graph_ops *ops = wf_graph_table()[i];

    if (ops == NULL) {
        return false;
    }
    *entry = (struct wf_catalog_entry){
        .name = ops->name, .scope = "gen", .summary = ops->summary, .params = ops->params};
    return true;
}

static bool get_reader(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_reader_ops *ops = wf_reader_table()[i];

    if (ops == NULL) {
        return false;
    }
    *entry = (struct wf_catalog_entry){
        .name = ops->name, .scope = "trace", .summary = ops->summary, .params = ops->params};
    return true;
}

static bool get_net(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_net_ops *ops = wf_net_table()[i];

    if (ops == NULL) {
        return false;
    }
    *entry = (struct wf_catalog_entry){.name = ops->name,
                                       .scope = "net",
                                       .summary = ops->summary,
                                       .params = ops->params,
                                       .limits = ops->limits};
    return true;
}

static bool get_topo(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_topo_ops *ops = wf_topo_table()[i];

    if (ops == NULL) {
        return false;
    }
    *entry = (struct wf_catalog_entry){
        .name = ops->name, .args = ops->args, .summary = ops->summary};
    return true;
}

static bool get_cpu(size_t i, struct wf_catalog_entry *entry)
{
    *entry = (struct wf_catalog_entry){
        .scope = "cpu", .summary = "the processors of a node", .params = wf_cpu_params};
    return i == 0;
}

static bool get_mpi(size_t i, struct wf_catalog_entry *entry)
{
    *entry = (struct wf_catalog_entry){
        .scope = "mpi", .summary = "the MPI library", .params = wf_mpi_params};
    return i == 0;
}

static bool get_replay(size_t i, struct wf_catalog_entry *entry)
{
    *entry = (struct wf_catalog_entry){
        .scope = "replay", .summary = "how a program is followed", .params = wf_replay_params};
    return i == 0;
}

static bool get_run(size_t i, struct wf_catalog_entry *entry)
{
    *entry = (struct wf_catalog_entry){.scope = "run",
                                       .summary = "a program that runs as virtual ranks",
                                       .params = wf_program_params};
    return i == 0;
}

static bool get_engine(size_t i, struct wf_catalog_entry *entry)
{
    *entry = (struct wf_catalog_entry){
        .scope = "engine", .summary = "how a run is scheduled", .params = wf_engine_params};
    return i == 0;
}

static bool get_pattern(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_pattern_row *row = wf_pattern_row(i);

    if (row == NULL) {
        return false;
    }
    *entry = (struct wf_catalog_entry){.name = row->name, .summary = row->summary};
    return true;
}

static bool get_traffic(size_t i, struct wf_catalog_entry *entry)
{
    *entry = (struct wf_catalog_entry){
        .scope = "traffic", .summary = "synthetic traffic", .params = wf_traffic_params};
    return i == 0;
}

static bool get_bench(size_t i, struct wf_catalog_entry *entry)
{
    const struct wf_bench_ops *ops = wf_bench_table()[i];

    if (ops == NULL) {
        return false;
    }
    *entry = (struct wf_catalog_entry){
        .name = ops->name, .scope = ops->name, .summary = ops->summary, .params = ops->params};
    return true;
}

static const struct kind kinds[] = {
    {"gen", "Generators", get_gen},
    {"gen", "Generators", get_graph},
    {"trace", "Trace formats", get_reader},
    {"net", "Network models", get_net},
    {"topo", "Topologies", get_topo},
    {"cpu", "Processors", get_cpu},
    {"mpi", "MPI", get_mpi},
    {"replay", "Replay", get_replay},
    {"run", "Programs", get_run},
    {"pattern", "Traffic patterns", get_pattern},
    {"traffic", "Traffic", get_traffic},
    {"engine", "Engine", get_engine},
    {"bench", "Benchmark models", get_bench},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

bool wf_catalog_next(size_t *at, struct wf_catalog_entry *entry)
{
    size_t left = (*at)++;

    for (size_t k = 0; k < N_KINDS; k++) {
        for (size_t i = 0; kinds[k].get(i, entry); i++) {
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
    for (size_t k = 0; k < N_KINDS; k++) {
        if (strcmp(kinds[k].name, kind) == 0) {
            return kinds[k].title;
        }
    }
    return kind;
}
