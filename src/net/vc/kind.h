/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_VC_KIND_H
#define WF_NET_VC_KIND_H

/* What channels depend on in each kind of network (net/vc/vc.h). */

#include "net/vc/vc.h"

enum { WF_VC_RANKS = 8 };

/* A link as a way passes it. */
struct wf_vc_hop {
    uint32_t rank; /* below WF_VC_RANKS */
    bool seam;     /* always begins a new class */
    bool end;      /* joins a node to its router: no way passes it in between; has no rank */
};

struct wf_vc_kind {
    struct wf_vc_hop (*hop)(const struct wf_vc_level *level, uint32_t at, uint32_t port);
    uint32_t n_ranks; /* that hop() gives; at most WF_VC_RANKS */
    bool strict;      /* two links of one rank are of different classes too */
    bool is_tree;
    bool is_dragonfly;
    bool is_single; /* there is but one minimal way */
    bool is_whole;  /* the classes for free choices are enough for any minimal way */
    bool is_slow;   /* to find the diameter takes a search from each node */
    /* Sets `free` and `fixed` (net/vc/vc.h) to what free choices would take, `order`, and
     * `is_guess` if it would take too long to tell. */
    void (*plan)(struct wf_vc_level *level);
    /* The channel of the deterministic route, if it depends on nothing but the place; null: the
     * class. */
    uint32_t (*fixed)(const struct wf_vc_level *level, uint32_t at, uint32_t port,
                      uint32_t dst);
};

/* Never null. */
const struct wf_vc_kind *wf_vc_kind_of(const struct wf_topo *topo);
/* That of networks of which nothing is known. */
const struct wf_vc_kind *wf_vc_kind_any(void);

/* Whether the hop begins a new class if the one before was of rank `rank`; changes that. */
bool wf_vc_turns(const struct wf_vc_kind *kind, struct wf_vc_hop hop, uint32_t *rank);

/* The port of a deterministic route, WF_TOPO_NO_PORT at its end. */
typedef uint32_t wf_vc_next_fn(const void *arg, uint32_t at, uint32_t dst);

/* The most classes that the routes of `next` from any vertex to nodes or the gate take in a
 * network with hop() and order set. Takes time in proportion to vertices times nodes. */
uint32_t wf_vc_count(const struct wf_vc_level *level, wf_vc_next_fn *next, const void *arg);

/* Likewise of the topology's own route, if it always takes the lowest port with which a
 * shortest path begins. If that would take too long, of the routes to some vertices only:
 * *is_guess. */
uint32_t wf_vc_count_lowest(const struct wf_vc_level *level, bool *is_guess);

/* No shortest way in a twisted torus takes more classes; 0 if nobody can tell without trying.
 */
uint32_t wf_vc_bound_twist(const struct wf_topo *topo);

/* A number for each vertex, increasing with the distance from vertex 0. The caller frees it. */
uint32_t *wf_vc_order(const struct wf_topo *topo);

/* No shortest path is longer: the diameter, or twice the radius where that would take too long
 * to find. */
uint32_t wf_vc_hops(const struct wf_topo *topo);

#endif
