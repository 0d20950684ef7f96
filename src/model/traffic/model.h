/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The traffic as its own files and lock step (src/model/net/router/lockstep) see it. It does not change during a
 * run.
 */

#include "model/net/net.h"
#include "model/traffic/traffic.h"

struct wf_traffic {
    const struct wf_traffic_params *set;
    struct wf_traffic_pattern *pattern;
    struct wf_traffic_weights sizes; /* from a file; n is 0 if there is no file */
    double *factors;                 /* load factor of each node; null: all are 1 */
    double mean_size;                /* bytes */
    double chance;                   /* probability of a burst at a node in a cycle */
    uint32_t n_nodes;
    uint64_t seed;
    int64_t batch_ps;
    struct wf_net *net;
    size_t offset; /* offset of struct node in the state of a process */
    struct wf_process_ops ops;
};

/* The probability of a burst at a node in a cycle. */
static inline double wf_traffic_chance(const struct wf_traffic *traffic, uint32_t node)
{
    return traffic->factors == NULL ? traffic->chance
                                    : traffic->chance * traffic->factors[node];
}

/* The size of a message, after its destination was drawn. */
uint64_t wf_traffic_size(const struct wf_traffic *traffic, struct wf_traffic_draw *draw);

/* Picoseconds from one burst of a node, at the time `now`, to the one with a number; WF_TIME_MAX:
 * there is none. */
int64_t wf_traffic_gap(const struct wf_traffic *traffic, uint32_t node, uint64_t burst,
                       int64_t now);

/* For wf_traffic_gap_cycles(): -ln(1 - chance), or 0 if the chance is 1. */
double wf_traffic_scale(double chance);
