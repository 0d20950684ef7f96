/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The links between the groups of dragonfly and dragonfly+: which routers they join.
 *
 * With as many groups as can be joined (routers * ports + 1) there is one link between any two
 * groups, and port h*x + k of a group is port k of its router x. An arrangement defines to
 * which group that port leads; absolute (or consecutive), relative (as palmtree) and
 * circulant-based are those of Camarero, Vallejo and Beivide ("Topological characterization of
 * Hamming and dragonfly networks and its implications on routing", ACM TACO 11, 2014) and
 * Hastings, Rincon-Cruz, Spehlmann, Meyers, Xu, Bunde and Leung ("Comparing global link
 * arrangements for dragonfly networks", CLUSTER 2015):
 *
 *   absolute    to the other groups in the order of their numbers
 *   relative    to the groups 1, 2, 3, ... further on, counted around
 *   circulant   to the groups +1, -1, +2, -2, ... further on, counted around
 *
 * With fewer groups there are several links between two groups: as many as the ports allow.
 * The remaining links go to the nearest groups on both sides. The numbers of links of any two
 * pairs of groups differ by at most one, and every group sees the same. The links of a group,
 * in the order of the arrangement, are dealt to its routers in turn: links to one group leave
 * from as many routers as possible, and no two routers are joined twice. Some ports are left
 * over and have no cable: those beyond one link between all pairs of routers, and one per group
 * if both the number of groups and the number of remaining ports are odd.
 */

#include "model/topo/topo.h"

enum wf_topo_global_order {
    WF_TOPO_GLOBAL_ABSOLUTE,
    WF_TOPO_GLOBAL_RELATIVE,
    WF_TOPO_GLOBAL_CIRCULANT,
};

/* Names in the order of the enum, null-terminated, and a sentence about them, for a table of
 * parameters. */
extern const char *const wf_topo_global_orders[];
#define WF_TOPO_GLOBAL_DOC                                                                     \
    "To which groups the links of a group go in turn: by their numbers; 1, 2, 3, ... further " \
    "on; or +1, -1, +2, -2, ... further on"

struct wf_topo_global {
    uint32_t groups, routers, ports; /* groups; routers per group; ports per router */
    enum wf_topo_global_order order;
    bool maximal;    /* there are as many groups as can be joined */
    uint32_t least;  /* links between any two groups */
    uint32_t nearer; /* this many groups on either side have one extra link */
    bool opposite;   /* the group on the opposite side has one, too */
    uint32_t *far;   /* [groups * routers * ports] see wf_topo_global_far() */
    uint64_t *led;   /* [groups * routers * words] groups that a router has links to, as bits */
    uint32_t words;
    uint64_t n_links;
};

/* The size of a network: routers and ports are not 0; 0 groups means as many as can be
 * joined. */
struct wf_topo_global_size {
    uint64_t groups, routers, ports;
};

/* Shares out the links for the topology called `name`, whose parameter "g" is the number of
 * groups. Fails with WF_EINVAL if there are more groups than can be joined or more than
 * WF_TOPO_TABLE_MAX ports. Allocates nothing. */
enum wf_status wf_topo_global_plan(struct wf_topo_global *global, const char *name,
                                   struct wf_topo_global_size size,
                                   enum wf_topo_global_order order, struct wf_err *err);
/* Joins routers as planned: makes the table `far` and counts the links. */
void wf_topo_global_join(struct wf_topo_global *global);
void wf_topo_global_release(struct wf_topo_global *global);

/* Routers below are numbered group by group. */

/* The routers at the far ends of the ports of a router: ascending, then WF_TOPO_NO_VERTEX for
 * ports without a cable; global->ports entries. */
static inline const uint32_t *wf_topo_global_far(const struct wf_topo_global *global,
                                                 uint32_t router)
{
    return global->far + (size_t)router * global->ports;
}

/* The number of links between two different groups, at least 1. */
uint32_t wf_topo_global_count(const struct wf_topo_global *global, uint32_t from, uint32_t to);
/* The router in the group `from` at which link number k < wf_topo_global_count() begins. */
uint32_t wf_topo_global_exit(const struct wf_topo_global *global, uint32_t from, uint32_t to,
                             uint32_t k);

/* Whether a router has a link into a group that is not its own. */
static inline bool wf_topo_global_leads(const struct wf_topo_global *global, uint32_t router,
                                        uint32_t group)
{
    return (global->led[(size_t)router * global->words + group / 64] >> group % 64 & 1) != 0;
}

/* Whether two routers have links into the same group. */
static inline bool wf_topo_global_share(const struct wf_topo_global *global, uint32_t a,
                                        uint32_t b)
{
    const uint64_t *x = global->led + (size_t)a * global->words;
    const uint64_t *y = global->led + (size_t)b * global->words;
    uint64_t both = 0;

    for (uint32_t i = 0; i < global->words; i++) {
        both |= x[i] & y[i];
    }
    return both != 0;
}
