/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Ranks, datelines and numbers of channels in each kind of network (model/net/vc/vc.h). Private to
 * net/vc. */

#include "model/net/vc/vc.h"

enum { WF_VC_RANKS = 8 };

/* A link on a route. */
struct wf_vc_hop {
    uint32_t rank; /* below WF_VC_RANKS */
    bool dateline; /* the link always begins a new class */
    bool end;      /* joins a node to its router: first or last hop of a route; has no rank */
};

struct wf_vc_kind {
    struct wf_vc_hop (*hop)(const struct wf_vc_level *level, uint32_t at, uint32_t port);
    uint32_t n_ranks; /* number of ranks that hop() uses; at most WF_VC_RANKS */
    bool strict;      /* two links of one rank are of different classes too */
    bool is_tree;
    bool is_dragonfly;
    bool is_single;  /* there is only one minimal route */
    bool is_whole;   /* the classes for free choices are enough for any minimal route */
    bool is_ordered; /* ranks depend on an order of vertices */
    bool is_slow;    /* finding the diameter takes a search from each node */
    /* Sets `free` and `fixed` (model/net/vc/vc.h) for a policy with free choices, and
     * `is_guess` if an exact count would take too long. */
    void (*plan)(struct wf_vc_level *level);
    /* The channel of the deterministic route, if it depends on the position alone; null: the
     * class. */
    uint32_t (*fixed)(const struct wf_vc_level *level, uint32_t at, uint32_t port,
                      uint32_t dst);
};

/* Never null. */
const struct wf_vc_kind *wf_vc_kind_of(const struct wf_topo *topo);
/* The kind for networks about which nothing is known. */
const struct wf_vc_kind *wf_vc_kind_any(void);

/* Whether the hop begins a new class after a hop of rank *rank; sets *rank to the rank of
 * this hop. */
bool wf_vc_turns(const struct wf_vc_kind *kind, struct wf_vc_hop hop, uint32_t *rank);

/* ---- count.c: what only a visit of the network tells ---- */

/* The most classes that the routes of `next` from any vertex to a node or the gate take. */
uint32_t wf_vc_count(const struct wf_vc_level *level, wf_vc_next_fn *next, const void *arg);

/* Likewise for the topology's own route, if it always takes the lowest minimal port. If that
 * would take too long, counts the routes to some vertices only and sets *is_guess. */
uint32_t wf_vc_count_lowest(const struct wf_vc_level *level, bool *is_guess);

/* An upper bound for the classes of any shortest route in a twisted torus; 0 if unknown. */
uint32_t wf_vc_bound_twist(const struct wf_topo *topo);

/* A number for each vertex, increasing with the distance from vertex 0, or from the lowest
 * vertex of its part if the network is not connected. The caller frees it. */
uint32_t *wf_vc_order(const struct wf_topo *topo);

/* An upper bound for the length of shortest paths: the diameter, or twice the radius where
 * finding the diameter would take too long. */
uint32_t wf_vc_hops(const struct wf_topo *topo);
