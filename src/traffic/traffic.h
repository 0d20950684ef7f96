/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRAFFIC_TRAFFIC_H
#define WF_TRAFFIC_TRAFFIC_H

/*
 * Synthetic traffic on a network model: nodes that send messages by themselves, at a given
 * load, or in rounds that wait for each other. One process of the engine per node, as in a
 * replay.
 */

#include "traffic/pattern.h"
#include "traffic/pattern_file.h"
#include "traffic/stats.h"

enum wf_traffic_arrivals { WF_TRAFFIC_BERNOULLI, WF_TRAFFIC_POISSON };

struct wf_traffic_params {
    struct wf_pattern_params pattern;
    double load;   /* phits per node and cycle */
    uint64_t size; /* bytes of a message; 0: a packet of the network model */
    uint64_t long_size;
    double long_share; /* of the messages that have that size */
    char *sizes;       /* file */
    int arrivals;      /* enum wf_traffic_arrivals */
    uint64_t burst;    /* messages that come up together */
    char *sources;     /* file: weights of the nodes' loads */
    bool drop;         /* messages that find no room at their source */
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
};

/* Checks everything that can be wrong. The caller owns *out, which must live as long as the
 * engine it is built on. */
WF_NODISCARD
enum wf_status wf_traffic_new(const struct wf_traffic_config *config, struct wf_traffic **out,
                              struct wf_err *err);
void wf_traffic_free(struct wf_traffic *traffic); /* null is allowed */

/* Adds the nodes to the engine, connects the network, which is kept, and asks for a tally of
 * struct wf_traffic_tally. */
void wf_traffic_build(struct wf_traffic *traffic, struct wf_engine *engine, struct wf_net *net);

/* Simulated time at which an open loop ends; 0: a closed loop ends by itself. */
int64_t wf_traffic_end(const struct wf_traffic *traffic);

#endif
