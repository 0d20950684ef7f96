/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_VC_VC_H
#define WF_NET_VC_VC_H

/*
 * Virtual channels for routing policies: which one a packet takes on its next link, so that
 * packets never wait for each other in a circle, whatever ports the policy chooses.
 *
 * All schemes are one: links have ranks, and a packet that goes on to a link of a lower rank,
 * or over a seam, goes to the next class of channels. Channels ordered by class, then by rank,
 * are only ever waited for in ascending order (Dally and Seitz, "Deadlock-free message routing
 * in multiprocessor interconnection networks", IEEE Transactions on Computers 36, 1987). What
 * ranks and seams are depends on the kind of network; docs/models/routing.md lists it.
 *
 * Where ways are chosen freely, classes may run out before the packet is there. From then on it
 * takes the deterministic route, which has channels of its own (the static version of W. J.
 * Dally and H. Aoki, "Deadlock-free adaptive routing in multicomputer networks using virtual
 * channels", IEEE Transactions on Parallel and Distributed Systems 4, 1993). Where even that
 * one has more classes than there are channels, the packet goes on over a spanning tree, on one
 * channel more (net/vc/tree.h). No channel needs another as an escape: a packet may wait for
 * its channel as long as it takes.
 *
 * A way through a hierarchy leads out of inner networks, turns in one level and leads into
 * others. Levels inside have separate channels for those who come from outside.
 */

#include "net/route/route.h"
#include "net/vc/tree.h"
#include "topo/nested.h"

/* Parts of the way within the level where it turns, each with its own channels. */
enum { WF_VC_STAGES = 3 };

struct wf_vc_kind;

/* Of one level of a hierarchy. */
struct wf_vc_level {
    const struct wf_topo *topo;
    const struct wf_vc_kind *kind;
    uint32_t free;  /* classes for freely chosen minimal ways */
    uint32_t fixed; /* channels of the deterministic route; 0: it is never needed */
    uint32_t start[WF_VC_STAGES]; /* first channel of each stage */
    uint32_t in;                  /* first channel of those who come from outside */
    uint32_t n;                   /* of them all */
    uint32_t *order;              /* of vertices, where ranks need one; else null */
    bool is_guess;                /* `fixed` is enough for most routes, as far as is known */
    struct wf_vc_tree *tree;      /* if not for all: the last of the `fixed` leads over it */
};

/* A route with channels: what policies have as their first member. */
struct wf_vcs {
    struct wf_route route;
    uint32_t n_levels;
    struct wf_vc_level *levels;
};

enum wf_vc_detour {
    WF_VC_DIRECT,     /* one stage, of minimal ways */
    WF_VC_ONE_DETOUR, /* stages 0 and 1 share channels, 2 follows: a minimal way to a node, then
                         one from there; or, if the detour is not taken, just one */
    WF_VC_LATE_DETOUR, /* likewise, after at most one link between routers in stage 0 */
};

struct wf_vc_plan {
    const struct wf_route_ops *ops;
    bool is_free; /* minimal ports are chosen, not given */
    enum wf_vc_detour detour;
};

/* Plans the channels of a policy on a topology into `vcs`, zeroed by the caller, whose route it
 * sets up. WF_EINVAL if there are too many ports. On failure nothing is left to release. */
WF_NODISCARD
enum wf_status wf_vcs_init(struct wf_vcs *vcs, const struct wf_topo *topo,
                           struct wf_vc_plan plan, struct wf_err *err);
/* Likewise on the heap, for policies that need nothing else: their create(). */
WF_NODISCARD
enum wf_status wf_vcs_create(const struct wf_topo *topo, struct wf_vc_plan plan,
                             struct wf_route **out, struct wf_err *err);
void wf_vcs_fini(struct wf_vcs *vcs);
/* The destroy() that belongs to wf_vcs_create(). */
void wf_vcs_destroy(struct wf_route *route);

/* Where a packet is on its way; ports in `part` are those of the level. */
struct wf_vc_step {
    struct wf_part part;
    const struct wf_vc_level *level;
    bool turns; /* in the level where the way turns */
    bool is_unlimited;
    uint32_t base; /* first channel of the stage */
};

/* Begins every next(): finds the step and prepares the state if a new leg begins with it. */
void wf_vc_step(const struct wf_route_query *query, struct wf_route_state *state,
                struct wf_vc_step *step);

/* The stage of the way in the level where it turns: 0 at first. Setting it begins another run
 * of channels, whose first link may be any. */
static inline uint32_t wf_vc_stage(const struct wf_route_state *state)
{
    return state->spare >> 6;
}

/* Whether the last hop in this stage was of a rank above 0. */
static inline bool wf_vc_has_rank(const struct wf_route_state *state)
{
    return state->phase >> 5 != 0;
}

void wf_vc_set_stage(struct wf_vc_step *step, struct wf_route_state *state, uint32_t stage);

/* Each of these ends a next(): the port of the vertex, and the state behind it. The first takes
 * the deterministic route to `dst`, a node of the level or its gate. */
uint32_t wf_vc_take_fixed(const struct wf_vc_step *step, struct wf_route_state *state,
                          uint32_t dst);
/* The second takes one of the ports that wf_vc_choices() gave. */
uint32_t wf_vc_take(const struct wf_vc_step *step, struct wf_route_state *state, uint32_t port);

/* The third takes any port, by classes: for whoever has counted those of all ways. */
uint32_t wf_vc_take_given(const struct wf_vc_step *step, struct wf_route_state *state,
                          uint32_t port);

/* The most ports that a vertex may have if policies are to choose among them. */
enum { WF_VC_PORTS_MAX = 4096 };

/* The minimal ports that the channels allow, ascending, at least one; returns how many. `ports`
 * has WF_VC_PORTS_MAX entries. */
uint32_t wf_vc_choices(const struct wf_vc_step *step, struct wf_route_state *state,
                       uint32_t *ports);

/* Whether a level is a tree, fat tree or star: ways lead up, then down. */
bool wf_vc_is_tree(const struct wf_vc_level *level);
/* Whether a level is a dragonfly. */
bool wf_vc_is_dragonfly(const struct wf_vc_level *level);

#endif
