/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Traffic patterns: the destinations of each node. To add a pattern: a row in the table of
 * pattern.c.
 *
 * Permutations work on node numbers, as is customary (Dally and Towles, "Principles and
 * practices of interconnection networks", 2004, section 3.2). A node that is its own partner
 * sends nothing.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_topo;

struct wf_traffic_pattern_params {
    bool self;          /* random destinations may be the source itself */
    double hot;         /* share of the messages that go to the hot spot or region */
    uint64_t hot_node;  /* the hot spot */
    uint64_t hot_nodes; /* size of the hot region, from node 0 on; 0: an eighth of all nodes */
    double decay;       /* local traffic: distance d has the weight decay^d */
    char *matrix;       /* file */
    uint64_t pattern_seed; /* seed of the random permutation */
};

struct wf_traffic_matrix;
struct wf_traffic_pattern;

/* The message that numbers are drawn for, and how many have been drawn. */
struct wf_traffic_draw {
    uint64_t seed;
    uint64_t message; /* its number at its node */
    uint32_t node;
    uint32_t count;
};

enum { WF_TRAFFIC_SILENT = -1 };

struct wf_traffic_pattern_row {
    const char *name, *summary;
};

/* The i-th pattern; null after the last. */
const struct wf_traffic_pattern_row *wf_traffic_pattern_row(size_t i);

/* Creates a pattern on the first `n_nodes` nodes of a topology, which may be null for
 * patterns that need neither coordinates nor distances. Unknown names and patterns that do
 * not fit are WF_EINVAL. The caller owns *out. */
enum wf_status wf_traffic_pattern_create(const char *name,
                                         const struct wf_traffic_pattern_params *params,
                                         const struct wf_topo *topo, uint32_t n_nodes,
                                         struct wf_traffic_pattern **out, struct wf_err *err);
void wf_traffic_pattern_free(struct wf_traffic_pattern *pattern); /* null is allowed */

/* What other implementations of a pattern need to know. */
enum wf_traffic_pattern_kind {
    WF_TRAFFIC_UNIFORM,
    WF_TRAFFIC_PERMUTATION, /* always the same destination */
    WF_TRAFFIC_HOT_SPOT,
    WF_TRAFFIC_HOT_REGION,
    WF_TRAFFIC_OTHER_PATTERN,
};
struct wf_traffic_pattern_facts {
    enum wf_traffic_pattern_kind kind;
    const struct wf_traffic_pattern_params *set; /* completed */
};
struct wf_traffic_pattern_facts
wf_traffic_pattern_facts(const struct wf_traffic_pattern *pattern);

/* The next random number for a message. */
uint64_t wf_traffic_draw(struct wf_traffic_draw *draw);

/* The destination of a message; WF_TRAFFIC_SILENT: its node sends none. */
int64_t wf_traffic_pattern_next(const struct wf_traffic_pattern *pattern,
                                struct wf_traffic_draw *draw);
