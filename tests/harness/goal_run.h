/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs GOAL schedules by the rules of LogGOPSim. */

#include "base/temp.h"
#include "harness/pe_harness.h"
#include "model/net/loggp.h"
#include "program/trace/reader.h"

/* Parameters as LogGOPSim takes them: nanoseconds, nanoseconds per byte, bytes. */
struct loggops {
    int64_t L, o, g, G, O;
    uint64_t S;
};

static inline struct wf_net_loggp_params params_of(const struct loggops *given)
{
    return (struct wf_net_loggp_params){
        .latency = given->L * 1000,
        .overhead = given->o * 1000,
        .gap = given->g * 1000,
        .bandwidth = UINT64_C(1000000000) * WF_RATE_BYTE / (uint64_t)given->G,
        .per_byte = given->O * 1000,
        .eager_max = given->S,
        .preset = WF_NET_LOGGP_LOGGOPSIM,
    };
}

static inline struct wf_graph *open_goal(const char *path)
{
    struct wf_trace trace;
    struct wf_err err = {.status = WF_OK};

    must(wf_trace_open(path, &trace, &err), &err);
    struct wf_graph *graph = trace.graph;
    trace.graph = NULL;
    wf_trace_close(&trace);
    return graph;
}

/* Reads a schedule that is written in the test. */
static inline struct wf_graph *read_goal(const char *text)
{
    char *directory = wf_temp_directory(), path[512];

    (void)snprintf(path, sizeof(path), "%s/x.goal", directory);
    FILE *out = fopen(path, "w");
    if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0) {
        abort();
    }
    struct wf_graph *graph = open_goal(path);
    wf_temp_remove(directory);
    free(directory);
    return graph;
}

/* Runs a graph, sequentially. */
static inline struct wf_pe_tally run_loggops(const struct wf_graph *graph,
                                             const struct loggops *given)
{
    const struct wf_net_loggp_params params = params_of(given);
    const struct pe_setup setup = {
        .graph = graph, .net_ops = &wf_net_loggp_ops, .net_params = &params};
    struct wf_pe_tally tally;

    if (run_in_order(&setup, &tally).status != WF_OK) {
        memset(&tally, 0xff, sizeof(tally));
    }
    return tally;
}
