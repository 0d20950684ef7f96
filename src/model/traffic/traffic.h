/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Synthetic traffic on a network model: nodes send messages at a given load, or in rounds that
 * wait for their messages (a closed loop). Each node is a process of the engine.
 */

#include "model/traffic/pattern.h"
#include "model/traffic/stats.h"
#include "model/traffic/weights.h"

enum wf_traffic_arrivals { WF_TRAFFIC_BERNOULLI, WF_TRAFFIC_POISSON };

struct wf_traffic_params {
    struct wf_traffic_pattern_params pattern;
    double load;   /* phits per node and cycle */
    uint64_t size; /* bytes of a message; 0: a packet of the network model */
    uint64_t long_size;
    double long_share; /* share of the long messages */
    char *sizes;       /* file */
    int arrivals;      /* enum wf_traffic_arrivals */
    uint64_t burst;    /* messages generated together */
    char *sources;     /* file: load of nodes in percent */
    bool drop;         /* drop messages that find the injection queue full */
    uint64_t cycles;
    uint64_t cycles_max;
    int64_t cycle;          /* 0: the network model's */
    uint64_t phit;          /* likewise */
    uint64_t rounds, reply; /* closed loop: rounds of `burst` messages; bytes of replies */
    int confidence;         /* index into 90, 95, 99 percent */
    double precision;
};

extern const struct wf_param wf_traffic_params[];

struct wf_traffic;

struct wf_traffic_config {
    const struct wf_traffic_params *params; /* with size, cycle and phit filled in; kept */
    const char *pattern;
    const struct wf_topo *topo; /* may be null */
    uint32_t n_nodes;
    uint64_t seed;
};

/* Creates the traffic and checks its parameters completely. The caller owns *out, which must
 * live as long as the engine that uses it. */
enum wf_status wf_traffic_new(const struct wf_traffic_config *config, struct wf_traffic **out,
                              struct wf_err *err);
void wf_traffic_free(struct wf_traffic *traffic); /* null is allowed */

/* Adds the nodes to the engine, connects the network, which must outlive the run, and
 * requests a tally of struct wf_traffic_tally. */
void wf_traffic_build(struct wf_traffic *traffic, struct wf_engine *engine, struct wf_net *net);

/* Simulated time at which an open loop ends; 0 for a closed loop, which ends by itself. */
int64_t wf_traffic_end(const struct wf_traffic *traffic);
